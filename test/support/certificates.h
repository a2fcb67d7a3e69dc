// SPDX-License-Identifier: MIT
// Certificates for the tests of TLS: an authority of the test's own, and what it signs. They live
// in a folder of the test's own, for two days.
#pragma once

#include <string>

#include "support/folder.h"

namespace echomq::test {

struct Certificate {
  std::string file;  // PEM
  std::string key;   // PEM
};

// The file of a copy of that key that cannot be read without a password.
std::string with_password(const std::string& key);

class Authority {
 public:
  // Throws std::runtime_error when a certificate cannot be made.
  Authority();

  [[nodiscard]] const std::string& file() const noexcept { return root_.file; }
  // A certificate made out to `names`, as in "DNS:localhost,IP:127.0.0.1".
  [[nodiscard]] Certificate issue(const std::string& label, const std::string& names) const;

 private:
  Folder folder_;
  Certificate root_;
};

}  // namespace echomq::test
