// SPDX-License-Identifier: MIT
// A scheduler as it is stored, and the steps that it takes.
#include "schedule/definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <string>
#include <vector>

#include "echomq/keyspace.h"
namespace echomq::schedule {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr std::int64_t kNoon = 1'800'014'400'000;  // 2027-01-15 12:00 UTC
constexpr std::int64_t kHour = 3'600'000;

TEST(Definition, IsOneLineThatComesBack) {
  const Schedule cron{.when = Cron{"0 9 * * 1-5", "Europe/Berlin"},
                      .start_ms = 1,
                      .end_ms = 2,
                      .limit = 3,
                      .missed = Missed::run_all(7),
                      .overlap = Overlap::skip};
  EXPECT_EQ(definition_of(cron), "1:2:3:0:all:7:skip:cron:Europe/Berlin:0 9 * * 1-5");
  const Schedule every{.when = Every{15min, 3min}, .immediately = true};
  EXPECT_EQ(definition_of(every), "0:0:0:1:once:1:allow:every:900000:180000");
  for (const auto& schedule : {cron, every})
    EXPECT_EQ(definition_of(read_definition(definition_of(schedule)).value()),
              definition_of(schedule));
}

TEST(Definition, OfAnotherFormIsNone) {
  for (const auto* const text :
       {"", "0", "0:0:0:0:once:1:allow", "0:0:0:0:once:1:allow:lunar:5",
        "x:0:0:0:once:1:allow:every:1:0", "0:0:0:0:never:1:allow:every:1:0",
        "0:0:0:0:once:1:maybe:every:1:0", "0:0:0:0:once:1:allow:every:1",
        "0:0:0:0:once:1:allow:every:-1:0", "-1:0:0:0:once:1:allow:every:1:0"})
    EXPECT_FALSE(read_definition(text)) << text;
}

TEST(Definition, WhatTicksLeftBehind) {
  const auto ran = read_ran("5:6:7:nightly.5");
  EXPECT_EQ(ran.last_ms, 5);
  EXPECT_EQ(ran.made, 6U);
  EXPECT_EQ(ran.skipped, 7U);
  EXPECT_EQ(ran.job, "nightly.5");
  EXPECT_EQ(read_ran("").made, 0U);
  EXPECT_EQ(read_ran("5:6").last_ms, 0);
}

TEST(SchedulerId, B6_AnythingButAPlainNameIsRefusedAndNamed) {
  for (const auto& id :
       std::vector<std::string>{"a", "nightly", "a.b_c-D9", "1", std::string(200, 'x')})
    EXPECT_TRUE(check_scheduler_id(id)) << id;
  for (const auto& id : std::vector<std::string>{"", "a:b:c:d:e:f", "{a}", "a b", "\xC3\xA4", "a/b",
                                                 std::string("a\0b", 3), std::string(201, 'x')}) {
    const auto checked = check_scheduler_id(id);
    ASSERT_FALSE(checked) << id;
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_name);
    ASSERT_NE(checked.error().field("value"), nullptr);
    EXPECT_EQ(*checked.error().field("value"), id);
  }
}

TEST(SchedulerId, TheTickOfAJobIsReadFromItsId) {
  EXPECT_EQ(tick_id("a.b", 17), "a.b.17");
  EXPECT_EQ(scheduled_tick("a.b.17"), (ScheduledTick{"a.b", 17}));
  EXPECT_TRUE(check_job_id(tick_id(std::string(200, 'x'), kMaxScheduleMs)));
  for (const auto* const id :
       {"", "17", "a", "a.", ".17", "a.b", "a.017", "a.-1", "a:b.17", "a.1 "})
    EXPECT_FALSE(scheduled_tick(id)) << id;
}

// "12->14:16+1": a job for the tick of 14 o'clock, leading on to 16, one skipped; "x" for none.
std::vector<std::string> walk(const Schedule& schedule, std::int64_t next_ms, std::int64_t now_ms,
                              std::uint64_t made = 0, std::size_t room = 256) {
  const auto timetable = Timetable::of(schedule).value();
  const auto hour = [](std::int64_t ms) {
    return ms == 0 ? std::string("x") : std::to_string((ms - kNoon) / kHour + 12);
  };
  std::vector<std::string> all;
  for (const auto& step : steps(schedule, timetable, next_ms, made, now_ms, room))
    all.push_back(hour(step.seen_ms) + "->" + hour(step.tick_ms) + ":" + hour(step.next_ms) +
                  (step.skipped == 0 ? "" : "+" + std::to_string(step.skipped)));
  return all;
}

TEST(Steps, ATickInTimeIsMadeWhateverBecomesOfMissedOnes) {
  for (const auto missed : {Missed::skip(), Missed::run_once(), Missed::run_all()})
    EXPECT_THAT(walk({.when = Every{1h}, .missed = missed}, kNoon, kNoon + 60'000),
                ElementsAre("12->12:13"));
}

TEST(Steps, P16_MissedTicksAreSkippedRunOnceOrAllRun) {
  const auto now = kNoon + 3 * kHour + 90'000;
  EXPECT_THAT(walk({.when = Every{1h}, .missed = Missed::skip()}, kNoon, now),
              ElementsAre("12->x:16+4"));
  EXPECT_THAT(walk({.when = Every{1h}, .missed = Missed::run_once()}, kNoon, now),
              ElementsAre("12->15:16+3"));
  EXPECT_THAT(walk({.when = Every{1h}, .missed = Missed::run_all()}, kNoon, now),
              ElementsAre("12->12:13", "13->13:14", "14->14:15", "15->15:16"));
  EXPECT_THAT(walk({.when = Every{1h}, .missed = Missed::run_all(2)}, kNoon, now),
              ElementsAre("12->14:15+2", "15->15:16"));
}

TEST(Steps, TheNewestIsInTimeAlthoughOthersBeforeItAreMissed) {
  EXPECT_THAT(walk({.when = Every{1h}, .missed = Missed::skip()}, kNoon, kNoon + 3 * kHour + 5),
              ElementsAre("12->15:16+3"));
}

TEST(Steps, TheLimitEndsIt) {
  Schedule schedule{.when = Every{1h}, .limit = 5, .missed = Missed::run_all()};
  EXPECT_THAT(walk(schedule, kNoon, kNoon, 4), ElementsAre("12->12:x"));
  EXPECT_THAT(walk(schedule, kNoon, kNoon + 3 * kHour, 3), ElementsAre("12->14:15+2", "15->15:x"));
  EXPECT_THAT(walk(schedule, kNoon, kNoon, 5), ElementsAre("12->x:x"));
}

TEST(Steps, TheEndEndsIt) {
  EXPECT_THAT(walk({.when = Every{1h}, .end_ms = kNoon + kHour}, kNoon + kHour, kNoon + kHour),
              ElementsAre("13->13:x"));
}

TEST(Steps, WhereTheLastJobIsLookedAtOneIsMadeAtATime) {
  EXPECT_THAT(walk({.when = Every{1h}, .missed = Missed::run_all(), .overlap = Overlap::skip},
                   kNoon, kNoon + 2 * kHour),
              ElementsAre("12->14:15+2"));
}

TEST(Steps, WhatDoesNotFitGoesOnWhereItStopped) {
  const Schedule schedule{.when = Every{1h}, .missed = Missed::run_all()};
  EXPECT_THAT(walk(schedule, kNoon, kNoon + 3 * kHour, 0, 2),
              ElementsAre("12->12:13", "13->13:14"));
}

}  // namespace
}  // namespace echomq::schedule
