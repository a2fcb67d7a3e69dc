// SPDX-License-Identifier: MIT
#include "queue/add_batcher.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace echomq {
namespace {

PendingAdd add(const std::string& name, std::size_t bytes = 10) {
  job::EncodedJob job;
  job.name = name;
  job.data = std::string(bytes, 'x');
  return {std::move(job), nullptr};
}

TEST(AddBatcher, SendsALoneAddAtOnce) {
  AddBatcher batcher;
  EXPECT_FALSE(batcher.next());
  batcher.push(add("a"));
  const auto flush = batcher.next();
  ASSERT_TRUE(flush);
  EXPECT_EQ(flush->adds.size(), 1U);
}

TEST(AddBatcher, CollectsWhileAFlushIsOnItsWay) {
  AddBatcher batcher;
  batcher.push(add("a"));
  const auto first = batcher.next();
  for (int i = 0; i < 10; ++i) batcher.push(add("b"));
  EXPECT_FALSE(batcher.next()) << "a small batch waits for the answer";
  batcher.done(first->lane);
  EXPECT_EQ(batcher.next()->adds.size(), 10U);
}

TEST(AddBatcher, ABatchThatIsWorthItTakesTheSecondLaneAndNoThird) {
  AddBatcher batcher;
  for (std::size_t i = 0; i < 3 * kMaxBatchJobs; ++i) batcher.push(add("a"));
  const auto first = batcher.next();
  const auto second = batcher.next();
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->lane, second->lane);
  EXPECT_EQ(first->adds.size(), kMaxBatchJobs);
  EXPECT_FALSE(batcher.next());
}

TEST(AddBatcher, TheRestOfABulkDoesNotWaitForItsFirstPart) {
  AddBatcher batcher;
  for (std::size_t i = 0; i < kMaxBatchJobs + AddBatcher::kWorthASecondFlush; ++i)
    batcher.push(add("a"));
  ASSERT_TRUE(batcher.next());
  EXPECT_TRUE(batcher.next());
}

TEST(AddBatcher, ALargeJobGoesAlone) {
  AddBatcher batcher;
  batcher.push(add("large", kMaxBatchBytes + 1));
  batcher.push(add("small"));
  EXPECT_EQ(batcher.next()->adds.size(), 1U);
}

TEST(AddBatcher, EveryAddTravelsOnceInOrderWithinTheLimits) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint16_t>& sizes) {
    AddBatcher batcher;
    for (std::size_t i = 0; i < sizes.size(); ++i) batcher.push(add(std::to_string(i), sizes[i]));
    std::size_t seen = 0;
    while (auto flush = batcher.next()) {
      std::size_t bytes = 0;
      for (const auto& one : flush->adds) {
        RC_ASSERT(one.job.name == std::to_string(seen++));
        bytes += one.job.bytes();
      }
      RC_ASSERT(flush->adds.size() <= kMaxBatchJobs);
      RC_ASSERT(bytes <= kMaxBatchBytes || flush->adds.size() == 1U);
      batcher.done(flush->lane);
    }
    RC_ASSERT(seen == sizes.size());
  }));
}

TEST(AddBatcher, DrainAnswersForEverythingUnsent) {
  AddBatcher batcher;
  for (int i = 0; i < 5; ++i) batcher.push(add("a"));
  EXPECT_EQ(batcher.drain().size(), 5U);
  EXPECT_TRUE(batcher.empty());
  EXPECT_FALSE(batcher.next());
}

}  // namespace
}  // namespace echomq
