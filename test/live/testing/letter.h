// SPDX-License-Identifier: MIT
// What the jobs of these tests carry.
#pragma once

#include <string>

#include "echomq/json.h"

namespace echomq_test {

struct Letter {
  std::string to;
  int copies = 1;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Letter, to, copies)

}  // namespace echomq_test
