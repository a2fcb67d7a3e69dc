// SPDX-License-Identifier: MIT
#include "client/node_lease.h"

#include <gtest/gtest.h>

#include <set>

namespace echomq {
namespace {

constexpr std::int64_t kNow = kIdEpochMs + 1'000'000;

TEST(NodeLease, AllowsNothingBeforeAGrantOrAfterItsEnd) {
  NodeLease lease;
  EXPECT_FALSE(lease.held_at(kNow));
  EXPECT_FALSE(lease.mint(kNow));
  lease.hold(3, 1, kNow - 10, kNow + 100);
  EXPECT_TRUE(lease.held_at(kNow + 99));
  EXPECT_FALSE(lease.held_at(kNow + 100));
  EXPECT_TRUE(lease.mint(kNow));
  EXPECT_FALSE(lease.mint(kNow + 101));
}

TEST(NodeLease, MintsAboveTheFloorOfTheHolderBefore) {
  NodeLease lease;
  lease.hold(3, 1, /*floor_ms=*/kNow + 50, kNow + 100);
  const auto id = lease.mint(kNow);
  ASSERT_TRUE(id);
  EXPECT_GT(static_cast<std::int64_t>(*id >> 22) + kIdEpochMs, kNow + 50);
}

TEST(NodeLease, ARenewalKeepsIdsMonotonic) {
  NodeLease lease;
  lease.hold(3, 1, kNow - 10, kNow + 100);
  const auto before = *lease.mint(kNow + 90);
  lease.hold(3, 1, kNow + 100, kNow + 200);
  EXPECT_GT(*lease.mint(kNow + 90), before);
}

TEST(NodeLease, EveryClaimHasItsOwnToken) {
  NodeLease lease;
  lease.hold(1'023, 1, 0, kNow + 100);
  std::set<std::uint64_t> tokens;
  for (int i = 0; i < 2'048; ++i) tokens.insert(lease.next_lease(kNow, 30'000).token());
  EXPECT_EQ(tokens.size(), 2'048U);
  EXPECT_EQ(lease.next_lease(kNow, 30'000).node, 1'023U);
}

}  // namespace
}  // namespace echomq
