// SPDX-License-Identifier: MIT
#include "echomq/result.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace echomq {
namespace {

struct Page {
  std::vector<std::string> jobs;
};

Result<Page> page() { return Page{{std::string(100, 'a'), std::string(100, 'b')}}; }

// The Result is gone when the loop begins; what is looped over must not be.
TEST(Result, TheValueOfATemporaryOutlivesIt) {
  std::string all;
  for (const auto& job : page().value().jobs) all += job.front();
  for (const auto& job : (*page()).jobs) all += job.front();
  EXPECT_EQ(all, "abab");
}

}  // namespace
}  // namespace echomq
