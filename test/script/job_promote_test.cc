// SPDX-License-Identifier: MIT
// job/promote: delayed jobs whose time has come become ready, in the order of their times.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobPromote : public ScriptTest {};

TEST_F(JobPromote, MakesDueJobsReadyInTheirOrder) {
  q.add({{.id = "c", .delay = 300},
         {.id = "a", .delay = 200},
         {.id = "b", .delay = 100},
         {.id = "z", .delay = 9'000}});
  q.now += 1'000;
  redis({"DEL", q.keys.marker});
  const auto due = q.peek_due();
  ASSERT_EQ(due.size(), 3U);
  const auto reply = q.promote(due);
  EXPECT_EQ(statuses(reply), "ok ok ok");
  EXPECT_EQ(second(reply), "1800000009000");
  EXPECT_EQ(q.field("a", "delay"), "0");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(q.score(q.keys.marker, "1"), "1800000009000");
  EXPECT_EQ(q.claim(5).ids(), "b a c");
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000001000 promoted b a c]]]");
}

TEST_F(JobPromote, WhatIsNamedTwiceIsReadyOnce) {
  q.add({{.id = "a", .delay = 100}});
  q.now += 100;
  auto due = q.peek_due();
  due.push_back(due.at(0));
  EXPECT_EQ(statuses(q.promote(due)), "ok moved");
  EXPECT_EQ(list(q.keys.wait), "a");
}

TEST_F(JobPromote, TheLastOneLeavesNoTimer) {
  q.add({{.id = "a", .delay = 100}});
  q.now += 100;
  EXPECT_EQ(second(q.promote(q.peek_due())), "0");
}

TEST_F(JobPromote, KeepsPriorityAndLifo) {
  q.add({{.id = "p5", .delay = 100, .priority = 5},
         {.id = "p1", .delay = 200, .priority = 1},
         {.id = "x", .delay = 300, .lifo = true},
         {.id = "a", .delay = 100}});
  q.add({{.id = "now"}, {.id = "p1-now", .priority = 1}});
  q.now += 1'000;
  EXPECT_EQ(statuses(q.promote(q.peek_due())), "ok ok ok ok");
  EXPECT_EQ(q.field("p5", "place"), q.score(q.keys.prioritized, "p5"));
  EXPECT_EQ(q.claim(6).ids(), "x now a p1-now p1 p5");
}

TEST_F(JobPromote, WhatHasMovedIsLeftAlone) {
  q.add({{.id = "early", .delay = 100},
         {.id = "later", .delay = 5'000},
         {.id = "changed", .delay = 100}});
  q.now += 1'000;
  redis({"ZADD", q.keys.delayed, "1800000000999", "changed"});
  const auto changed = std::string("1800000000100");
  EXPECT_EQ(
      statuses(q.promote(
          {{"never", "5"}, {"early", changed}, {"later", "1800000005000"}, {"changed", changed}})),
      "moved ok moved moved");
  EXPECT_EQ(list(q.keys.wait), "early");
  EXPECT_EQ(redis({"ZCARD", q.keys.delayed}).integer, 2);
  expect_unchanged("moved", [&] { return q.promote({{"early", changed}}); });
}

TEST_F(JobPromote, AJobWithoutItsHashIsGone) {
  q.add({{.id = "a", .delay = 100}, {.id = "b", .delay = 100}, {.id = "c", .delay = 100}});
  redis({"DEL", q.job("a"), q.job("b")});
  redis({"SET", q.job("b"), "foreign"});
  q.now += 1'000;
  EXPECT_EQ(statuses(q.promote(q.peek_due())), "gone gone ok");
  EXPECT_EQ(list(q.keys.wait), "c");
  EXPECT_EQ(redis({"ZCARD", q.keys.delayed}).integer, 0);
  EXPECT_FALSE(dump().contains(q.job("a")));
  EXPECT_EQ(redis({"GET", q.job("b")}).text, "foreign");
}

TEST_F(JobPromote, ARetriedJobKeepsItsPlaceOverTheDelay) {
  q.add({{.id = "p1", .priority = 3}, {.id = "p2", .priority = 3}});
  const auto run = q.claim(1).runs.at(0);
  q.retry({{.run = run, .delay = 100}});
  q.now += 1'000;
  q.promote(q.peek_due());
  EXPECT_EQ(q.claim(2).ids(), "p1 p2");
}

TEST_F(JobPromote, ACrashedJobGoesToTheCrashedLane) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired(), 5);
  q.retry({{.run = q.claim(1).runs.at(0), .delay = 100}});
  q.now += 1'000;
  EXPECT_EQ(statuses(q.promote(q.peek_due())), "ok");
  EXPECT_EQ(list(q.keys.crashed), "a");
}

TEST_F(JobPromote, OnAPausedQueueWakesNobody) {
  q.add({{.id = "a", .delay = 100}});
  redis({"HSET", q.keys.meta, "pause", "1"});
  q.now += 1'000;
  q.promote(q.peek_due());
  EXPECT_EQ(list(q.keys.wait), "a");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
}

}  // namespace
}  // namespace echomq::test
