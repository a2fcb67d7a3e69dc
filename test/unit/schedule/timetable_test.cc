// SPDX-License-Identifier: MIT
// The ticks of schedules: intervals, bounds, time zones and the change of clocks.
#include "schedule/timetable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "unit/schedule/slow_cron.h"

namespace echomq::schedule {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t utc(int year, unsigned month, unsigned day, int hour = 0, int minute = 0,
                           int second = 0) {
  using namespace std::chrono;
  return (sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day))
                  .time_since_epoch()
                  .count() *
              std::int64_t{86'400} +
          hour * 3'600 + minute * 60 + second) *
         1'000;
}

// "03-29 01:00:00", and the milliseconds where there are some.
std::string utc_text(std::int64_t ms) {
  using namespace std::chrono;
  const auto day = floor<days>(sys_time<milliseconds>(milliseconds(ms)));
  const year_month_day date{day};
  const auto rest = ms - day.time_since_epoch().count() * std::int64_t{86'400'000};
  char text[64];
  std::snprintf(text, sizeof text, "%02u-%02u %02d:%02d:%02d", static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(rest / 3'600'000),
                static_cast<int>(rest / 60'000 % 60), static_cast<int>(rest / 1'000 % 60));
  return rest % 1'000 == 0 ? text : text + ("." + std::to_string(rest % 1'000));
}

std::vector<std::string> ticks(const Schedule& schedule, std::int64_t from_ms,
                               std::size_t count = 3) {
  std::vector<std::string> all;
  const auto times = next_times(schedule, from_ms, count).value();
  for (const auto tick : times) all.push_back(utc_text(tick));
  return all;
}

Schedule cron(std::string pattern, std::string zone) {
  return {.when = Cron{std::move(pattern), std::move(zone)}};
}

std::string refused_option(const Schedule& schedule) {
  const auto checked = check_schedule(schedule);
  if (checked) return "";
  const auto* const option = checked.error().field("option");
  return option == nullptr ? checked.error().message() : *option;
}

// --- intervals

TEST(EveryTicks, B11_EveryWithOffset) {
  const Schedule schedule{.when = Every{15min, 3min}};
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4, 9, 10)),
              ElementsAre("05-04 09:18:00", "05-04 09:33:00", "05-04 09:48:00"));
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4, 9, 18), 1), ElementsAre("05-04 09:33:00"))
      << "behind the time that is given";
}

TEST(EveryTicks, AreAlignedToTheStartWhereThereIsOne) {
  Schedule schedule{.when = Every{1h}, .start_ms = utc(2026, 5, 4, 9, 10)};
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 1)),
              ElementsAre("05-04 09:10:00", "05-04 10:10:00", "05-04 11:10:00"));
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4, 12)),
              ElementsAre("05-04 12:10:00", "05-04 13:10:00", "05-04 14:10:00"));
  schedule.when = Every{1h, 5min};
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 1), 1), ElementsAre("05-04 09:15:00"));
}

TEST(EveryTicks, BeginAtOnceWhereAsked) {
  const Schedule schedule{.when = Every{15min, 3min}, .immediately = true};
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4, 9, 10)),
              ElementsAre("05-04 09:10:00", "05-04 09:18:00", "05-04 09:33:00"));
}

TEST(EveryTicks, EndWithTheirEndAndTheirLimit) {
  Schedule schedule{.when = Every{1h}, .end_ms = utc(2026, 5, 4, 11)};
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4, 9, 10)),
              ElementsAre("05-04 10:00:00", "05-04 11:00:00"));
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4, 11)), IsEmpty());
  schedule = {.when = Every{1h}, .limit = 2};
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4, 9, 10), 10),
              ElementsAre("05-04 10:00:00", "05-04 11:00:00"));
}

TEST(EveryTicks, ADayIsOneOfUtc) {
  EXPECT_THAT(ticks({.when = Every{24h, 9h}}, utc(2026, 3, 28, 12), 2),
              ElementsAre("03-29 09:00:00", "03-30 09:00:00"));
}

// --- bounds of patterns

TEST(CronTicks, StartAndEnd) {
  auto schedule = cron("0 9 * * *", "UTC");
  schedule.start_ms = utc(2026, 5, 4, 9);
  schedule.end_ms = utc(2026, 5, 5, 9);
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 1)), ElementsAre("05-04 09:00:00", "05-05 09:00:00"))
      << "both belong to it";
}

TEST(CronTicks, WholeSecondsWhateverTheMillisecond) {
  const auto schedule = cron("* * * * * *", "UTC");
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4) - 1, 2),
              ElementsAre("05-04 00:00:00", "05-04 00:00:01"));
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4), 1), ElementsAre("05-04 00:00:01"));
  EXPECT_THAT(ticks(schedule, utc(2026, 5, 4) + 1, 1), ElementsAre("05-04 00:00:01"));
}

TEST(CronTicks, AreOfTheZone) {
  EXPECT_THAT(ticks(cron("0 9 * * 1-5", "Europe/Berlin"), utc(2026, 1, 2), 3),
              ElementsAre("01-02 08:00:00", "01-05 08:00:00", "01-06 08:00:00"));
  EXPECT_THAT(ticks(cron("0 9 * * *", "Asia/Kolkata"), utc(2026, 1, 2), 2),
              ElementsAre("01-02 03:30:00", "01-03 03:30:00"))
      << "a zone of half an hour, and without a change";
  EXPECT_THAT(ticks(cron("0 9 * * *", "America/New_York"), utc(2026, 7, 2), 1),
              ElementsAre("07-02 13:00:00"));
}

// --- the change of clocks. In 2026:
//   Europe/Berlin        29 March 02:00 -> 03:00 (01:00 UTC), 25 October 03:00 -> 02:00 (01:00 UTC)
//   America/New_York     8 March 02:00 -> 03:00 (07:00 UTC), 1 November 02:00 -> 01:00 (06:00 UTC)
//   Australia/Lord_Howe  5 April 02:00 -> 01:30 (15:00 UTC), 4 October 02:00 -> 02:30 (15:30 UTC)

TEST(ClockChange, P16_ATimeThatIsLeftOutRunsWhenTheClockHasLeapt) {
  EXPECT_THAT(ticks(cron("30 2 * * *", "Europe/Berlin"), utc(2026, 3, 28)),
              ElementsAre("03-28 01:30:00", "03-29 01:00:00", "03-30 00:30:00"));
  EXPECT_THAT(ticks(cron("30 2 * * *", "America/New_York"), utc(2026, 3, 7)),
              ElementsAre("03-07 07:30:00", "03-08 07:00:00", "03-09 06:30:00"));
  EXPECT_THAT(ticks(cron("15 2 * * *", "Australia/Lord_Howe"), utc(2026, 10, 2, 18)),
              ElementsAre("10-03 15:30:00", "10-04 15:15:00", "10-05 15:15:00"));
  EXPECT_THAT(ticks(cron("30 2 * * *", "Asia/Kolkata"), utc(2026, 3, 28)),
              ElementsAre("03-28 21:00:00", "03-29 21:00:00", "03-30 21:00:00"));
}

TEST(ClockChange, P16_ATimeThatComesTwiceRunsTheFirstTime) {
  EXPECT_THAT(ticks(cron("30 2 * * *", "Europe/Berlin"), utc(2026, 10, 24)),
              ElementsAre("10-24 00:30:00", "10-25 00:30:00", "10-26 01:30:00"));
  EXPECT_THAT(ticks(cron("30 1 * * *", "America/New_York"), utc(2026, 10, 31)),
              ElementsAre("10-31 05:30:00", "11-01 05:30:00", "11-02 06:30:00"));
  EXPECT_THAT(ticks(cron("45 1 * * *", "Australia/Lord_Howe"), utc(2026, 4, 3)),
              ElementsAre("04-03 14:45:00", "04-04 14:45:00", "04-05 15:15:00"));
}

// From within the hour that comes again, too.
TEST(ClockChange, TheSecondHourRunsNothingOfCertainHours) {
  EXPECT_THAT(ticks(cron("*/20 2 * * *", "Europe/Berlin"), utc(2026, 10, 25, 0, 30), 2),
              ElementsAre("10-25 00:40:00", "10-26 01:00:00"));
  EXPECT_THAT(ticks(cron("*/20 2 * * *", "Europe/Berlin"), utc(2026, 10, 25, 1, 10), 1),
              ElementsAre("10-26 01:00:00"));
  EXPECT_THAT(ticks(cron("* * 2 * * *", "Europe/Berlin"), utc(2026, 10, 25, 1, 10), 1),
              ElementsAre("10-26 01:00:00"));
}

TEST(ClockChange, AllThatIsLeftOutRunsOnce) {
  EXPECT_THAT(ticks(cron("*/15 2 * * *", "Europe/Berlin"), utc(2026, 3, 29), 2),
              ElementsAre("03-29 01:00:00", "03-30 00:00:00"));
  EXPECT_THAT(ticks(cron("*/30 2,3 * * *", "Europe/Berlin"), utc(2026, 3, 29), 3),
              ElementsAre("03-29 01:00:00", "03-29 01:30:00", "03-30 00:00:00"))
      << "with what is due at that moment anyway";
}

TEST(ClockChange, AnyHourGoesByTheTimeThatPasses) {
  EXPECT_THAT(ticks(cron("0 * * * *", "Europe/Berlin"), utc(2026, 3, 28, 23, 30), 4),
              ElementsAre("03-29 00:00:00", "03-29 01:00:00", "03-29 02:00:00", "03-29 03:00:00"));
  EXPECT_THAT(ticks(cron("0 * * * *", "Europe/Berlin"), utc(2026, 10, 24, 23, 30), 4),
              ElementsAre("10-25 00:00:00", "10-25 01:00:00", "10-25 02:00:00", "10-25 03:00:00"));
  EXPECT_THAT(ticks(cron("*/30 * * * *", "Australia/Lord_Howe"), utc(2026, 4, 4, 14, 20), 4),
              ElementsAre("04-04 14:30:00", "04-04 15:00:00", "04-04 15:30:00", "04-04 16:00:00"));
  EXPECT_THAT(ticks(cron("0 */2 * * *", "Europe/Berlin"), utc(2026, 3, 28, 22, 30), 3),
              ElementsAre("03-28 23:00:00", "03-29 02:00:00", "03-29 04:00:00"))
      << "2 o'clock is left out";
  EXPECT_THAT(ticks(cron("0 */2 * * *", "Europe/Berlin"), utc(2026, 10, 24, 23), 3),
              ElementsAre("10-25 00:00:00", "10-25 01:00:00", "10-25 03:00:00"))
      << "2 o'clock comes twice";
}

TEST(ClockChange, TicksAreThoseOfAWalkThroughTime) {
  EXPECT_TRUE(rc::check("minutes around a change", [] {
    const auto slow = test::any_pattern(/*with_seconds=*/false);
    const std::string zone_name = *rc::gen::element<std::string>(
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
        "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia", "Asia/Gaza");
    const auto timetable = Timetable::of(cron(slow.text(), zone_name));
    RC_PRE(timetable.ok());
    const auto zone = Zone::find(zone_name).value();
    // From some hours before a change, or from anywhere where there is none.
    auto from = utc(*rc::gen::inRange(2005, 2036), 1, 1) / 1'000;
    for (int i = *rc::gen::inRange(0, 2); i >= 0; --i)
      from = std::min(zone.at(from).end, from + 150 * 86'400);
    from = from / 60 * 60 - *rc::gen::inRange<std::int64_t>(0, 24 * 60) * 60;
    const auto to = from + 3 * 86'400;
    std::vector<std::int64_t> found;
    for (auto tick = timetable->next(from * 1'000 - 1); tick != 0 && tick < to * 1'000;
         tick = timetable->next(tick))
      found.push_back(tick / 1'000);
    if (found != slow.ticks(zone, from, to))
      RC_FAIL(slow.text() + " in " + zone_name + " from " + utc_text(from * 1'000));
  }));
}

TEST(ClockChange, TicksAreThoseOfAWalkThroughTimeByTheSecond) {
  EXPECT_TRUE(rc::check("seconds around a change", [] {
    const auto slow = test::any_pattern(/*with_seconds=*/true);
    const auto timetable = Timetable::of(cron(slow.text(), "Europe/Berlin"));
    RC_PRE(timetable.ok());
    const auto zone = Zone::find("Europe/Berlin").value();
    const auto change = *rc::gen::element(utc(2026, 3, 29, 1), utc(2026, 10, 25, 1)) / 1'000;
    const auto from = change - *rc::gen::inRange<std::int64_t>(0, 5'000);
    const auto to = from + 8'000;
    std::vector<std::int64_t> found;
    for (auto tick = timetable->next(from * 1'000 - 1); tick != 0 && tick < to * 1'000;
         tick = timetable->next(tick))
      found.push_back(tick / 1'000);
    if (found != slow.ticks(zone, from, to))
      RC_FAIL(slow.text() + " from " + utc_text(from * 1'000));
  }));
}

// --- what is due

TEST(DueTicks, OfAnIntervalAreCountedWithoutWalking) {
  const auto timetable = Timetable::of({.when = Every{10ms}}).value();
  const auto from = utc(2020, 1, 1);
  const auto due = timetable.due(from, utc(2026, 1, 1) + 5, 3);
  EXPECT_EQ(due.newest, (std::vector{utc(2026, 1, 1) - 20, utc(2026, 1, 1) - 10, utc(2026, 1, 1)}));
  EXPECT_EQ(due.older, static_cast<std::uint64_t>((utc(2026, 1, 1) - from) / 10 - 2));
}

TEST(DueTicks, TheFirstMayStandBesideTheOthers) {
  const auto timetable = Timetable::of({.when = Every{1h}}).value();
  const auto odd = utc(2026, 1, 1, 9, 10);
  EXPECT_EQ(timetable.due(odd, utc(2026, 1, 1, 11), 9).newest,
            (std::vector{odd, utc(2026, 1, 1, 10), utc(2026, 1, 1, 11)}));
  EXPECT_EQ(timetable.due(odd, utc(2026, 1, 1, 9, 30), 9).newest, std::vector{odd});
  EXPECT_EQ(timetable.due(odd, utc(2026, 1, 1, 11), 2).older, 1U);
}

TEST(DueTicks, OfAPatternAreTheNewestHoweverManyThereAre) {
  const auto timetable = Timetable::of(cron("* * * * 1 *", "UTC")).value();
  const auto due = timetable.due(utc(2020, 1, 1), utc(2026, 2, 14, 7), 3);
  EXPECT_EQ(due.newest, (std::vector{utc(2026, 1, 31, 23, 59, 57), utc(2026, 1, 31, 23, 59, 58),
                                     utc(2026, 1, 31, 23, 59, 59)}));
  EXPECT_EQ(due.older, kMissedCounted) << "they are not counted without end";
  const auto few = timetable.due(utc(2026, 1, 31, 23, 50), utc(2026, 2, 14, 7), 3);
  EXPECT_EQ(few.older, 597U);
  EXPECT_EQ(few.newest.size(), 3U);
}

TEST(DueTicks, AreThoseOfOneNextAfterTheOther) {
  EXPECT_TRUE(rc::check("every", [] {
    const std::chrono::milliseconds interval(*rc::gen::inRange(10, 500));
    const std::chrono::milliseconds offset(*rc::gen::inRange<std::int64_t>(0, interval.count()));
    Schedule schedule{.when = Every{interval, offset}};
    const auto base = utc(2026, 1, 1);
    if (*rc::gen::arbitrary<bool>()) schedule.start_ms = base - *rc::gen::inRange(0, 1'000);
    if (*rc::gen::arbitrary<bool>()) schedule.end_ms = base + *rc::gen::inRange(0, 5'000);
    const auto timetable = Timetable::of(schedule).value();
    const auto next = timetable.next(base + *rc::gen::inRange(-500, 500));
    const auto now = base + *rc::gen::inRange(0, 8'000);
    const auto most = *rc::gen::inRange<std::size_t>(1, 20);
    RC_PRE(next != 0 && next <= now);
    std::vector<std::int64_t> all;
    for (auto tick = next; tick != 0 && tick <= now; tick = timetable.next(tick))
      all.push_back(tick);
    const auto due = timetable.due(next, now, most);
    const auto older = all.size() - std::min(all.size(), most);
    RC_ASSERT(due.older == older);
    RC_ASSERT(due.newest ==
              std::vector(all.begin() + static_cast<std::ptrdiff_t>(older), all.end()));
  }));
}

// --- refusals

TEST(ScheduleChecks, EachBadValueIsNamed) {
  EXPECT_EQ(refused_option({.when = Every{9ms}}), "interval");
  EXPECT_EQ(refused_option({.when = Every{kMaxInterval + 1ms}}), "interval");
  EXPECT_EQ(refused_option({.when = Every{1s, 1s}}), "offset");
  EXPECT_EQ(refused_option({.when = Every{1s, -1ms}}), "offset");
  EXPECT_EQ(refused_option({.when = Every{1s}, .start_ms = -1}), "start_ms");
  EXPECT_EQ(refused_option({.when = Every{1s}, .start_ms = 5, .end_ms = 4}), "end_ms");
  EXPECT_EQ(refused_option({.when = Every{1s}, .end_ms = kMaxScheduleMs + 1}), "end_ms");
  EXPECT_EQ(refused_option({.when = Every{1s}, .limit = kMaxScheduleLimit + 1}), "limit");
  EXPECT_EQ(refused_option({.when = Every{1s}, .missed = Missed::run_all(0)}), "missed.max");
  EXPECT_EQ(refused_option({.when = Every{1s}, .missed = Missed::run_all(101)}), "missed.max");
  EXPECT_EQ(refused_option({.when = Every{1s}, .start_ms = 1, .immediately = true}), "immediately");
  EXPECT_EQ(refused_option({.when = Cron{"@daily"}, .immediately = true}), "immediately");
  EXPECT_EQ(refused_option({}), "pattern");
  EXPECT_EQ(refused_option(cron("0 9 * * *", "Europe/Atlantis")), "zone");
  EXPECT_EQ(refused_option(cron("0 9 * * *", "")), "zone");
  EXPECT_EQ(refused_option(cron("0 9 * * *", "../../etc/passwd")), "zone");
  EXPECT_EQ(refused_option(cron("0 9 * * *", std::string(65, 'a'))), "zone");
  EXPECT_EQ(refused_option({.when = Every{1s}, .start_ms = 5, .end_ms = 5, .limit = 1}), "");
}

TEST(ScheduleChecks, OfNextTimes) {
  const Schedule schedule{.when = Every{1s}};
  for (const auto from : {std::int64_t{-1}, kMaxScheduleMs + 1})
    EXPECT_EQ(*next_times(schedule, from, 1).error().field("option"), "from_ms");
  for (const std::size_t count : {0, 10'001})
    EXPECT_EQ(*next_times(schedule, 0, count).error().field("option"), "count");
  EXPECT_EQ(next_times(schedule, 0, 10'000).value().size(), 10'000U);
}

}  // namespace
}  // namespace echomq::schedule
