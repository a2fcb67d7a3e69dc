// SPDX-License-Identifier: MIT
#include "queue/line_place.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace echomq {
namespace {

TEST(LinePlaceOfALook, NamesTheLastFourAndOfThoseBeforeEverFewer) {
  LinePlace place;
  for (std::int64_t i = 0; i < 200'000; ++i) {
    place.pass(std::to_string(i), i);
    ASSERT_LE(place.passed.size(), kMostPassed);
    EXPECT_EQ(place.index, i);
    for (std::size_t k = 0; k < place.passed.size(); ++k) {
      const auto& job = place.passed[k];
      ASSERT_EQ(job.id, std::to_string(i - job.distance)) << "the distance is that of the job";
      if (k < 4) {
        ASSERT_EQ(job.distance, static_cast<std::int64_t>(k));
      }
      if (k == 0) continue;
      // Going on behind this one and not the one before repeats at most four times as many.
      const auto before = place.passed[k - 1].distance;
      ASSERT_GT(job.distance, before);
      ASSERT_LE(job.distance, 4 * before + 4);
    }
    // The first one is among them until it is far behind.
    if (i < 65'536) {
      ASSERT_EQ(place.passed.back().distance, i);
    }
  }
}

TEST(LinePlaceOfALook, AMarkTellsAnAddAnewAndTheEndOfAClaim) {
  const auto mark = mark_of("1800000000000:3:job", "");
  EXPECT_TRUE(is_mark(mark)) << mark;
  EXPECT_EQ(mark, mark_of("1800000000000:3:job", ""));
  EXPECT_NE(mark, mark_of("1800000000001:3:job", ""));
  EXPECT_NE(mark, mark_of("1800000000000:3:job", "1:1:0:1800000000005:0::w"));
  EXPECT_NE(mark_of("a", "b"), mark_of("ab", ""));
  for (const char* const text : {"", "0123456", "012345678", "0123456g", "0123ABCD"})
    EXPECT_FALSE(is_mark(text)) << text;
}

}  // namespace
}  // namespace echomq
