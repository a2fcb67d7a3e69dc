// SPDX-License-Identifier: MIT
// job/retry_finished: finished jobs are ready once more, as what they are and without what their
// last run left.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobRetryFinished : public ScriptTest {};

TEST_F(JobRetryFinished, ClearsWhatTheLastRunLeft) {
  q.add({{.id = "a", .data = "the data", .opts = "{\"attempts\":3}"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  q.progress({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(0), .value = "result", .ats = 4, .atm = 3}});
  q.finish({{.run = runs.at(1), .completed = false, .ats = 1, .atm = 1}});
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(statuses(q.retry_finished({"b", "a"})), "ok ok");
  for (const char* const field : {"returnvalue", "failedReason", "progress"})
    EXPECT_EQ(q.field("a", field), "(nil)") << field;
  EXPECT_EQ(q.field("b", "failedReason"), "(nil)");
  EXPECT_EQ(q.run("a"), "4:0:0:0:0::");
  EXPECT_EQ(q.field("a", "data"), "the data");
  EXPECT_EQ(q.field("a", "head"), "1800000000000:3:job{\"attempts\":3}");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})),
            "[[5-0 [at 1800000000000 retried b a]]]");
  EXPECT_EQ(q.claim(5).ids(), "b a");
}

TEST_F(JobRetryFinished, AttemptsMayStay) {
  q.add({{.id = "a"}});
  q.finish({{.run = q.claim(1).runs.at(0), .completed = false, .atm = 3}});
  EXPECT_EQ(statuses(q.retry_finished({"a"}, {.reset_attempts = false})), "ok");
  EXPECT_EQ(q.run("a"), "1:3:0:0:0::");
}

// B40: the bulk path knows priorities.
TEST_F(JobRetryFinished, B40_KeepsThePriorityAndGoesBehindThoseThatAreReady) {
  q.add({{.id = "p5", .priority = 5}, {.id = "p1", .priority = 1}, {.id = "w"}});
  std::vector<FinishItem> ends;
  for (const auto& run : q.claim(3).runs) ends.push_back({.run = run, .completed = false});
  q.finish(ends);
  q.add({{.id = "now5", .priority = 5}, {.id = "now1", .priority = 1}, {.id = "now"}});
  EXPECT_EQ(statuses(q.retry_finished({"p5", "w", "p1"})), "ok ok ok");
  EXPECT_EQ(q.claim(6).ids(), "now w now1 p1 now5 p5");
}

TEST_F(JobRetryFinished, AJobThatCrashedGoesBackToItsLane) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired(), 0);
  ASSERT_EQ(redis({"ZCARD", q.keys.failed}).integer, 1);
  EXPECT_EQ(statuses(q.retry_finished({"a"})), "ok");
  EXPECT_EQ(list(q.keys.crashed), "a");
  EXPECT_EQ(q.run("a"), "1:0:1:0:0::");
}

TEST_F(JobRetryFinished, OnlyOutOfTheSetsThatTheCallerMeans) {
  q.add({{.id = "done"}, {.id = "broken"}, {.id = "waits"}, {.id = "evicted"}});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(1), .completed = false}});
  redis({"SADD", q.keys.trash, "evicted"});
  expect_unchanged("state state state gone gone", [&] {
    return q.retry_finished({"done", "broken", "waits", "evicted", "never"},
                            {.completed = false, .failed = false});
  });
  EXPECT_EQ(statuses(q.retry_finished({"done", "broken"}, {.completed = false})), "state ok");
  EXPECT_EQ(statuses(q.retry_finished({"done", "done"})), "ok state");
}

TEST_F(JobRetryFinished, AJobWithoutItsHashIsGone) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(1), .completed = false}});
  redis({"DEL", q.job("a"), q.job("b")});
  EXPECT_EQ(statuses(q.retry_finished({"a", "b"})), "gone gone");
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 0 0 0 0 0 0]");
  EXPECT_FALSE(dump().contains(q.job("a")));
}

// A finish that comes late must not end the new run.
TEST_F(JobRetryFinished, ARepeatedFinishOfTheOldRunIsStale) {
  q.add({{.id = "a"}});
  const auto run = q.claim(1).runs.at(0);
  q.finish({{.run = run}});
  q.retry_finished({"a"});
  EXPECT_EQ(statuses(q.finish({{.run = run}})), "stale");
}

}  // namespace
}  // namespace echomq::test
