// SPDX-License-Identifier: MIT
#include "wire/reply_form.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace echomq::wire {
namespace {

Reply parsed(const std::string& bytes) {
  RespParser parser;
  parser.feed(bytes);
  auto next = parser.next();
  EXPECT_TRUE(next && *next) << bytes;
  return **std::move(next);
}

std::string listed(const std::string& bytes) {
  std::string out;
  for (const auto& [member, score] : scored(parsed(bytes)))
    out += member + "=" + std::to_string(score) + " ";
  return out;
}

TEST(ReplyForm, ScoresArePairsInResp3AndAFlatListInResp2) {
  const std::string expected = "a=1 b=4503599627370495 ";
  EXPECT_EQ(listed("*2\r\n*2\r\n$1\r\na\r\n,1\r\n*2\r\n$1\r\nb\r\n,4503599627370495\r\n"),
            expected);
  EXPECT_EQ(listed("*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$16\r\n4503599627370495\r\n"), expected);
}

TEST(ReplyForm, NothingAndAMemberWithoutItsScoreAreNoScores) {
  EXPECT_EQ(listed("*0\r\n"), "");
  EXPECT_EQ(listed("*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n"), "a=1 ");
}

TEST(ReplyForm, ANumberIsReadFromEachOfItsForms) {
  EXPECT_EQ(number_of(parsed(":-7\r\n")), -7);
  EXPECT_EQ(number_of(parsed(",12\r\n")), 12);
  // A score that no integer holds is the nearest one.
  EXPECT_EQ(number_of(parsed(",1e300\r\n")), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number_of(parsed("$4\r\n-inf\r\n")), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(number_of(parsed("$3\r\n345\r\n")), 345);
  EXPECT_EQ(number_of(parsed("$17\r\n1.8000000000005e3\r\n")), 1'800);
  EXPECT_EQ(number_of(parsed("_\r\n")), 0);
}

}  // namespace
}  // namespace echomq::wire
