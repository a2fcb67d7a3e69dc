// SPDX-License-Identifier: MIT
// job/reschedule: another delay for delayed jobs, or none at all.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobReschedule : public ScriptTest {};

TEST_F(JobReschedule, WithoutADelayJobsAreReadyInTheOrderGiven) {
  q.add({{.id = "a", .delay = 5'000}, {.id = "b", .delay = 1'000}, {.id = "c", .delay = 9'000}});
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(statuses(q.reschedule({{"c"}, {"a"}})), "ok ok");
  EXPECT_EQ(list(q.keys.wait), "c a");
  EXPECT_EQ(q.field("a", "delay"), "0");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})),
            "[[2-0 [at 1800000000000 promoted c a]]]");
}

// B40: the priority is kept, and the jobs that are ready with it go first.
TEST_F(JobReschedule, B40_KeepsPriorityAndLifo) {
  q.add({{.id = "p5", .delay = 5'000, .priority = 5},
         {.id = "p1", .delay = 5'000, .priority = 1},
         {.id = "front", .delay = 5'000, .lifo = true},
         {.id = "back", .delay = 5'000}});
  q.add({{.id = "now"}, {.id = "now1", .priority = 1}});
  EXPECT_EQ(statuses(q.reschedule({{"p5"}, {"p1"}, {"front"}, {"back"}})), "ok ok ok ok");
  EXPECT_EQ(q.field("p5", "place"), q.score(q.keys.prioritized, "p5"));
  EXPECT_EQ(q.claim(6).ids(), "front now back now1 p1 p5");
}

TEST_F(JobReschedule, AnotherDelayCountsFromNow) {
  q.add({{.id = "a", .delay = 5'000}, {.id = "b", .delay = 6'000}});
  redis({"DEL", q.keys.marker});
  q.now += 1'000;
  EXPECT_EQ(statuses(q.reschedule({{"a", 60'000}, {"b", 500}})), "ok ok");
  EXPECT_EQ(q.score(q.keys.delayed, "a"), "1800000061000");
  EXPECT_EQ(q.score(q.keys.delayed, "b"), "1800000001500");
  EXPECT_EQ(q.field("a", "delay"), "60000");
  EXPECT_EQ(q.score(q.keys.marker, "1"), "1800000001500");
  EXPECT_EQ(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})),
            "[[2-0 [at 1800000001000 delayed a b]]]");
}

TEST_F(JobReschedule, OnlyDelayedJobs) {
  q.add({{.id = "w"}, {.id = "d", .delay = 5'000}});
  EXPECT_EQ(statuses(q.reschedule({{"w"}, {"d"}, {"d"}, {"never"}})), "state ok state gone");
  expect_unchanged("state state gone", [&] {
    return q.reschedule({{"w", 5}, {"d"}, {"never", 5}});
  });
}

TEST_F(JobReschedule, AJobWithoutItsHashIsGone) {
  q.add({{.id = "a", .delay = 100}, {.id = "b", .delay = 100}});
  redis({"DEL", q.job("a")});
  EXPECT_EQ(statuses(q.reschedule({{"a"}, {"b"}})), "gone ok");
  EXPECT_EQ(redis({"ZCARD", q.keys.delayed}).integer, 0);
  EXPECT_FALSE(dump().contains(q.job("a")));
}

TEST_F(JobReschedule, ACrashedJobGoesToTheCrashedLane) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired(), 5);
  q.retry({{.run = q.claim(1).runs.at(0), .delay = 100}});
  EXPECT_EQ(statuses(q.reschedule({{"a"}})), "ok");
  EXPECT_EQ(list(q.keys.crashed), "a");
}

}  // namespace
}  // namespace echomq::test
