// SPDX-License-Identifier: MIT
#include "worker/oldest.h"

#include <gtest/gtest.h>

namespace echomq {
namespace {

using Ids = std::vector<std::string>;

TEST(Oldest, GivesEachOutOnceAndNoMoreThanJobsEnd) {
  Oldest oldest(128);
  EXPECT_EQ(oldest.take(5), Ids{});
  oldest.seen(0, 0, {"a", "b", "c"});
  EXPECT_EQ(oldest.take(2), (Ids{"a", "b"}));
  EXPECT_EQ(oldest.take(2), Ids{"c"}) << "the calls travel in this order";
  EXPECT_EQ(oldest.take(2), Ids{});
}

TEST(Oldest, DeclaresNoMoreThanACallMayDelete) {
  Oldest oldest(2);
  oldest.seen(0, 0, {"a", "b", "c"});
  EXPECT_EQ(oldest.take(256), (Ids{"a", "b"}));
}

TEST(Oldest, AsksForManyOnceFewAreKnown) {
  Oldest oldest(2);
  EXPECT_EQ(oldest.peek(), 4U);
  oldest.seen(0, 0, {"a", "b", "c", "d"});
  EXPECT_EQ(oldest.peek(), 0U);
  EXPECT_EQ(oldest.take(2), (Ids{"a", "b"}));
  EXPECT_EQ(oldest.peek(), 0U);
  EXPECT_EQ(oldest.take(1), Ids{"c"});
  EXPECT_EQ(oldest.peek(), 7U) << "three are on their way, and are told again";
}

TEST(Oldest, WhatCallsOnTheirWayHaveDeclaredIsNotGivenOutAgain) {
  Oldest oldest(2);
  oldest.seen(0, 0, {"a", "b", "c", "d"});
  EXPECT_EQ(oldest.take(2), (Ids{"a", "b"}));
  EXPECT_EQ(oldest.take(1), Ids{"c"});
  oldest.seen(2, 2, {"c", "d", "e", "f"});
  EXPECT_EQ(oldest.take(2), (Ids{"d", "e"}));
  oldest.seen(1, 1, {});
  oldest.seen(2, 2, {});
  EXPECT_EQ(oldest.take(2), Ids{"f"});
}

TEST(Oldest, AsksForNoneForAWhileWhenOthersWereFaster) {
  Oldest oldest(128);
  oldest.seen(0, 0, {"a", "b", "c"});
  EXPECT_EQ(oldest.take(2), (Ids{"a", "b"}));
  oldest.seen(2, 0, {"c", "d"});
  EXPECT_EQ(oldest.take(2), Ids{});
  unsigned left_out = 0;
  while (oldest.peek() == 0) ++left_out;
  EXPECT_EQ(left_out, 64U);
  oldest.seen(0, 0, {"e"});
  EXPECT_EQ(oldest.take(2), Ids{"e"});
}

TEST(Oldest, ALostAnswerLeavesNothingKnown) {
  Oldest oldest(128);
  oldest.seen(0, 0, {"a", "b", "c"});
  EXPECT_EQ(oldest.take(1), Ids{"a"});
  oldest.lost();
  EXPECT_EQ(oldest.take(1), Ids{});
  EXPECT_EQ(oldest.peek(), 256U);
}

}  // namespace
}  // namespace echomq
