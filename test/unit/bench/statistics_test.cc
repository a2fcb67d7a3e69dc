// SPDX-License-Identifier: MIT
#include "bench/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace bench {
namespace {

TEST(BenchStatistics, MedianIsTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 2, 100}), 3);
}

TEST(BenchStatistics, PercentileIsAValueThatWasMeasured) {
  std::vector<double> hundred;
  for (int i = 100; i >= 1; --i) hundred.push_back(i);
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3}, 0.99), 3);
  EXPECT_EQ(percentile(hundred, 0.50), 50);
  EXPECT_EQ(percentile(hundred, 0.99), 99);
  EXPECT_EQ(percentile(hundred, 1.0), 100);
  EXPECT_EQ(percentile(hundred, 0.0), 1);
}

TEST(BenchStatistics, SummaryHasTheExtremes) {
  const auto all = summary({3, 1, 2});
  EXPECT_EQ(all.least, 1);
  EXPECT_EQ(all.median, 2);
  EXPECT_EQ(all.most, 3);
  EXPECT_EQ(summary({}).median, 0);
}

TEST(BenchStatistics, RatiosArePairedSoThatDriftCancels) {
  // The machine gets ten times slower meanwhile; ours stays twice as fast.
  EXPECT_EQ(paired_ratio({200, 60, 20}, {100, 30, 10}), 2.0);
  // One without a partner, and one that divides by nothing, are left out.
  EXPECT_EQ(paired_ratio({8, 6, 4}, {2, 0}), 4.0);
  EXPECT_EQ(paired_ratio({}, {1}), std::nullopt);
  EXPECT_EQ(paired_ratio({1}, {0}), std::nullopt);
}

TEST(BenchStatistics, ManyValues) {
  rc::check("the median and every percentile lie between the extremes", [] {
    const auto drawn =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1000)));
    const std::vector<double> values(drawn.begin(), drawn.end());
    const auto share = *rc::gen::inRange(0, 101) / 100.0;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    RC_ASSERT(median(values) >= *least && median(values) <= *most);
    const auto found = percentile(values, share);
    RC_ASSERT(std::find(values.begin(), values.end(), found) != values.end());
    const auto below = std::count_if(values.begin(), values.end(),
                                     [found](double value) { return value <= found; });
    RC_ASSERT(static_cast<double>(below) >= share * static_cast<double>(values.size()) - 1e-9);
  });
}

}  // namespace
}  // namespace bench
