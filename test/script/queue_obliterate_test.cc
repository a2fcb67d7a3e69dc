// SPDX-License-Identifier: MIT
// queue/obliterate: the end of a queue that holds no job any more, and of nothing else.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class QueueObliterate : public ScriptTest {
 protected:
  // "meta id repeat active": what is left, in the order of the dump.
  std::string left() {
    std::string all;
    for (const auto& [key, content] : dump())
      all += (all.empty() ? "" : " ") + key.substr(key.find("}:") + 2);
    return all;
  }
};

TEST_F(QueueObliterate, WhatIsLeftIsASentinelOrTheMeta) {
  redis({"HSET", q.keys.meta, "event_cap", "77"});
  q.add({{.id = "a", .priority = 1}, {.id = "b"}});
  q.pause(true);
  EXPECT_EQ(statuses(q.remove({"a", "b"})), "ok ok");
  for (const auto& key : {q.keys.limiter, q.keys.outbox, q.keys.de, q.keys.de_due, q.keys.de_next})
    redis({"HSET", key, "a", "b"});
  q.now += 1'000;
  EXPECT_EQ(q.obliterate().integer, 1) << "nobody looked at what the outbox holds";
  EXPECT_EQ(q.obliterate(false, 1).integer, 0);
  EXPECT_EQ(left(), "active id meta repeat");
  EXPECT_EQ(dump().at(q.keys.meta),
            "hash 'concurrency=echomq:2.0.0' 'created=1800000001000' 'event_cap=77' 'event_seq=3' "
            "'min_revision=1' "
            "'version=echomq:2.0.0'");
  EXPECT_EQ(show(q.open()), "0") << "it is a queue as any other";
  EXPECT_EQ(statuses(q.add({{.id = "a"}})), "ok");
  EXPECT_EQ(q.claim(1).ids(), "a") << "and not paused";
}

TEST_F(QueueObliterate, WithAllNothingIsLeft) {
  q.add({{.id = "a"}});
  q.remove({"a"});
  EXPECT_EQ(q.obliterate(/*all=*/true).integer, 0);
  EXPECT_EQ(left(), "");
  EXPECT_EQ(show(q.open()), "1");
}

TEST_F(QueueObliterate, AJobInAnyStateIsCountedAndNothingGoes) {
  q.add({{.id = "done"}, {.id = "broken"}, {.id = "dropped"}, {.id = "died"}});
  const auto runs = q.claim(4, {.lease_ms = 1'000}).runs;
  q.finish({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(1), .completed = false}});
  q.keep_completed = {.count = 0};
  q.finish({{.run = runs.at(2)}});
  q.now += 10'000;
  q.recover(q.peek_expired(), 9);
  q.add({{.id = "waits"}, {.id = "placed", .priority = 2}, {.id = "later", .delay = 5'000}});
  ASSERT_EQ(q.claim(1).ids(), "died");
  redis({"ZADD", q.keys.waiting_children, "1", "parent"});
  const auto before = dump();
  for (const bool all : {false, true}) EXPECT_EQ(q.obliterate(all).integer, 8);
  EXPECT_EQ(difference(before, dump()), "");
}

// A scheduler would make the next job of a queue that is thought to be empty.
TEST_F(QueueObliterate, ASchedulerIsCountedAndNothingGoes) {
  q.put_scheduler({.id = "a", .next = std::to_string(q.now)});
  q.put_scheduler({.id = "b"});
  const auto before = dump();
  for (const bool all : {false, true}) EXPECT_EQ(q.obliterate(all).integer, 2);
  EXPECT_EQ(difference(before, dump()), "");
  q.remove_schedulers({"a", "b"});
  EXPECT_EQ(q.obliterate().integer, 0);
  EXPECT_EQ(left(), "active id meta repeat");
}

// The hold is over with the jobs that it was for: no claim looks for it any more.
TEST_F(QueueObliterate, AQueueThatWasHeldIsNotLimitedAfterwards) {
  q.hold(60'000);
  ASSERT_EQ(q.obliterate().integer, 0);
  EXPECT_EQ(show(redis({"HGET", q.keys.meta, "limits"})), "(nil)");
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 0 0 0 0 0 0]");
}

TEST_F(QueueObliterate, LimitsStayAndAHoldBesideThemDoesNot) {
  q.limit({.concurrency = "2"});
  q.hold(60'000);
  ASSERT_EQ(q.obliterate().integer, 0);
  EXPECT_EQ(show(q.gate()), "[open 0 2 0 0 0 0 0]");
}

TEST_F(QueueObliterate, GhostsAreNoJobs) {
  std::vector<JobToAdd> jobs;
  std::vector<std::string> ids;
  for (int from = 0; from < 1'250; from += 250) {
    jobs.clear();
    for (int i = from; i < from + 250; ++i) jobs.push_back({.id = "j" + std::to_string(i)});
    q.add(jobs);
  }
  ASSERT_EQ(statuses(q.remove({"j600"}, {.seen = 600})), "ok");
  ASSERT_EQ(redis({"HGET", q.keys.ghosts, "wait"}).text, "1");
  EXPECT_EQ(q.obliterate().integer, 1'249);
  redis({"LTRIM", q.keys.wait, "600", "600"});
  EXPECT_EQ(q.obliterate().integer, 0);
  EXPECT_EQ(redis({"EXISTS", q.keys.wait, q.keys.ghosts}).integer, 0);
}

// P10: somebody deleted `ghosts`, or a line whose ghosts are counted still.
TEST_F(QueueObliterate, P10_AWrongCountOfGhostsKeepsNothing) {
  std::vector<std::string> entries{"RPUSH", q.keys.wait};
  entries.insert(entries.end(), 5'000, "");
  redis(entries);
  EXPECT_EQ(q.obliterate().integer, 904) << "the first 4,096 went";
  EXPECT_EQ(q.obliterate().integer, 0);
  redis({"RPUSH", q.keys.crashed, "", "died"});
  EXPECT_EQ(q.obliterate().integer, 1);
  EXPECT_EQ(show(redis({"LRANGE", q.keys.crashed, "0", "-1"})), "[died]");
  redis({"DEL", q.keys.crashed});
  redis({"HSET", q.keys.ghosts, "wait", "7", "crashed", "3"});
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 0 0 0 0 0 0]");
  q.add({{.id = "later", .delay = 5'000}});
  EXPECT_EQ(q.obliterate().integer, 1);
}

}  // namespace
}  // namespace echomq::test
