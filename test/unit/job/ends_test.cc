// SPDX-License-Identifier: MIT
#include "job/ends.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace echomq {
namespace {

std::string ends_of(std::initializer_list<job::End> all) {
  job::Ends ends;
  for (const auto& end : all) ends.put(end);
  return ends.text();
}

constexpr job::End kEnd{.lease = 77,
                        .claims_ended = 4,
                        .attempts_made = 3,
                        .crashes = 2,
                        .started_ms = 1'700'000'000'000,
                        .value = "ok"};

TEST(Ends, JobsThatEndAlikeAreOneRun) {
  EXPECT_EQ(ends_of({kEnd, kEnd, kEnd}), "3:77:4:3:2:1700000000000:2:ok");
}

TEST(Ends, EachDifferenceBeginsARun) {
  auto other = kEnd;
  other.value = "";
  EXPECT_EQ(
      ends_of({kEnd, other, kEnd}),
      "1:77:4:3:2:1700000000000:2:ok1:77:4:3:2:1700000000000:0:1:77:4:3:2:1700000000000:2:ok");
  other = kEnd;
  other.lease = 78;
  EXPECT_EQ(ends_of({kEnd, other}), "1:77:4:3:2:1700000000000:2:ok1:78:4:3:2:1700000000000:2:ok");
}

TEST(Ends, NoJobsHaveNoEnds) { EXPECT_EQ(ends_of({}), ""); }

}  // namespace
}  // namespace echomq
