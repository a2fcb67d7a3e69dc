// SPDX-License-Identifier: MIT
#include "support/certificates.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace echomq::test {
namespace {

constexpr const char* kNewKey = " -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes ";

void openssl(const std::string& arguments) {
  const auto command = "openssl " + arguments + " >/dev/null 2>&1";
  if (std::system(command.c_str()) != 0)  // NOLINT: a fixed command, in a folder of our own
    throw std::runtime_error("failed: " + command);
}

}  // namespace

std::string with_password(const std::string& key) {
  openssl("pkey -aes256 -passout pass:hush -in " + key + " -out " + key + ".secret");
  return key + ".secret";
}

Authority::Authority() : root_{folder_.file("ca.pem"), folder_.file("ca.key")} {
  openssl("req -x509 -days 2 -subj '/CN=test authority'" + std::string(kNewKey) + "-keyout " +
          root_.key + " -out " + root_.file);
}

Certificate Authority::issue(const std::string& label, const std::string& names) const {
  Certificate made{folder_.file(label + ".pem"), folder_.file(label + ".key")};
  const auto request = folder_.file(label + ".csr");
  const auto extensions = folder_.file(label + ".ext");
  std::ofstream(extensions) << "subjectAltName=" << names << "\n";
  openssl("req -subj /CN=" + label + kNewKey + "-keyout " + made.key + " -out " + request);
  openssl("x509 -req -days 2 -in " + request + " -CA " + root_.file + " -CAkey " + root_.key +
          " -CAcreateserial -extfile " + extensions + " -out " + made.file);
  return made;
}

}  // namespace echomq::test
