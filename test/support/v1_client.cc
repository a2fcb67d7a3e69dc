// SPDX-License-Identifier: MIT
#include "support/v1_client.h"

#include <filesystem>

namespace echomq::test {
namespace {

const std::filesystem::path kFolder{std::string(ECHOMQ_SOURCE_DIR) + "/test/v1"};

}  // namespace

std::optional<std::string> v1_clients_missing() {
  if (!std::filesystem::exists(kFolder / "node_modules" / "bullmq"))
    return "test/v1 has no node_modules: its packages could not be installed";
  if (ChildProcess("/usr/bin/env", {"node", "--version"}).wait() != 0)
    return "there is no node here";
  return std::nullopt;
}

ChildProcess v1_script(const std::string& file, const std::vector<std::string>& arguments,
                       const Environment& environment) {
  std::vector<std::string> words{"node", kFolder / file};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return {"/usr/bin/env", words, environment};
}

}  // namespace echomq::test
