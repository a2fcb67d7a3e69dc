// SPDX-License-Identifier: MIT
#include "migrate/balance.h"

#include <gtest/gtest.h>

#include <string>

namespace echomq::v2::migrate {
namespace {

class BalanceTest : public testing::Test {
 protected:
  std::size_t unsure() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < Balance::kBuckets; ++i) sum += balance.unsure(i);
    return sum;
  }
  Balance balance;
};

TEST_F(BalanceTest, ComesOutEvenWhereEachIdHasItsKeyInWhateverOrder) {
  constexpr int kIds = 200'000;
  for (int i = 0; i < kIds; ++i) balance.stands(std::to_string(i));
  for (int i = kIds - 1; i >= 0; --i) balance.has_key(std::to_string(i));
  EXPECT_EQ(unsure(), 0U);
}

TEST_F(BalanceTest, AKeyThatStandsNowhereIsInABucketToLookAt) {
  for (const auto* const id : {"1", "2", "3"}) {
    balance.stands(id);
    balance.has_key(id);
  }
  balance.has_key("stray");
  EXPECT_EQ(balance.unsure(Balance::bucket_of("stray")), 1U);
  EXPECT_EQ(balance.over(Balance::bucket_of("stray")), 1);
  EXPECT_EQ(balance.unsure(Balance::bucket_of("2")), 0U);
}

TEST_F(BalanceTest, OneOfNoKeyLeavesNothingToLookAt) {
  balance.stands("ghost");
  EXPECT_EQ(unsure(), 0U);
  EXPECT_EQ(balance.over(Balance::bucket_of("ghost")), 0);
}

TEST_F(BalanceTest, WhatIsMetTwiceOnOneSideIsLookedAt) {
  balance.stands("twice listed");
  balance.stands("twice listed");
  balance.has_key("twice listed");
  balance.stands("twice seen");
  balance.has_key("twice seen");
  balance.has_key("twice seen");
  EXPECT_EQ(balance.unsure(Balance::bucket_of("twice listed")), 1U);
  EXPECT_EQ(balance.unsure(Balance::bucket_of("twice seen")), 2U);
}

}  // namespace
}  // namespace echomq::v2::migrate
