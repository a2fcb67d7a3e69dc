// SPDX-License-Identifier: MIT
// A server at its maxmemory limit takes no new jobs and goes on with those it has: an add is
// refused before anything changed, and everything that finishes, moves or deletes jobs works as
// ever.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "probe/planned.h"
#include "support/scene.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class FullServer : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<TestServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  void fill() { ASSERT_EQ(redis({"CONFIG", "SET", "maxmemory", "1"}).text, "OK"); }
  void relieve() { ASSERT_EQ(redis({"CONFIG", "SET", "maxmemory", "0"}).text, "OK"); }

  Dump nameless(const ScriptQueue& q) {
    Dump all;
    for (const auto& [key, content] : dump_queue(redis, q.name()))
      all[key.substr(key.find('}'))] = content;
    return all;
  }

  static inline std::unique_ptr<TestServer> server_;
  RawClient redis = server_->connect();
};

TEST_F(FullServer, RefusesAnAddAndChangesNothing) {
  ScriptQueue q(redis, unique_queue("full"));
  Scene scene(q);
  fill();
  EXPECT_TRUE(redis({"SET", "unrelated", "1"}).is_error()) << "the server is not full";
  for (const auto& job : {JobToAdd{.id = "n"}, JobToAdd{.id = "n", .delay = 1'000},
                          JobToAdd{.id = "n", .priority = 1}, JobToAdd{.id = "n", .lifo = true},
                          JobToAdd{.id = "1", .custom = false}, JobToAdd{.id = "t1"}}) {
    const auto before = dump_queue(redis, q.name());
    EXPECT_EQ(statuses(q.add({job})), "EMQFULL the server is at its maxmemory limit");
    EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "");
  }
  relieve();
  // The refused flushes were not recorded as applied.
  EXPECT_EQ(statuses(q.add({{.id = "n"}}, {.number = 1'000})), "ok");
}

TEST_F(FullServer, RefusesACustomEventAndChangesNothing) {
  ScriptQueue q(redis, unique_queue("full"));
  Scene scene(q);
  fill();
  const auto before = dump_queue(redis, q.name());
  EXPECT_EQ(statuses(q.emit("mine")), "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "");
  relieve();
  EXPECT_FALSE(q.emit("mine").is_error());
}

TEST_F(FullServer, RefusesADeduplicatedAddAndChangesNothing) {
  ScriptQueue q(redis, unique_queue("full"));
  q.open();
  q.add_deduplicated({{.id = "a", .delay = 9, .de = "D"}});
  fill();
  const auto before = dump_queue(redis, q.name());
  EXPECT_EQ(statuses(q.add_deduplicated({{.id = "b", .delay = 9, .de = "D", .how = "r"}})),
            "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "");
  relieve();
}

TEST_F(FullServer, RefusesSchedulersAndTheirTicksAndChangesNothing) {
  ScriptQueue q(redis, unique_queue("full"));
  q.open();
  const auto tick = std::to_string(q.now);
  q.put_scheduler({.id = "a", .next = tick});
  fill();
  const auto before = dump_queue(redis, q.name());
  EXPECT_EQ(statuses(q.put_scheduler({.id = "b", .next = tick})),
            "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(statuses(q.put_scheduler({.id = "a", .next = tick, .data = "other"})),
            "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = tick}})),
            "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "");
  relieve();
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = tick}})), "ok") << "it is due still";
}

// Neither its record nor its jobs; what was recorded before is added when there is room.
TEST_F(FullServer, RefusesAFlowAndChangesNothing) {
  ScriptQueue q(redis, unique_queue("full"));
  q.open();
  const auto plan = plan_of(q.name() + ":7", {{.queue = q.name(), .id = "p"},
                                              {.queue = q.name(), .id = "c", .parent = 0}});
  fill();
  const auto before = dump_queue(redis, q.name());
  EXPECT_EQ(statuses(q.plan("7", plan)), "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(statuses(q.add_flow(q.name() + ":7", plan)),
            "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "");
  relieve();
  EXPECT_EQ(statuses(q.add_flow(q.name() + ":7", plan)), "ok ok ok");
  fill();
  EXPECT_EQ(statuses(q.add_flow(q.name() + ":7", plan)), "done done done");
  relieve();
}

TEST_F(FullServer, AnswersTheRepeatOfAnAppliedFlush) {
  ScriptQueue q(redis, unique_queue("full"));
  q.open();
  q.add({{.id = "a"}}, {.number = 7});
  fill();
  EXPECT_EQ(statuses(q.add({{.id = "a"}}, {.number = 7})), "ok");
  relieve();
}

TEST_F(FullServer, MakesNoQueue) {
  ScriptQueue q(redis, unique_queue("full"));
  fill();
  EXPECT_EQ(statuses(q.open()), "EMQFULL the server is at its maxmemory limit");
  EXPECT_EQ(difference({}, dump_queue(redis, q.name())), "");
  relieve();
  EXPECT_EQ(show(q.open()), "1");
}

TEST_F(FullServer, EverythingButAddsGoesOnAsEver) {
  for (const auto& exercise : exercises()) {
    // What adds, a scheduler or a job of one among them, is refused.
    if (exercise.script.starts_with("job/add") || exercise.script == "queue/emit" ||
        exercise.script == "schedule/put" || exercise.script == "schedule/fire" ||
        exercise.script == "flow/plan" || exercise.script == "flow/add" ||
        exercise.script == "migrate/put" || exercise.script == "migrate/append")
      continue;
    ScriptQueue q(redis, unique_queue("full"));
    ScriptQueue roomy(redis, unique_queue("full"));
    Scene scene(q);
    Scene other(roomy);
    fill();
    const auto reply = exercise.call(scene);
    relieve();
    const auto expected = exercise.call(other);
    EXPECT_EQ(show(reply), show(expected)) << exercise.script;
    EXPECT_EQ(difference(nameless(roomy), nameless(q)), "") << exercise.script;
  }
}

// A backlog drains on a full server, retries and retention included.
TEST_F(FullServer, ABacklogDrains) {
  ScriptQueue q(redis, unique_queue("full"));
  q.open();
  std::vector<JobToAdd> jobs;
  for (int i = 0; i < 200; ++i) jobs.push_back({.id = "j" + std::to_string(i)});
  q.add(jobs);
  q.keep_completed = {.count = 10};
  fill();
  const auto retried = q.claim(20).runs;
  std::vector<Retry> retries;
  for (const auto& run : retried) retries.push_back({.run = run, .delay = 1'000});
  q.retry(retries);
  q.now += 5'000;
  ASSERT_EQ(q.promote(q.peek_due()).items.at(0).items.size(), 20U);
  std::size_t finished = 0;
  for (auto claimed = q.claim(50); !claimed.runs.empty(); claimed = q.claim(50)) {
    std::vector<FinishItem> items;
    for (const auto& run : claimed.runs) items.push_back({.run = run});
    q.extend(claimed.runs);
    q.finish(items);
    finished += items.size();
  }
  for (auto trash = q.peek_trash(); !trash.empty(); trash = q.peek_trash()) q.evict(trash);
  relieve();
  EXPECT_EQ(finished, 200U);
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 10 0 0 0 0 0]");
}

TEST_F(FullServer, KeepsItsLimits) {
  ScriptQueue q(redis, unique_queue("full"));
  q.open();
  std::vector<JobToAdd> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back({.id = "j" + std::to_string(i)});
  q.add(jobs);
  redis({"DEL", q.keys.marker});
  fill();
  EXPECT_EQ(show(q.limit({.concurrency = "9", .max = "2", .duration = "1000"})), "1");
  EXPECT_EQ(show(q.hold(500)), std::to_string(q.now + 500));
  EXPECT_EQ(q.claim(5).gate(), "held");
  EXPECT_EQ(q.score(q.keys.marker, "2"), std::to_string(q.now + 500));
  q.now += 500;
  EXPECT_EQ(q.claim(5).runs.size(), 2U);
  EXPECT_EQ(q.claim(5).gate(), "rate");
  EXPECT_EQ(q.score(q.keys.marker, "2"), std::to_string(q.now + 1'000));
  EXPECT_EQ(show(q.limit({.concurrency = "0", .max = "0"})), "1");
  EXPECT_EQ(q.claim(5).runs.size(), 5U);
  relieve();
}

}  // namespace
}  // namespace echomq::test
