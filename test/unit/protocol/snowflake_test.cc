// SPDX-License-Identifier: MIT
// The mint: unique and rising ids, whatever the clock does, and never outside the grant.
#include "protocol/snowflake.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace echomq {
namespace {

constexpr std::int64_t kStart = kIdEpochMs + 1'000'000;

std::int64_t ms_of(std::uint64_t id) { return decode_id(std::to_string(id)).value().unix_ms; }

TEST(Mint, WithoutAGrantMintsNothing) {
  Mint mint;
  EXPECT_EQ(mint.next(kStart), std::nullopt);
  EXPECT_EQ(mint.next(0), std::nullopt);
}

TEST(Mint, PutsTheTimeTheNodeAndASequenceIntoTheId) {
  Mint mint;
  mint.set_grant(777, kStart - 1, kStart + 10);
  mint.next(kStart);
  EXPECT_EQ(decode_id(std::to_string(mint.next(kStart).value())).value(),
            (IdParts{1'000'000, kStart, 777, 1}));
  EXPECT_EQ(decode_id(std::to_string(mint.next(kStart + 5).value())).value(),
            (IdParts{1'000'005, kStart + 5, 777, 0}));
}

TEST(Mint, IdsRiseStrictlyAndStayInsideTheGrantWhateverTheClockDoes) {
  EXPECT_TRUE(rc::check([] {
    const auto floor = kStart;
    const auto until = floor + *rc::gen::inRange<std::int64_t>(0, 50);
    const auto clock = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(floor - 100, until + 100));
    Mint mint;
    mint.set_grant(5, floor, until);
    std::uint64_t last = 0;
    std::int64_t greatest = floor;
    for (const auto now : clock) {
      const auto id = mint.next(now);
      if (!id) {
        RC_ASSERT(now > until || greatest == until);
        continue;
      }
      RC_ASSERT(*id > last);
      RC_ASSERT(ms_of(*id) > floor && ms_of(*id) <= until);
      last = *id;
      greatest = ms_of(*id);
    }
    RC_ASSERT(mint.last_ms() == greatest);
  }));
}

// A node goes from process to process. Each has a clock of its own that jumps at will; the only
// thing they share is the floor that each gives to the next.
TEST(Mint, SuccessiveHoldersOfANodeNeverMintTheSameId) {
  EXPECT_TRUE(rc::check([] {
    std::set<std::uint64_t> seen;
    std::int64_t floor = kStart;
    const auto holders = *rc::gen::inRange(1, 6);
    for (int holder = 0; holder < holders; ++holder) {
      const auto until = floor + *rc::gen::inRange<std::int64_t>(0, 20);
      const auto clock = *rc::gen::container<std::vector<std::int64_t>>(
          rc::gen::inRange<std::int64_t>(kStart - 50, kStart + 150));
      Mint mint;
      mint.set_grant(9, floor, until);
      for (const auto now : clock)
        if (const auto id = mint.next(now)) RC_ASSERT(seen.insert(*id).second);
      // Gives the node back, or dies and is waited for.
      floor = *rc::gen::arbitrary<bool>() ? mint.last_ms() : until;
    }
  }));
}

TEST(Mint, BorrowsTheNextMillisecondWhen4096AreNotEnough) {
  Mint mint;
  mint.set_grant(1, kStart - 1, kStart + 1);
  std::uint64_t last = 0;
  for (unsigned i = 0; i <= kMaxSeq; ++i) {
    const auto id = mint.next(kStart).value();
    EXPECT_EQ(ms_of(id), kStart);
    EXPECT_GT(id, last);
    last = id;
  }
  const auto borrowed = mint.next(kStart).value();
  EXPECT_EQ(ms_of(borrowed), kStart + 1);
  EXPECT_GT(borrowed, last);
  EXPECT_EQ(mint.last_ms(), kStart + 1);
}

TEST(Mint, BorrowsNothingBeyondTheGrantAndGoesOnWhenItIsExtended) {
  Mint mint;
  mint.set_grant(1, kStart - 1, kStart);
  for (unsigned i = 0; i <= kMaxSeq; ++i) mint.next(kStart).value();
  EXPECT_EQ(mint.next(kStart), std::nullopt);
  mint.set_grant(1, kStart - 1, kStart + 100);
  EXPECT_EQ(ms_of(mint.next(kStart).value()), kStart + 1);
}

TEST(Mint, GoesOnFromWhereItWasWhenTheClockFallsBackAnHour) {
  Mint mint;
  mint.set_grant(1, kStart - 1, kStart + 1000);
  const auto before = mint.next(kStart + 500).value();
  const auto after = mint.next(kStart - 3'600'000).value();
  EXPECT_EQ(after, before + 1);
}

TEST(Mint, ExtendingAGrantInTheMiddleOfAMillisecondRepeatsNothing) {
  Mint mint;
  mint.set_grant(1, kStart - 1, kStart + 10);
  const auto before = mint.next(kStart).value();
  mint.set_grant(1, kStart - 1, kStart + 20);
  EXPECT_EQ(mint.next(kStart).value(), before + 1);
}

TEST(Mint, ALaterFloorOnTheSameNodeIsRespected) {
  Mint mint;
  mint.set_grant(1, kStart - 1, kStart + 10);
  mint.next(kStart).value();
  // The node was lost, held by another process until kStart + 50, and found again.
  mint.set_grant(1, kStart + 50, kStart + 100);
  EXPECT_EQ(mint.last_ms(), kStart + 50);
  EXPECT_EQ(ms_of(mint.next(kStart).value()), kStart + 51);
}

TEST(Mint, AFloorAtTheVeryMillisecondLastMintedForClosesThatMillisecond) {
  Mint mint;
  mint.set_grant(1, kStart - 1, kStart + 10);
  mint.next(kStart).value();
  // Given back at last_ms(), taken by a process that minted nothing, and found again.
  mint.set_grant(1, mint.last_ms(), kStart + 10);
  EXPECT_EQ(ms_of(mint.next(kStart).value()), kStart + 1);
}

TEST(Mint, IdsRiseAcrossAChangeOfNodeToo) {
  Mint mint;
  mint.set_grant(900, kStart - 1, kStart + 10);
  const auto before = mint.next(kStart).value();
  mint.set_grant(3, kStart - 500, kStart + 10);
  const auto after = mint.next(kStart).value();
  EXPECT_GT(after, before);
  EXPECT_EQ(decode_id(std::to_string(after)).value().node, 3U);
}

TEST(Mint, TheFloorForTheNextHolderIsTheGrantsOwnWhileNothingWasMinted) {
  Mint mint;
  mint.set_grant(1, kStart, kStart + 10);
  EXPECT_EQ(mint.last_ms(), kStart);
}

TEST(Mint, StopsAtTheLastMillisecondThatFitsAnId) {
  Mint mint;
  mint.set_grant(kMaxNode, kLastIdMs - 1, kLastIdMs + 1'000'000);
  const auto id = mint.next(kLastIdMs).value();
  EXPECT_TRUE(is_minted_id(std::to_string(id)));
  EXPECT_EQ(ms_of(id), kLastIdMs);
  EXPECT_EQ(mint.next(kLastIdMs + 1), std::nullopt);
}

TEST(Mint, TheFirstGrantOfADeploymentHasNoFloor) {
  Mint mint;
  mint.set_grant(0, 0, kStart + 10);
  EXPECT_EQ(ms_of(mint.next(kStart).value()), kStart);
}

}  // namespace
}  // namespace echomq
