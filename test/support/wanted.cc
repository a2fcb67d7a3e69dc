// SPDX-License-Identifier: MIT
#include "support/wanted.h"

#include <cstdlib>
#include <string_view>

namespace echomq::test {
namespace {

bool environment_says(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

bool clusters_wanted() { return environment_says("ECHOMQ_TEST_CLUSTER"); }
bool least_privilege_wanted() { return environment_says("ECHOMQ_TEST_ACL"); }
bool long_forms_wanted() { return environment_says("ECHOMQ_TEST_LONG"); }
bool plain_servers_wanted() { return !clusters_wanted() && !least_privilege_wanted(); }

}  // namespace echomq::test
