// SPDX-License-Identifier: MIT
#include "queue/limits.h"

#include <gtest/gtest.h>

#include <string>

namespace echomq {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// "option value" of the refusal, empty when there is none.
std::string refused_value(const std::optional<Error>& error) {
  if (!error) return "";
  EXPECT_EQ(error->code, ErrorCode::invalid_argument);
  std::string text;
  for (const auto& [name, value] : error->fields)
    if (name != "expected") text += (text.empty() ? "" : " ") + value;
  return text;
}

TEST(LimitChecks, AcceptTheEndsOfEachRange) {
  EXPECT_EQ(refused_value(check_concurrency(1)), "");
  EXPECT_EQ(refused_value(check_concurrency(1'000'000)), "");
  EXPECT_EQ(refused_value(check_rate({1, milliseconds(1), 0})), "");
  EXPECT_EQ(refused_value(check_rate({1'000'000, hours(24 * 30), 1'000'000})), "");
  EXPECT_EQ(refused_value(check_length(1)), "");
  EXPECT_EQ(refused_value(check_length(1'000'000'000)), "");
  EXPECT_EQ(refused_value(check_hold(milliseconds(1))), "");
  EXPECT_EQ(refused_value(check_hold(hours(24 * 30))), "");
}

TEST(LimitChecks, RefuseWhatIsBeyondByName) {
  EXPECT_EQ(refused_value(check_concurrency(0)), "concurrency 0");
  EXPECT_EQ(refused_value(check_concurrency(1'000'001)), "concurrency 1000001");
  EXPECT_EQ(refused_value(check_rate({0, milliseconds(5)})), "max 0");
  EXPECT_EQ(refused_value(check_rate({1'000'001, milliseconds(5)})), "max 1000001");
  EXPECT_EQ(refused_value(check_rate({1, milliseconds(0)})), "duration 0");
  EXPECT_EQ(refused_value(check_rate({1, milliseconds(-1)})), "duration -1");
  EXPECT_EQ(refused_value(check_rate({1, hours(24 * 30) + milliseconds(1)})),
            "duration 2592000001");
  EXPECT_EQ(refused_value(check_rate({5, milliseconds(5), 6})), "burst 6");
  EXPECT_EQ(refused_value(check_length(0)), "max_length 0");
  EXPECT_EQ(refused_value(check_length(-1)), "max_length -1");
  EXPECT_EQ(refused_value(check_length(1'000'000'001)), "max_length 1000000001");
  EXPECT_EQ(refused_value(check_hold(milliseconds(0))), "duration 0");
  EXPECT_EQ(refused_value(check_hold(milliseconds::max())),
            "duration " + std::to_string(milliseconds::max().count()));
}

TEST(LimitChecks, EachGateHasItsWord) {
  EXPECT_EQ(name(QueueGate::open), "open");
  EXPECT_EQ(name(QueueGate::paused), "paused");
  EXPECT_EQ(name(QueueGate::held), "held");
  EXPECT_EQ(name(QueueGate::concurrency), "concurrency");
  EXPECT_EQ(name(QueueGate::rate), "rate");
}

}  // namespace
}  // namespace echomq
