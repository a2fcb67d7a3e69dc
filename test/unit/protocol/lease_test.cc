// SPDX-License-Identifier: MIT
// The lease: its bits, its token, and the arithmetic of its deadline.
#include "protocol/lease.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>

namespace echomq {
namespace {

Lease any_lease() {
  return {*rc::gen::inRange<std::uint64_t>(0, Lease::kMaxDeadline + 1),
          *rc::gen::inRange<unsigned>(0, 1024), *rc::gen::inRange<unsigned>(0, 2048)};
}

static_assert(Lease{Lease::kMaxDeadline, 1023, 2047}.score() == (std::uint64_t{1} << 52) - 1);
static_assert(Lease{1, 0, 0}.score() == 2'097'152);

TEST(Lease, IsMadeOfDeadlineNodeAndNonceInThisOrder) {
  const Lease lease{65'459'497, 3, 7};
  EXPECT_EQ(lease.score(), 65'459'497ULL * 2'097'152 + 3 * 2'048 + 7);
  EXPECT_EQ(lease.token(), 3 * 2'048 + 7);
}

TEST(Lease, ComesBackWholeFromItsScoreWhichStaysBelowTwoToThe52) {
  EXPECT_TRUE(rc::check([] {
    const auto lease = any_lease();
    RC_ASSERT(lease.score() < std::uint64_t{1} << 52);
    RC_ASSERT(Lease::from_score(lease.score()) == lease);
    const auto as_double = static_cast<double>(lease.score());
    RC_ASSERT(static_cast<std::uint64_t>(as_double) == lease.score());
  }));
}

TEST(Lease, AnExtensionLeavesTheToken) {
  EXPECT_TRUE(rc::check([] {
    const auto lease = any_lease();
    auto extended = lease;
    extended.deadline_s = *rc::gen::inRange<std::uint64_t>(0, Lease::kMaxDeadline + 1);
    RC_ASSERT(extended.token() == lease.token());
    RC_ASSERT(extended.score() % 2'097'152 == lease.token());
  }));
}

TEST(Lease, RunsOfOtherNodesAndOtherClaimsHaveOtherTokens) {
  EXPECT_NE((Lease{9, 1, 5}.token()), (Lease{9, 2, 5}.token()));
  EXPECT_NE((Lease{9, 1, 5}.token()), (Lease{9, 1, 6}.token()));
}

TEST(Lease, ARunningNonceWrapsWithoutTouchingTheNode) {
  const Lease lease{1, 5, 3 * 2'048 + 17};
  EXPECT_EQ(Lease::from_score(lease.score()), (Lease{1, 5, 17}));
}

TEST(Lease, TheDeadlineIsRoundedUpToWholeSeconds) {
  EXPECT_EQ(Lease::deadline_for(kIdEpochMs, 30'000), 30U);
  EXPECT_EQ(Lease::deadline_for(kIdEpochMs + 1, 30'000), 31U);
  EXPECT_EQ(Lease::deadline_for(kIdEpochMs + 999, 2'001), 3U);
  EXPECT_EQ(Lease::deadline_for(kIdEpochMs + 1'000, 2'001), 4U);
}

TEST(Lease, DeadlinesOutsideTheBitsAreHeldAtTheirEnds) {
  EXPECT_EQ(Lease::deadline_for(0, 30'000), 0U);
  EXPECT_EQ(Lease::deadline_for(kIdEpochMs + (std::int64_t{1} << 50), 0), Lease::kMaxDeadline);
  EXPECT_EQ(Lease::expired_below(0), 0U);
  EXPECT_EQ(Lease::expired_below(kIdEpochMs + (std::int64_t{1} << 50)),
            Lease::kMaxDeadline << Lease::kDeadlineShift);
}

TEST(Lease, IsExpiredExactlyWhenItsDeadlineIsASecondThatIsOver) {
  EXPECT_TRUE(rc::check([] {
    auto lease = any_lease();
    const auto now_s =
        static_cast<std::int64_t>(lease.deadline_s) + *rc::gen::inRange<std::int64_t>(-2, 3);
    RC_PRE(now_s >= 0 && now_s < static_cast<std::int64_t>(Lease::kMaxDeadline));
    const auto now = kIdEpochMs + now_s * 1'000 + *rc::gen::inRange<std::int64_t>(0, 1'000);
    const bool expired = lease.score() < Lease::expired_below(now);
    RC_ASSERT(expired == (static_cast<std::int64_t>(lease.deadline_s) < now_s));
  }));
}

TEST(Lease, NeverExpiresBeforeItsTimeAndAtMostTwoSecondsAfterIt) {
  EXPECT_TRUE(rc::check([] {
    const auto now = kIdEpochMs + *rc::gen::inRange<std::int64_t>(0, 4'000'000'000);
    const auto length = *rc::gen::inRange<std::int64_t>(1, 100'000);
    const Lease lease{Lease::deadline_for(now, length), 1, 1};
    RC_ASSERT(lease.score() >= Lease::expired_below(now + length));
    RC_ASSERT(lease.score() < Lease::expired_below(now + length + 2'000));
  }));
}

}  // namespace
}  // namespace echomq
