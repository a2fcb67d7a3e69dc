// SPDX-License-Identifier: MIT
#include "queue/page_cursor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace echomq {
namespace {

constexpr auto kAscending = PageOrder::ascending;
constexpr auto kDescending = PageOrder::descending;

PageCursor of_set(const std::string& score, const std::string& id) {
  return {score, {{id, {}, 0}}};
}

TEST(CursorText, ComesBackAsItWas) {
  for (const auto& cursor : {of_set("1800000000000", "274557032793636864"), of_set("0", "a.b-c_d"),
                             of_set("9007194959773701", "x")}) {
    const auto text = encode_cursor("mail.out", JobState::failed, kDescending, cursor);
    const auto back = decode_cursor("mail.out", JobState::failed, kDescending, text);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, cursor);
  }
}

TEST(CursorText, OfALineNamesTheJobsThatWerePassed) {
  std::vector<Passed> many;
  for (std::size_t i = 0; i < kMostPassed; ++i)
    many.push_back({"job-" + std::to_string(i), "0123abcd", static_cast<std::int64_t>(i)});
  for (const auto& cursor : {PageCursor{"w0", {{"a", "89abcdef", 0}}}, PageCursor{"c17", many}}) {
    const auto text = encode_cursor("q", JobState::waiting, kAscending, cursor);
    const auto back = decode_cursor("q", JobState::waiting, kAscending, text);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, cursor);
  }
  many.push_back({"one-more", "0123abcd", 99});
  const auto text = encode_cursor("q", JobState::waiting, kAscending, {"w5", many});
  EXPECT_FALSE(decode_cursor("q", JobState::waiting, kAscending, text));
}

TEST(CursorText, OfALineIsRefusedInAnyOtherForm) {
  for (const char* const jobs :
       {"", "a", "a/89abcdef", "a/89abcdef/", "a/89abcdef/-1", "a/89abcde/1", "a/89ABCDEF/1",
        "/89abcdef/1", "a b/89abcdef/1", "a/89abcdef/1,", ",a/89abcdef/1", "a/89abcdef/1,b",
        "a/89abcdef/1/2", "wait/89abcdef/1"}) {
    const auto text = std::string("1:q:waiting:a:w5:") + jobs;
    const auto got = decode_cursor("q", JobState::waiting, kAscending, text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(*got.error().field("value"), text);
  }
}

// The cursor, and what was wrong with it.
void expect_refused(const std::string& text, const std::string& why) {
  const auto got = decode_cursor("mail", JobState::failed, kAscending, text);
  ASSERT_FALSE(got) << text;
  EXPECT_EQ(got.error().code, ErrorCode::invalid_argument) << text;
  ASSERT_NE(got.error().field("value"), nullptr);
  EXPECT_EQ(*got.error().field("value"), text);
  EXPECT_NE(got.error().detail.find(why), std::string::npos) << got.error().detail;
}

TEST(CursorText, OfAnotherQueueStateOrOrderIsRefused) {
  const auto cursor = of_set("5", "a");
  expect_refused(encode_cursor("other", JobState::failed, kAscending, cursor),
                 "one of queue \"mail\", not of \"other\"");
  expect_refused(encode_cursor("mail", JobState::completed, kAscending, cursor),
                 "one of the state failed, not of \"completed\"");
  expect_refused(encode_cursor("mail", JobState::failed, kDescending, cursor),
                 "one of the order ascending");
}

TEST(CursorText, AnythingElseIsRefused) {
  for (const char* const text :
       {"", "x", ":::::", "1:mail:failed:a:5", "2:mail:failed:a:5:a", "1:mail:failed:a::a",
        "1:mail:failed:a:5:", "1:mail:failed:a:-5:a", "1:mail:failed:a:5.5:a",
        "1:mail:failed:a:w5:a", "1:mail:failed:a:5:a:b", "1:mail:failed:a:5:two words",
        "1:mail:failed:a:5:wait", "1:mail:failed:a:99999999999999999:a"})
    expect_refused(text, "expected");
  const auto list =
      decode_cursor("mail", JobState::waiting, kAscending, "1:mail:waiting:a:5:a/89abcdef/0");
  EXPECT_FALSE(list) << "a line has two lists";
}

}  // namespace
}  // namespace echomq
