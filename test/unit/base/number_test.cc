// SPDX-License-Identifier: MIT
#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace echomq {
namespace {

constexpr auto kInt64Min = std::numeric_limits<std::int64_t>::min();
constexpr auto kInt64Max = std::numeric_limits<std::int64_t>::max();

TEST(ToNumber, WhatBeginsWithNoNumberReadsAsZero) {
  EXPECT_EQ(to_number<std::int64_t>("-42"), -42);
  EXPECT_EQ(to_number<std::int64_t>("42 node-1"), 42);
  for (const auto* text : {"", "x", "+1", " 1", "9223372036854775808"})
    EXPECT_EQ(to_number<std::int64_t>(text), 0) << text;
  EXPECT_EQ(to_number<unsigned>("-1"), 0U);
}

TEST(SaturatingInt64, ADoubleThatDoesNotFitIsTheNearestEnd) {
  EXPECT_EQ(saturating_int64(2.9), 2);
  EXPECT_EQ(saturating_int64(-2.9), -2);
  EXPECT_EQ(saturating_int64(0x1p63), kInt64Max);
  EXPECT_EQ(saturating_int64(-0x1p63), kInt64Min);
  EXPECT_EQ(saturating_int64(to_number<double>("inf")), kInt64Max);
  EXPECT_EQ(saturating_int64(to_number<double>("-inf")), kInt64Min);
  EXPECT_EQ(saturating_int64(to_number<double>("nan")), 0);
  EXPECT_EQ(saturating_int64(0x1.fffffffffffffp62), 9'223'372'036'854'774'784);
}

}  // namespace
}  // namespace echomq
