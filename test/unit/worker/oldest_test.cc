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
  EXPECT_EQ(oldest.take(2), Ids{}) << "c is the oldest only if that call took the others";
}

TEST(Oldest, DeclaresAndAsksForNoMoreThanACallMayDelete) {
  Oldest oldest(2);
  EXPECT_EQ(oldest.peek(256), 2U);
  EXPECT_EQ(oldest.peek(1), 1U);
  oldest.seen(0, 0, {"a", "b", "c"});
  EXPECT_EQ(oldest.take(256), (Ids{"a", "b"}));
}

TEST(Oldest, AsksForNoneForAWhileWhenOthersWereFaster) {
  Oldest oldest(128);
  oldest.seen(2, 0, {"c", "d"});
  EXPECT_EQ(oldest.take(2), Ids{});
  unsigned left_out = 0;
  while (oldest.peek(2) == 0) ++left_out;
  EXPECT_EQ(left_out, 64U);
  oldest.seen(0, 0, {"e"});
  EXPECT_EQ(oldest.take(2), Ids{"e"});
}

}  // namespace
}  // namespace echomq
