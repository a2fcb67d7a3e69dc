// SPDX-License-Identifier: MIT
// job/prioritize: another priority for a job that is not finished, wherever it is.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobPrioritize : public ScriptTest {
 protected:
  static constexpr unsigned kGreatest = 2'097'151;
};

TEST_F(JobPrioritize, MovesReadyJobsBehindThoseThatHaveIt) {
  q.add({{.id = "w"}, {.id = "p9", .priority = 9}, {.id = "p4", .priority = 4}});
  q.add({{.id = "x4", .priority = 4}});
  EXPECT_EQ(statuses(q.prioritize({"w", "p9"}, 4)), "ok ok");
  EXPECT_EQ(q.field("w", "place"), q.score(q.keys.prioritized, "w"));
  EXPECT_EQ(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})),
            "[[3-0 [at 1800000000000 prioritized w p9]]]");
  EXPECT_EQ(q.claim(5).ids(), "p4 x4 w p9");
}

// FIFO within one priority, at the greatest too.
TEST_F(JobPrioritize, B38_AtTheMaximumTheOrderOfTheChangesHolds) {
  for (const char* const id : {"e", "d", "c", "b", "a"}) q.add({{.id = id, .priority = 1}});
  for (const char* const id : {"c", "e", "a", "d", "b"})
    EXPECT_EQ(statuses(q.prioritize({id}, kGreatest)), "ok");
  q.add({{.id = "last", .priority = kGreatest}});
  EXPECT_EQ(q.claim(6).ids(), "c e a d b last");
}

TEST_F(JobPrioritize, ToNoPriorityIsTheBackOfTheLine) {
  q.add({{.id = "p", .priority = 3}, {.id = "w"}});
  EXPECT_EQ(statuses(q.prioritize({"p"}, 0)), "ok");
  EXPECT_EQ(list(q.keys.wait), "w p");
  EXPECT_EQ(q.field("p", "priority") + q.field("p", "place"), "(nil)(nil)");
}

TEST_F(JobPrioritize, TheSamePriorityKeepsThePlace) {
  q.add({{.id = "a", .priority = 3}, {.id = "b", .priority = 3}, {.id = "w"}});
  expect_unchanged("ok", [&] { return q.prioritize({"a"}, 3); });
  expect_unchanged("ok", [&] { return q.prioritize({"w"}, 0); });
}

TEST_F(JobPrioritize, ADelayedJobHasItWhenItIsReady) {
  q.add({{.id = "d", .delay = 100}, {.id = "dp", .delay = 100, .priority = 1}});
  EXPECT_EQ(statuses(q.prioritize({"d", "dp"}, 2)), "ok ok");
  q.add({{.id = "p2", .priority = 2}, {.id = "p1", .priority = 1}});
  q.now += 1'000;
  q.promote(q.peek_due());
  EXPECT_EQ(q.claim(4).ids(), "p1 p2 d dp");
}

TEST_F(JobPrioritize, ARunningJobHasItWhenItComesBack) {
  q.add({{.id = "a"}, {.id = "b", .priority = 9}});
  const auto runs = q.claim(2).runs;
  EXPECT_EQ(statuses(q.prioritize({"a", "b"}, 5)), "ok ok");
  q.add({{.id = "p5", .priority = 5}});
  EXPECT_EQ(statuses(q.release({{.run = runs.at(0)}})), "ok");
  EXPECT_EQ(statuses(q.retry({{.run = runs.at(1)}})), "ok");
  EXPECT_EQ(q.claim(3).ids(), "a b p5");
}

TEST_F(JobPrioritize, AJobThatCrashedStaysInItsLane) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired(), 5);
  EXPECT_EQ(statuses(q.prioritize({"a"}, 5)), "ok");
  EXPECT_EQ(list(q.keys.crashed), "a");
  EXPECT_EQ(redis({"ZCARD", q.keys.prioritized}).integer, 0);
  EXPECT_EQ(q.field("a", "priority"), "5");
}

TEST_F(JobPrioritize, AFinishedJobHasNone) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(1), .completed = false}});
  expect_unchanged("state state gone", [&] { return q.prioritize({"a", "b", "never"}, 5); });
}

TEST_F(JobPrioritize, DeepInTheLineByItsPlace) {
  for (int from = 0; from < 1'500; from += 250) {
    std::vector<JobToAdd> jobs;
    for (int i = from; i < from + 250; ++i) jobs.push_back({.id = "j" + std::to_string(i)});
    q.add(jobs);
  }
  expect_unchanged("moved", [&] { return q.prioritize({"j750"}, 1); });
  EXPECT_EQ(statuses(q.prioritize({"j750"}, 1, 700)), "ok");
  EXPECT_EQ(show(q.counts()), "[1499 1 0 0 0 0 0 0 0 0]");
}

TEST_F(JobPrioritize, OnAPausedQueueWakesNobody) {
  q.add({{.id = "a"}});
  q.pause(true);
  redis({"DEL", q.keys.marker});
  q.prioritize({"a"}, 3);
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
}

}  // namespace
}  // namespace echomq::test
