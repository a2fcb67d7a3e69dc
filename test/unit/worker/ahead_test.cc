// SPDX-License-Identifier: MIT
#include "worker/ahead.h"

#include <gtest/gtest.h>

namespace echomq {
namespace {

using namespace std::chrono_literals;

Ahead after_runs_of(std::chrono::nanoseconds took) {
  Ahead ahead;
  for (int i = 0; i < 10'000; ++i) ahead.ran(took);
  return ahead;
}

TEST(Ahead, NothingIsKnownAtFirst) { EXPECT_EQ(Ahead().jobs(100), 0U); }

TEST(Ahead, AsManyAsBeginWithinAMillisecond) {
  EXPECT_NEAR(after_runs_of(1ms).jobs(100), 100, 1);
  EXPECT_NEAR(after_runs_of(10ms).jobs(100), 10, 1);
  EXPECT_EQ(after_runs_of(200ms).jobs(100), 0U);
}

TEST(Ahead, NoMoreThanThreeForEachThatRuns) {
  for (const std::chrono::nanoseconds took : {0us, 1us, 10us, 300us}) {
    EXPECT_EQ(after_runs_of(took).jobs(2), 6U);
    EXPECT_EQ(after_runs_of(took).jobs(10'000), 30'000U);
  }
}

TEST(Ahead, OneAfterTheOtherMeansSo) { EXPECT_EQ(after_runs_of(0ns).jobs(1), 0U); }

TEST(Ahead, FewLongRunsAmongManyShortOnesCount) {
  Ahead ahead;
  for (int i = 0; i < 10'000; ++i) ahead.ran(i % 100 == 0 ? 1'000ms : 10us);
  EXPECT_EQ(ahead.jobs(4), 0U);
}

TEST(Ahead, AJobThatHadToWaitIsTheLastForSomeRuns) {
  auto ahead = after_runs_of(1us);
  ahead.kept_waiting();
  EXPECT_EQ(ahead.jobs(100), 0U);
  for (int i = 0; i < 64; ++i) ahead.ran(1us);
  EXPECT_EQ(ahead.jobs(100), 0U);
  for (int i = 0; i < 1'000; ++i) ahead.ran(1us);
  EXPECT_EQ(ahead.jobs(100), 300U);
}

}  // namespace
}  // namespace echomq
