// SPDX-License-Identifier: MIT
// job/remove: out of every state but active, with all keys; out of the middle of a long line by
// leaving a ghost, which counts and claims know of.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probe/planned.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobRemove : public ScriptTest {
 protected:
  // A line of `count` waiting jobs j0, j1...
  void fill(int count) {
    for (int from = 0; from < count; from += 250) {
      std::vector<JobToAdd> jobs;
      for (int i = from; i < std::min(count, from + 250); ++i)
        jobs.push_back({.id = "j" + std::to_string(i)});
      q.add(jobs);
    }
  }
  // The same, each of which has been through a crash.
  void fill_crashed(int count) {
    fill(count);
    for (int i = 0; i < count; ++i)
      redis({"HSET", q.job("j" + std::to_string(i)), "run", "1:0:1:0:0::w"});
    redis({"RENAME", q.keys.wait, q.keys.crashed});
  }
  // By claims of one job, and how many that takes.
  std::pair<std::string, int> claim_the_next() {
    int calls = 0;
    std::string next;
    while (next.empty() && ++calls < 20) next = q.claim(1).ids();
    return {next, calls};
  }
  std::int64_t waiting() { return q.counts().items.at(0).integer; }
};

TEST_F(JobRemove, TakesAJobOutOfEachState) {
  q.add({{.id = "done"}, {.id = "broken"}, {.id = "died"}});
  const auto runs = q.claim(3, {.lease_ms = 1'000}).runs;
  q.finish({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(1), .completed = false}});
  q.now += 10'000;
  ASSERT_EQ(statuses(q.recover(q.peek_expired(), 9)), "ok");
  q.add({{.id = "waits"}, {.id = "placed", .priority = 2}, {.id = "later", .delay = 5'000}});
  EXPECT_EQ(statuses(q.remove({"done", "broken", "died", "waits", "placed", "later"})),
            "ok ok ok ok ok ok");
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 0 0 0 0 0 0]");
  EXPECT_EQ(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})),
            "[[6-0 [at 1800000010000 removed done broken died waits placed later]]]");
  for (const auto& [key, content] : dump())
    EXPECT_EQ(parse_key(key)->kind, KeyKind::structure) << key << " was left";
}

TEST_F(JobRemove, ARunningJobIsRefused) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto run = q.claim(1).runs.at(0);
  EXPECT_EQ(statuses(q.remove({"a", "b"})), "lock ok");
  EXPECT_EQ(statuses(q.finish({{.run = run}})), "ok");
  EXPECT_EQ(statuses(q.remove({"a"})), "ok");
}

TEST_F(JobRemove, WhatIsNoJobIsGone) {
  q.keep_completed = {.count = 0};
  q.add({{.id = "evicted"}, {.id = "lost"}, {.id = "twice"}});
  q.finish({{.run = q.claim(1).runs.at(0)}});
  redis({"DEL", q.job("lost")});
  EXPECT_EQ(statuses(q.remove({"evicted", "never", "lost", "twice", "twice"})),
            "gone gone gone ok gone");
  EXPECT_EQ(redis({"SISMEMBER", q.keys.trash, "evicted"}).integer, 1);
  EXPECT_EQ(redis({"LLEN", q.keys.wait}).integer, 0) << "the entry of the lost one goes too";
  expect_unchanged("gone", [&] { return q.remove({"never"}); });
}

// It is there: whoever is told `gone` would not look for it again.
TEST_F(JobRemove, WhatIsNamedTwiceAndNotFoundIsNotGone) {
  fill(1'000);
  EXPECT_EQ(statuses(q.remove({"j500", "j500"})), "moved moved");
}

// A caller that saw a job in a state removes it only while it is there: between the look and the
// call it may have been retried, promoted or claimed.
TEST_F(JobRemove, OnlyFromTheStateThatIsNamed) {
  q.add({{.id = "done"}, {.id = "broken"}, {.id = "runs"}});
  const auto runs = q.claim(3).runs;
  q.finish({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(1), .completed = false}});
  q.add({{.id = "waits"}, {.id = "placed", .priority = 2}, {.id = "later", .delay = 5'000}});
  const std::vector<std::string> all{"done", "broken", "runs", "waits", "placed", "later", "never"};
  expect_unchanged("state state lock state state state gone",
                   [&] { return q.remove(all, {.state = "waiting-children"}); });
  EXPECT_EQ(statuses(q.remove(all, {.state = "completed"})),
            "ok state lock state state state gone");
  EXPECT_EQ(statuses(q.remove(all, {.state = "failed"})), "gone ok lock state state state gone");
  EXPECT_EQ(statuses(q.remove(all, {.state = "waiting"})), "gone gone lock ok state state gone");
  EXPECT_EQ(statuses(q.remove(all, {.state = "prioritized"})), "gone gone lock gone ok state gone");
  EXPECT_EQ(statuses(q.remove(all, {.state = "delayed"})), "gone gone lock gone gone ok gone");
  EXPECT_EQ(statuses(q.remove(all, {.state = "active"})), "gone gone ok gone gone gone gone");
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 0 0 0 0 0 0]");
  EXPECT_EQ(statuses(q.finish({{.run = runs.at(2)}})), "gone")
      << "what its worker tells is refused";
  EXPECT_EQ(redis({"EXISTS", q.job("runs")}).integer, 0);
}

TEST_F(JobRemove, ACrashedJobIsAWaitingOne) {
  q.add({{.id = "died"}});
  q.claim(1, {.lease_ms = 1'000});
  q.now += 10'000;
  ASSERT_EQ(statuses(q.recover(q.peek_expired(), 9)), "ok");
  EXPECT_EQ(statuses(q.remove({"died"}, {.state = "prioritized"})), "state");
  EXPECT_EQ(statuses(q.remove({"died"}, {.state = "waiting"})), "ok");
}

TEST_F(JobRemove, OnlyWhatIsOldEnough) {
  q.add({{.id = "done"}, {.id = "waits"}, {.id = "bare"}});
  redis({"HSET", q.job("bare"), "head", "odd"});
  const auto added = std::to_string(q.now);
  q.now += 1'000;
  const auto ended = std::to_string(q.now);
  q.finish({{.run = q.claim(1).runs.at(0)}});
  const auto before = std::to_string(q.now - 1'001);
  expect_unchanged("state state", [&] { return q.remove({"done", "waits"}, {.before = before}); });
  EXPECT_EQ(statuses(q.remove({"done", "waits"}, {.before = added})), "state ok")
      << "what has ended is as old as its end";
  EXPECT_EQ(statuses(q.remove({"done"}, {.before = ended})), "ok");
  EXPECT_EQ(statuses(q.remove({"bare"}, {.before = before})), "ok") << "of no time: of long ago";
}

TEST_F(JobRemove, SubKeysGoWithTheJob) {
  q.add({{.id = "a"}, {.id = "b"}});
  q.log({{.id = "a"}, {.id = "b"}});
  EXPECT_EQ(statuses(q.remove({"a"})), "ok");
  EXPECT_EQ(redis({"EXISTS", job_key(q.name(), "a", Sub::logs)}).integer, 0);
  EXPECT_EQ(show(redis({"SMEMBERS", q.keys.subkeys})), "[b]");
}

// A tree is removed by what its parents have noted, and ids come back.
TEST_F(JobRemove, OnlyChildrenOfTheParentThatIsNamed) {
  const auto plan = q.name() + ":7";
  const auto parent = q.name() + ":p";
  q.add_flow(plan, plan_of(plan, {{.queue = q.name(), .id = "p"},
                                  {.queue = q.name(), .id = "c", .parent = 0},
                                  {.queue = q.name(), .id = "d", .parent = 0}}));
  q.add({{.id = "plain"}});
  EXPECT_EQ(statuses(q.remove({"plain", "p", "c", "never"}, {.of = q.name() + ":xp"})),
            "state state state gone");
  EXPECT_EQ(statuses(q.remove({"plain", "c", "never"}, {.of = parent})), "state ok gone");
  EXPECT_EQ(show(redis({"HGET", q.keys.outbox, "c " + parent})),
            "1:f:" + std::to_string(q.now) + ":f:removed before its end");
}

TEST_F(JobRemove, WhatAParentIsNotToldYetIsDatedAhead) {
  const auto plan = q.name() + ":7";
  const auto parent = q.name() + ":p";
  q.add_flow(plan, plan_of(plan, {{.queue = q.name(), .id = "p"},
                                  {.queue = q.name(), .id = "c", .parent = 0}}));
  const auto message = "1:f:" + std::to_string(q.now + 7) + ":f:removed before its end";
  EXPECT_EQ(show(q.remove({"c"}, {.told_in = 7, .of = parent})),
            "[[ok] [] [c " + parent + " " + message + "]]");
  EXPECT_EQ(redis({"HGET", q.keys.outbox, "c " + parent}).text, message);
}

TEST_F(JobRemove, NearAnEndOfTheLineExactly) {
  fill(2'000);
  EXPECT_EQ(statuses(q.remove({"j0", "j255", "j1999", "j1800"})), "ok ok ok ok");
  EXPECT_EQ(redis({"LLEN", q.keys.wait}).integer, 1'996);
  EXPECT_EQ(redis({"EXISTS", q.keys.ghosts}).integer, 0);
}

TEST_F(JobRemove, DeepInTheLineByItsPlaceAndLeavesAGhost) {
  fill(2'000);
  expect_unchanged("moved", [&] { return q.remove({"j1000"}); });
  expect_unchanged("moved", [&] { return q.remove({"j1000"}, {.seen = 500}); });
  EXPECT_EQ(statuses(q.remove({"j1000", "j1001"}, {.seen = 1'200})), "ok ok");
  EXPECT_EQ(redis({"LLEN", q.keys.wait}).integer, 2'000);
  EXPECT_EQ(redis({"HGET", q.keys.ghosts, "wait"}).text, "2");
  EXPECT_EQ(waiting(), 1'998);
  // The id may be used again at once: its old place is nobody's.
  EXPECT_EQ(statuses(q.add({{.id = "j1000"}})), "ok");
  EXPECT_EQ(waiting(), 1'999);
  std::string last;
  std::size_t claimed = 0;
  for (auto batch = q.claim(250); !batch.runs.empty(); batch = q.claim(250)) {
    claimed += batch.runs.size();
    last = batch.runs.back().id;
    for (const auto& run : batch.runs) EXPECT_FALSE(run.id.empty());
  }
  EXPECT_EQ(claimed, 1'999U);
  EXPECT_EQ(last, "j1000");
  EXPECT_EQ(redis({"HGET", q.keys.ghosts, "wait"}).text, "0");
}

// As in `wait`: nothing looks through all of it.
TEST_F(JobRemove, DeepInTheLineOfCrashedJobsToo) {
  fill_crashed(2'000);
  EXPECT_EQ(statuses(q.remove({"j0", "j255", "j1999"})), "ok ok ok");
  EXPECT_EQ(redis({"LLEN", q.keys.crashed}).integer, 1'997);
  expect_unchanged("moved", [&] { return q.remove({"j1000"}); });
  expect_unchanged("moved", [&] { return q.remove({"j1000"}, {.seen = 500}); });
  EXPECT_EQ(statuses(q.remove({"j1000", "j1001", "j1002"}, {.seen = 1'200})), "ok ok ok");
  EXPECT_EQ(redis({"LLEN", q.keys.crashed}).integer, 1'997);
  EXPECT_EQ(redis({"HGET", q.keys.ghosts, "crashed"}).text, "3");
  EXPECT_EQ(waiting(), 1'994);
  redis({"LTRIM", q.keys.crashed, "990", "-1"});
  std::string all;
  for (int i = 0; i < 10; ++i) all += q.claim(1).ids() + " ";
  EXPECT_EQ(all, "j992 j993 j994 j995 j996 j997 j998 j999 j1003 j1004 ");
  EXPECT_EQ(redis({"HGET", q.keys.ghosts, "crashed"}).text, "0");
}

TEST_F(JobRemove, AClaimPassesByManyGhostsOfCrashedJobs) {
  fill_crashed(1'500);
  for (int i = 0; i < 1'200; ++i) redis({"LSET", q.keys.crashed, std::to_string(i), ""});
  redis({"HSET", q.keys.ghosts, "crashed", "1200"});
  EXPECT_EQ(waiting(), 300);
  const auto [next, calls] = claim_the_next();
  EXPECT_EQ(next, "j1200");
  EXPECT_LE(calls, 5);
  EXPECT_EQ(waiting(), 299);
}

// A limit of the queue's length counts jobs.
TEST_F(JobRemove, GhostsOfCrashedJobsTakeNoRoom) {
  fill_crashed(2'000);
  ASSERT_EQ(statuses(q.remove({"j1000"}, {.seen = 1'000})), "ok");
  redis({"HSET", q.keys.meta, "limits", "0:0:0:0:2000"});
  EXPECT_EQ(statuses(q.add({{.id = "one"}, {.id = "two"}})), "ok full");
}

// P10: somebody deleted the key in which it stood.
TEST_F(JobRemove, P10_WhatIsInNoStateGoesWhereTheCallerLooked) {
  q.add({{.id = "waits"}, {.id = "runs"}, {.id = "died"}});
  ASSERT_EQ(q.claim(1).ids(), "waits");
  redis({"HSET", q.job("died"), "run", "1:0:1:0:0::w"});
  redis({"ZREM", q.keys.active, "waits"});
  ASSERT_EQ(q.claim(1).ids(), "runs");
  redis({"DEL", q.keys.wait});
  expect_unchanged("moved lock moved gone", [&] {
    return q.remove({"waits", "runs", "died", "never"});
  });
  expect_unchanged("moved lock", [&] { return q.remove({"died", "runs"}, {.seen = 300}); });
  EXPECT_EQ(statuses(q.remove({"waits", "runs", "died", "never"}, {.seen = -2})),
            "ok lock ok gone");
  EXPECT_EQ(redis({"EXISTS", q.job("waits"), q.job("died")}).integer, 0);
  EXPECT_EQ(statuses(q.add({{.id = "waits"}})), "ok") << "its id is free";
}

// Whoever looked may have been overtaken: what the script finds by itself is taken out of its line,
// and what has another state leaves that.
TEST_F(JobRemove, P10_WhatHasComeBackSinceTheLookLeavesItsState) {
  q.add({{.id = "front"}, {.id = "later", .delay = 9}, {.id = "placed", .priority = 2}});
  q.add({{.id = "died"}});
  redis({"LREM", q.keys.wait, "1", "died"});
  redis({"RPUSH", q.keys.crashed, "died"});
  EXPECT_EQ(statuses(q.remove({"front", "later", "placed", "died"}, {.seen = -2})), "ok ok ok ok");
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 0 0 0 0 0 0]");
}

TEST_F(JobRemove, AClaimPassesByManyGhosts) {
  fill(3'000);
  for (int from = 600; from < 2'400; from += 200) {
    std::vector<std::string> ids;
    for (int i = from; i < from + 200; ++i) ids.push_back("j" + std::to_string(i));
    EXPECT_EQ(statuses(q.remove(ids, {.seen = from + 100})).find("moved"), std::string::npos);
  }
  EXPECT_EQ(waiting(), 1'200);
  for (int i = 0; i < 599; i += 200) q.claim(static_cast<std::size_t>(std::min(200, 599 - i)));
  EXPECT_EQ(q.claim(2).ids(), "j599");
  // Even one slot gets through them, hundreds a call.
  const auto [next, calls] = claim_the_next();
  EXPECT_EQ(next, "j2400");
  EXPECT_LE(calls, 8);
  EXPECT_EQ(waiting(), 599);
}

}  // namespace
}  // namespace echomq::test
