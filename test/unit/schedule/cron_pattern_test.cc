// SPDX-License-Identifier: MIT
// What cron patterns say, and how they are refused.
#include "schedule/cron_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <string>
#include <vector>

#include "unit/schedule/slow_cron.h"

namespace echomq::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Wall wall(int year, unsigned month, unsigned day, int hour = 0, int minute = 0,
                    int second = 0) {
  using namespace std::chrono;
  return sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day))
                 .time_since_epoch()
                 .count() *
             Wall{86'400} +
         hour * 3'600 + minute * 60 + second;
}

std::string show(Wall at) {
  using namespace std::chrono;
  const auto day = at / 86'400 - (at % 86'400 < 0 ? 1 : 0);
  const year_month_day date{sys_days(days(day))};
  char text[64];
  const auto second = static_cast<int>(at - day * 86'400);
  std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                second / 3'600, second / 60 % 60, second % 60);
  return text;
}

// The next matches from the beginning of 2026, a Thursday.
std::vector<std::string> matches(std::string_view pattern, int count = 3,
                                 Wall from = wall(2026, 1, 1)) {
  const auto parsed = CronPattern::parse(pattern).value();
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) {
    const auto at = parsed.next(from);
    if (!at) break;
    all.push_back(show(*at));
    from = *at + 1;
  }
  return all;
}

Error refusal(std::string_view pattern) {
  const auto parsed = CronPattern::parse(pattern);
  return parsed ? Error{ErrorCode::protocol, "it was read", {}} : parsed.error();
}

// "hour 3": the field and the position that a refusal names.
std::string where(std::string_view pattern) {
  const auto error = refusal(pattern);
  const auto* const field = error.field("field");
  const auto* const position = error.field("position");
  if (field == nullptr || position == nullptr) return error.message();
  return *field + " " + *position;
}

TEST(CronPattern, FiveFieldsAreMinutesAndSixBeginWithTheSecond) {
  EXPECT_THAT(matches("30 2 * * *"),
              ElementsAre("2026-01-01 02:30:00", "2026-01-02 02:30:00", "2026-01-03 02:30:00"));
  EXPECT_THAT(matches("15 30 2 * * *", 2),
              ElementsAre("2026-01-01 02:30:15", "2026-01-02 02:30:15"));
  EXPECT_THAT(matches("*/20 * * * * *"),
              ElementsAre("2026-01-01 00:00:00", "2026-01-01 00:00:20", "2026-01-01 00:00:40"));
  EXPECT_THAT(matches("  \t* * * * *  ", 2),
              ElementsAre("2026-01-01 00:00:00", "2026-01-01 00:01:00"));
}

TEST(CronPattern, RangesStepsListsAndNames) {
  EXPECT_THAT(matches("5-20/5,50 9 * * *", 5),
              ElementsAre("2026-01-01 09:05:00", "2026-01-01 09:10:00", "2026-01-01 09:15:00",
                          "2026-01-01 09:20:00", "2026-01-01 09:50:00"));
  EXPECT_THAT(matches("40/10 23 * * *", 3),
              ElementsAre("2026-01-01 23:40:00", "2026-01-01 23:50:00", "2026-01-02 23:40:00"));
  EXPECT_THAT(matches("0 9 * * MON-fri", 3),
              ElementsAre("2026-01-01 09:00:00", "2026-01-02 09:00:00", "2026-01-05 09:00:00"));
  EXPECT_THAT(matches("0 0 1 jan,Jul *", 3),
              ElementsAre("2026-01-01 00:00:00", "2026-07-01 00:00:00", "2027-01-01 00:00:00"));
}

TEST(CronPattern, SundayIsZeroAndSeven) {
  for (const auto* const pattern : {"0 0 * * 0", "0 0 * * 7", "0 0 ? * SUN"})
    EXPECT_THAT(matches(pattern, 2), ElementsAre("2026-01-04 00:00:00", "2026-01-11 00:00:00"))
        << pattern;
  for (const auto* const pattern : {"0 0 * * 6-7", "0 0 * * SAT-SUN", "0 0 * * 6-0"})
    EXPECT_THAT(matches(pattern, 3),
                ElementsAre("2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-10 00:00:00"))
        << pattern;
}

TEST(CronPattern, LastDays) {
  EXPECT_THAT(matches("0 0 L * *"),
              ElementsAre("2026-01-31 00:00:00", "2026-02-28 00:00:00", "2026-03-31 00:00:00"));
  EXPECT_THAT(matches("0 0 L 2 *", 3, wall(2027, 1, 1)),
              ElementsAre("2027-02-28 00:00:00", "2028-02-29 00:00:00", "2029-02-28 00:00:00"));
  EXPECT_THAT(matches("0 0 L-3 * *", 2), ElementsAre("2026-01-28 00:00:00", "2026-02-25 00:00:00"));
  EXPECT_THAT(matches("0 0 L-30 * *", 2), ElementsAre("2026-01-01 00:00:00", "2026-03-01 00:00:00"))
      << "where the month has so many days";
  EXPECT_THAT(matches("0 0 * * 5L", 2), ElementsAre("2026-01-30 00:00:00", "2026-02-27 00:00:00"));
  EXPECT_THAT(matches("0 0 * * friL", 1), ElementsAre("2026-01-30 00:00:00"));
  // 31 January 2026 is a Saturday, 28 February too, 31 May a Sunday.
  EXPECT_THAT(matches("0 0 LW * *", 5),
              ElementsAre("2026-01-30 00:00:00", "2026-02-27 00:00:00", "2026-03-31 00:00:00",
                          "2026-04-30 00:00:00", "2026-05-29 00:00:00"));
}

TEST(CronPattern, TheNearestWorkingDay) {
  // The 15th: a Sunday in February and March, a Saturday in August.
  EXPECT_THAT(matches("0 0 15W 2,3,8 *"),
              ElementsAre("2026-02-16 00:00:00", "2026-03-16 00:00:00", "2026-08-14 00:00:00"));
  EXPECT_THAT(matches("0 0 1W 8 *", 1), ElementsAre("2026-08-03 00:00:00"))
      << "it does not leave the month at its beginning";
  EXPECT_THAT(matches("0 0 31W 5 *", 1), ElementsAre("2026-05-29 00:00:00")) << "nor at its end";
  EXPECT_THAT(matches("0 0 31W * *", 2), ElementsAre("2026-01-30 00:00:00", "2026-03-31 00:00:00"))
      << "a month of 30 days has no 31st";
}

TEST(CronPattern, TheSecondMondayAndTheFifth) {
  EXPECT_THAT(matches("0 0 * * MON#2"),
              ElementsAre("2026-01-12 00:00:00", "2026-02-09 00:00:00", "2026-03-09 00:00:00"));
  EXPECT_THAT(matches("0 0 * * 1#5", 2), ElementsAre("2026-03-30 00:00:00", "2026-06-29 00:00:00"));
  EXPECT_THAT(matches("0 0 * 2 1#5", 2), ElementsAre("2044-02-29 00:00:00", "2072-02-29 00:00:00"))
      << "the rarest days there are";
}

// crontab(5) of Vixie's cron.
TEST(CronPattern, EitherOfTwoRestrictedDaysWillDo) {
  EXPECT_THAT(matches("0 0 13 * FRI", 4),
              ElementsAre("2026-01-02 00:00:00", "2026-01-09 00:00:00", "2026-01-13 00:00:00",
                          "2026-01-16 00:00:00"));
  EXPECT_THAT(matches("0 0 */2 * MON", 2),
              ElementsAre("2026-01-05 00:00:00", "2026-01-19 00:00:00"))
      << "a field that begins with * restricts nothing by itself: both hold";
  EXPECT_THAT(matches("0 0 13 * ?", 1), ElementsAre("2026-01-13 00:00:00"));
}

TEST(CronPattern, NamesOfPatterns) {
  EXPECT_THAT(matches("@yearly", 2), ElementsAre("2026-01-01 00:00:00", "2027-01-01 00:00:00"));
  EXPECT_THAT(matches("@annually", 1), ElementsAre("2026-01-01 00:00:00"));
  EXPECT_THAT(matches("@monthly", 2), ElementsAre("2026-01-01 00:00:00", "2026-02-01 00:00:00"));
  EXPECT_THAT(matches("@weekly", 1), ElementsAre("2026-01-04 00:00:00"));
  EXPECT_THAT(matches(" @Daily ", 2), ElementsAre("2026-01-01 00:00:00", "2026-01-02 00:00:00"));
  EXPECT_THAT(matches("@midnight", 1), ElementsAre("2026-01-01 00:00:00"));
  EXPECT_THAT(matches("@hourly", 2), ElementsAre("2026-01-01 00:00:00", "2026-01-01 01:00:00"));
}

TEST(CronPattern, LeapDays) {
  EXPECT_THAT(matches("0 0 29 2 *", 2), ElementsAre("2028-02-29 00:00:00", "2032-02-29 00:00:00"));
  EXPECT_THAT(matches("0 0 29 2 *", 2, wall(2096, 1, 1)),
              ElementsAre("2096-02-29 00:00:00", "2104-02-29 00:00:00"))
      << "2100 is no leap year";
}

TEST(CronPattern, TimesBefore1970) {
  EXPECT_THAT(matches("0 12 * * *", 2, wall(1969, 12, 30, 13)),
              ElementsAre("1969-12-31 12:00:00", "1970-01-01 12:00:00"));
}

TEST(CronPattern, ABadOneNamesTheFieldAndThePosition) {
  EXPECT_EQ(where("60 * * * *"), "minute 1");
  EXPECT_EQ(where("* 24 * * *"), "hour 3");
  EXPECT_EQ(where("* * 0 * *"), "day-of-month 5");
  EXPECT_EQ(where("* * 32 * *"), "day-of-month 5");
  EXPECT_EQ(where("* * * 13 *"), "month 7");
  EXPECT_EQ(where("* * * * 8"), "day-of-week 9");
  EXPECT_EQ(where("60 * * * * *"), "second 1");
  EXPECT_EQ(where("1,2,x * * * *"), "minute 5");
  EXPECT_EQ(where("* * * JAN,FOO *"), "month 11");
  EXPECT_EQ(where("*/0 * * * *"), "minute 3");
  EXPECT_EQ(where("*/60 * * * *"), "minute 3");
  EXPECT_EQ(where("10-5 * * * *"), "minute 1");
  EXPECT_EQ(where("5- * * * *"), "minute 3");
  EXPECT_EQ(where("5,,6 * * * *"), "minute 3");
  EXPECT_EQ(where("5, * * * *"), "minute 3");
  EXPECT_EQ(where("*5 * * * *"), "minute 2");
  EXPECT_EQ(where("? * * * *"), "minute 1");
  EXPECT_EQ(where("* L * * *"), "hour 3");
  EXPECT_EQ(where("* * L-31 * *"), "day-of-month 7");
  EXPECT_EQ(where("* * 32W * *"), "day-of-month 5");
  EXPECT_EQ(where("* * * * L"), "day-of-week 9");
  EXPECT_EQ(where("* * * * MON#6"), "day-of-week 13");
  EXPECT_EQ(where("00001 * * * *"), "minute 1");
  EXPECT_EQ(where("-1 * * * *"), "minute 1");
  EXPECT_EQ(where("* * * *"), "pattern 8");
  EXPECT_EQ(where(""), "pattern 1");
  EXPECT_EQ(where("* * * * * * *"), "pattern 13");
  EXPECT_EQ(where("@reboot"), "pattern 1");
  EXPECT_EQ(where(std::string(256, ' ')), "pattern 1");
}

TEST(CronPattern, ARefusalSaysWhatWasFoundAndExpected) {
  const auto error = refusal("0 25 * * *");
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.detail,
            "the cron pattern \"0 25 * * *\" has \"25\" at byte 3 (hour); expected 0 to 23");
  ASSERT_NE(error.field("option"), nullptr);
  EXPECT_EQ(*error.field("option"), "pattern");
  EXPECT_EQ(*error.field("value"), "0 25 * * *");
  EXPECT_THAT(refusal("* * * * x").detail, HasSubstr("0 to 7 or SUN to SAT"));
}

TEST(CronPattern, OneThatNeverComesIsRefused) {
  EXPECT_EQ(where("0 0 30 2 *"), "day-of-month 5");
  EXPECT_EQ(where("0 0 31 2,4,6,9,11 *"), "day-of-month 5");
  EXPECT_EQ(where("0 0 0 31W 4 ?"), "day-of-month 7");
  EXPECT_THAT(refusal("0 0 30 2 *").detail, HasSubstr("within a hundred years"));
  EXPECT_THAT(matches("0 0 30 2 MON", 1), ElementsAre("2026-02-02 00:00:00"))
      << "either day will do";
}

TEST(CronPattern, NextFindsWhatALookAtEachSecondFinds) {
  EXPECT_TRUE(rc::check("seconds of two hours", [] {
    const auto slow = test::any_pattern(/*with_seconds=*/true);
    const auto parsed = CronPattern::parse(slow.text());
    RC_PRE(parsed.ok());
    const auto from = wall(2026, 1, 1) + *rc::gen::inRange<Wall>(0, Wall{86'400} * 800);
    std::vector<Wall> expected;
    for (auto at = from; at < from + 7'200; ++at)
      if (slow.matches(at)) expected.push_back(at);
    std::vector<Wall> found;
    for (auto at = parsed->next(from); at && *at < from + 7'200; at = parsed->next(*at + 1))
      found.push_back(*at);
    if (found != expected) RC_FAIL(slow.text() + " from " + show(from));
  }));
}

TEST(CronPattern, NextFindsWhatALookAtEachDayFinds) {
  EXPECT_TRUE(rc::check("days of three years", [] {
    auto slow = test::any_pattern(/*with_seconds=*/false);
    slow.fields[1].items = {{.kind = test::SlowItem::Kind::range, .from = 7, .to = 7}};
    slow.fields[2].items = {{.kind = test::SlowItem::Kind::range, .from = 3, .to = 3}};
    const auto parsed = CronPattern::parse(slow.text());
    RC_PRE(parsed.ok());
    const auto from = wall(2026, 1, 1) + *rc::gen::inRange<Wall>(0, 30'000) * 86'400;
    const auto to = from + Wall{3 * 366} * 86'400;
    std::vector<Wall> expected;
    for (auto at = from + 3 * 3'600 + 7 * 60; at < to; at += 86'400)
      if (slow.matches(at)) expected.push_back(at);
    std::vector<Wall> found;
    for (auto at = parsed->next(from); at && *at < to; at = parsed->next(*at + 1))
      found.push_back(*at);
    if (found != expected) RC_FAIL(slow.text() + " from " + show(from));
  }));
}

}  // namespace
}  // namespace echomq::schedule
