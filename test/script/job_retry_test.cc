// SPDX-License-Identifier: MIT
// job/retry: another attempt, at once or later, in the job's old place.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobRetry : public ScriptTest {};

TEST_F(JobRetry, AtOncePutsTheJobAtTheBackOfWait) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto run = q.claim(1).runs.at(0);
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(statuses(q.retry({{.run = run, .reason = "no disk", .ats = 2, .atm = 1}})), "ok");
  EXPECT_EQ(list(q.keys.wait), "b a");
  EXPECT_EQ(dump()[q.job("a")],
            "hash 'data={}' 'delay=0' 'failedReason=no disk' 'head=1800000000000:3:job' "
            "'run=2:1:0:1800000000000:0::worker-1'");
  EXPECT_EQ(q.active(), 0);
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
}

TEST_F(JobRetry, AfterADelayTheJobIsDelayed) {
  q.add({{.id = "a"}, {.id = "p", .priority = 3}});
  const auto runs = q.claim(2).runs;
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(
      statuses(q.retry({{.run = runs.at(0), .delay = 5'000}, {.run = runs.at(1), .delay = 2'000}})),
      "ok ok");
  EXPECT_EQ(q.score(q.keys.delayed, "a"), "1800000005000");
  EXPECT_EQ(q.field("a", "delay"), "5000");
  EXPECT_EQ(q.score(q.keys.marker, "1"), "1800000002000");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
  EXPECT_EQ(list(q.keys.wait), "");
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000000000 retried a p delayed a p]]]");
}

TEST_F(JobRetry, APrioritizedJobGoesBackToItsPlace) {
  q.add({{.id = "p1", .priority = 3}, {.id = "p2", .priority = 3}});
  const auto run = q.claim(1).runs.at(0);
  q.add({{.id = "p0", .priority = 2}});
  EXPECT_EQ(statuses(q.retry({{.run = run}})), "ok");
  EXPECT_EQ(q.claim(3).ids(), "p0 p1 p2");
}

TEST_F(JobRetry, ALifoJobGoesBackToTheFront) {
  q.add({{.id = "a"}, {.id = "x", .lifo = true}});
  const auto run = q.claim(1).runs.at(0);
  EXPECT_EQ(statuses(q.retry({{.run = run}})), "ok");
  EXPECT_EQ(list(q.keys.wait), "x a");
}

TEST_F(JobRetry, AJobThatCrashedBeforeGoesBackToTheCrashedLane) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired(), 5);
  const auto run = q.claim(1).runs.at(0);
  EXPECT_EQ(statuses(q.retry({{.run = run}})), "ok");
  EXPECT_EQ(list(q.keys.crashed), "a");
  EXPECT_EQ(list(q.keys.wait), "");
}

TEST_F(JobRetry, AnswersPerItem) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const auto runs = q.claim(3).runs;
  q.finish({{.run = runs.at(1)}});
  redis({"DEL", q.job("c")});
  EXPECT_EQ(
      statuses(q.retry(
          {{.run = runs.at(1)}, {.run = runs.at(2)}, {.run = runs.at(0)}, {.run = {"never", 1}}})),
      "stale gone ok gone");
  EXPECT_EQ(list(q.keys.wait), "a");
  EXPECT_FALSE(dump().contains(q.job("c")));
  EXPECT_FALSE(dump().contains(q.job("never")));
  EXPECT_EQ(q.active(), 0);
}

TEST_F(JobRetry, ARepeatIsStaleAndQueuesNothingTwice) {
  q.add({{.id = "a"}});
  const auto run = q.claim(1).runs.at(0);
  q.retry({{.run = run}});
  expect_unchanged("stale", [&] { return q.retry({{.run = run}}); });
}

TEST_F(JobRetry, AKeyOfAnotherTypeInTheHashesPlaceIsGone) {
  q.add({{.id = "a"}});
  const auto run = q.claim(1).runs.at(0);
  redis({"DEL", q.job("a")});
  redis({"SET", q.job("a"), "foreign"});
  EXPECT_EQ(statuses(q.retry({{.run = run}})), "gone");
  EXPECT_EQ(redis({"GET", q.job("a")}).text, "foreign");
  EXPECT_EQ(list(q.keys.wait), "");
  EXPECT_EQ(q.active(), 0);
}

TEST_F(JobRetry, OnAPausedQueueWakesNobody) {
  q.add({{.id = "a"}});
  const auto run = q.claim(1).runs.at(0);
  redis({"HSET", q.keys.meta, "pause", "1"});
  redis({"DEL", q.keys.marker});
  q.retry({{.run = run}});
  EXPECT_EQ(list(q.keys.wait), "a");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
}

}  // namespace
}  // namespace echomq::test
