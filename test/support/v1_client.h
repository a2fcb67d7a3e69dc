// SPDX-License-Identifier: MIT
// Real v1 clients: scripts of test/v1, run by node with the packages that `./run test` installs
// there.
//
//   if (const auto why = v1_clients_missing()) GTEST_SKIP() << *why;
//   ChildProcess tries = v1_script("tries.mjs", {server.url(), "mail"});
//   EXPECT_EQ(tries.wait(), 0) << tries.output();
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/child_process.h"

namespace echomq::test {

// Why no v1 client can be run here; nothing where one can.
std::optional<std::string> v1_clients_missing();

// A script of test/v1, started.
ChildProcess v1_script(const std::string& file, const std::vector<std::string>& arguments,
                       const Environment& environment = {});

}  // namespace echomq::test
