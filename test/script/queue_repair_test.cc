// SPDX-License-Identifier: MIT
// queue/repair: what a v1 client has done to a queue is put right, once, and only in a queue of
// ours.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/v1_names.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class QueueRepair : public ScriptTest {
 protected:
  // What v1's constructor writes.
  void construct() {
    redis({"HSET", q.keys.meta, "version", "bullmq:5.65.1", "opts.maxLenEvents", "10000"});
  }
  // What v1's pause does.
  void pause() {
    redis({"RENAME", q.keys.wait, paused_});
    redis({"HSET", q.keys.meta, "paused", "1"});
    redis({"DEL", q.keys.marker});
    redis({"XADD", q.keys.events, "*", "event", "paused"});
  }
  void add(const std::vector<std::string>& ids) {
    std::vector<JobToAdd> jobs;
    for (const auto& id : ids) jobs.push_back({.id = id});
    q.add(jobs);
  }
  // version, fields, sentinels, jobs, delayed, events, limiter, ghosts, leftovers, paused, more
  std::string repair() {
    std::string all;
    for (const auto& item : q.repair().items) all += (all.empty() ? "" : " ") + show(item);
    return all;
  }

  const std::string paused_ = v1_word_key(q.name(), "paused");
};

constexpr const char* kNothing = "0 0 0 0 0 0 0 0 0 0 0";

TEST_F(QueueRepair, LeavesAQueueThatIsWellAlone) {
  add({"a", "b"});
  q.claim(1);
  const auto before = dump();
  EXPECT_EQ(repair(), kNothing);
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(QueueRepair, RestoresTheVersionAndTakesTheFieldsOfV1Out) {
  add({"a"});
  redis({"DEL", q.keys.marker});
  const auto before = dump();
  construct();
  redis({"HSET", q.keys.meta, "concurrency", "2", "max", "3", "duration", "4"});
  EXPECT_EQ(repair(), "1 3 1 0 0 0 0 0 0 0 0");
  auto after = dump();
  EXPECT_NE(after[q.keys.events].find(" repaired "), std::string::npos) << after[q.keys.events];
  for (const auto& key : {q.keys.events, q.keys.marker, q.keys.meta}) after.erase(key);
  auto whole = before;
  for (const auto& key : {q.keys.events, q.keys.marker, q.keys.meta}) whole.erase(key);
  EXPECT_EQ(difference(whole, after), "");
  EXPECT_EQ(show(redis({"HGET", q.keys.meta, "version"})), "echomq:2.0.0");
  EXPECT_EQ(redis({"HLEN", q.keys.meta}).integer, 6);  // event_seq beside those of queue/open
  EXPECT_EQ(q.claim(1).ids(), "a");
  EXPECT_EQ(repair(), kNothing);
}

TEST_F(QueueRepair, BringsPausedJobsBackInTheirOrder) {
  add({"a", "b", "c"});
  construct();
  pause();
  EXPECT_EQ(repair(), "1 2 0 3 0 1 0 0 0 0 0");
  EXPECT_EQ(list(q.keys.wait), "a b c");
  EXPECT_EQ(redis({"EXISTS", paused_}).integer, 0);
  EXPECT_EQ(repair(), kNothing);
  EXPECT_EQ(q.claim(9).ids(), "a b c");
}

// A client that skips its settings leaves the version alone.
TEST_F(QueueRepair, APauseWithoutAVersionIsRefusedAtOnceAndRepaired) {
  add({"a", "b"});
  pause();
  EXPECT_EQ(statuses(q.counts()),
            "EMQFENCE expected=echomq:2.0.0 found=a queue that v1 has paused");
  redis({"RPUSH", q.keys.wait, "c"});  // of a release that does not look
  EXPECT_EQ(repair(), "0 1 0 2 0 1 0 0 0 0 0");
  EXPECT_EQ(list(q.keys.wait), "a b c");
}

TEST_F(QueueRepair, APauseOfOursStays) {
  add({"a"});
  q.pause(true);
  construct();
  pause();
  EXPECT_EQ(repair(), "1 2 0 1 0 1 0 0 0 1 0");
  EXPECT_EQ(q.claim(1).gate(), "paused");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
}

TEST_F(QueueRepair, IsSaidAgainWhereMoreArePaused) {
  std::vector<std::string> words{"RPUSH", paused_};
  for (int i = 0; i < 300; ++i) words.push_back(std::to_string(i));
  redis(words);
  add({"last"});
  EXPECT_EQ(repair(), "0 0 0 256 0 0 0 0 0 0 1");
  EXPECT_EQ(repair(), "0 0 0 44 0 0 0 0 0 0 0");
  const auto ids = texts(redis({"LRANGE", q.keys.wait, "0", "-1"}));
  ASSERT_EQ(ids.size(), 301U);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(ids.at(static_cast<std::size_t>(i)), std::to_string(i));
  EXPECT_EQ(ids.back(), "last");
}

TEST_F(QueueRepair, EventsGoOnBehindThoseOfV1) {
  add({"a"});
  for (int i = 0; i < 300; ++i) redis({"XADD", q.keys.events, "*", "event", "paused"});
  add({"b"});
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 301) << "the server refused ours";
  EXPECT_EQ(repair().substr(0, 13), "1 0 0 0 0 256");
  EXPECT_EQ(repair().substr(0, 12), "0 0 0 0 0 44");
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 2);
  add({"c"});
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 3);
}

TEST_F(QueueRepair, PutsSentinelsAndTheStateOfLimitsBack) {
  const auto before = dump();
  redis({"DEL", q.keys.repeat, q.keys.active});
  redis({"HDEL", q.keys.meta, "concurrency"});
  redis({"SET", q.keys.id, "17"});
  redis({"ZADD", q.keys.repeat, "1", "scheduler"});
  redis({"SET", q.keys.limiter, "9007199254740991"});
  for (const auto* const word : {"stalled", "stalled-check", "pc"})
    redis({"SET", v1_word_key(q.name(), word), "1"});
  redis({"SET", paused_, "no list"});
  EXPECT_EQ(repair(), "0 0 4 0 0 0 1 0 4 0 0");
  auto after = dump();
  after.erase(q.keys.events);
  after[q.keys.meta] = before.at(q.keys.meta);
  EXPECT_EQ(difference(before, after), "");
}

TEST_F(QueueRepair, CountsEmptyEntriesAnew) {
  add({"a", "b"});
  redis({"RPUSH", q.keys.wait, ""});
  redis({"HSET", q.keys.ghosts, "wait", "5"});
  EXPECT_EQ(repair(), "0 0 0 0 0 0 0 1 0 0 0");
  EXPECT_EQ(show(redis({"HGET", q.keys.ghosts, "wait"})), "1");
  redis({"LREM", q.keys.wait, "0", ""});  // as v1's clean does
  EXPECT_EQ(repair(), "0 0 0 0 0 0 0 1 0 0 0");
  EXPECT_EQ(q.counts().items.at(0).integer, 2);
}

// v1's changeDelay: the time that it means, times 4,096, and a number within that.
TEST_F(QueueRepair, TimesThatV1MultipliedAreDividedAgain) {
  q.add(
      {{.id = "own", .delay = 50'000}, {.id = "first", .delay = 9'000}, {.id = "far", .delay = 9}});
  const auto own = q.score(q.keys.delayed, "own");
  const auto times_4096 = [](std::int64_t ms, int more) {
    return std::to_string(ms * 4096 + more);
  };
  redis({"ZADD", q.keys.delayed, times_4096(q.now + 7'000, 0), "first"});
  redis({"ZADD", q.keys.delayed, times_4096(q.now + 70'000, 4095), "far"});
  redis({"ZADD", q.keys.marker, times_4096(q.now + 7'000, 0), "1"});
  EXPECT_EQ(repair(), "0 0 0 0 2 0 0 0 0 0 0");
  EXPECT_EQ(q.score(q.keys.delayed, "first"), std::to_string(q.now + 7'000));
  EXPECT_EQ(q.score(q.keys.delayed, "far"), std::to_string(q.now + 70'000));
  EXPECT_EQ(q.score(q.keys.delayed, "own"), own);
  EXPECT_EQ(q.score(q.keys.marker, "1"), std::to_string(q.now + 7'000));
  EXPECT_EQ(repair(), kNothing);
}

// What a job of ours may wait at most, and what v1 wrote at the earliest time that is told apart.
TEST_F(QueueRepair, NoTimeOfOursIsTakenForOneOfV1) {
  redis({"ZADD", q.keys.delayed, "4503599627370495", "ours", "4503599627370496", "of v1"});
  EXPECT_EQ(repair(), "0 0 0 0 1 0 0 0 0 0 0");
  EXPECT_EQ(q.score(q.keys.delayed, "ours"), "4503599627370495");
  EXPECT_EQ(q.score(q.keys.delayed, "of v1"), "1099511627776");
}

TEST_F(QueueRepair, IsSaidAgainWhereMoreWereMultiplied) {
  std::vector<std::string> words{"ZADD", q.keys.delayed};
  for (int i = 0; i < 300; ++i) {
    words.push_back(std::to_string((q.now + i) * 4096));
    words.push_back(std::to_string(i));
  }
  redis(words);
  EXPECT_EQ(repair(), "0 0 0 0 256 0 0 0 0 0 1");
  EXPECT_EQ(repair(), "0 0 0 0 44 0 0 0 0 0 0");
  for (const int i : {0, 255, 256, 299})
    EXPECT_EQ(q.score(q.keys.delayed, std::to_string(i)), std::to_string(q.now + i));
}

// As many as one call takes: the next one finds none, and ours go on all the same.
TEST_F(QueueRepair, AFullCallOfEventsLetsOursGoOn) {
  for (int i = 0; i < 256; ++i) redis({"XADD", q.keys.events, "*", "event", "paused"});
  EXPECT_EQ(repair(), "0 0 0 0 0 256 0 0 0 0 1");
  EXPECT_EQ(repair(), kNothing);
  add({"a"});
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 1);
}

// --- lib/emit, which meets events of v1 first

constexpr const char* kNoticed = "EMQFENCE expected=echomq:2.0.0 found=echomq:2.0.0:damaged";

// The call that meets them is done, but for its event; and from then on the queue is refused.
TEST_F(QueueRepair, ARefusedEventIsNoticedAndTearsNothing) {
  add({"a"});
  redis({"XADD", q.keys.events, "*", "event", "mine"});
  add({"b"});
  EXPECT_EQ(list(q.keys.wait), "a b");
  EXPECT_EQ(show(redis({"HGET", q.keys.meta, "version"})), "echomq:2.0.0:damaged");
  expect_refused(kNoticed, [&] { return q.counts(); });
  EXPECT_EQ(repair(), "1 0 0 0 0 1 0 0 0 0 0");
  EXPECT_EQ(repair(), kNothing);
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 2) << "of a, and that it was repaired";
  add({"c"});
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 3);
  EXPECT_EQ(q.claim(9).ids(), "a b c");
}

// Trimmed events are gone, but the server goes on from the last number that it has seen.
TEST_F(QueueRepair, ARefusedEventOfAnEmptyStreamIsRepairedToo) {
  for (const auto* const id : {"a", "b"}) {
    redis({"XADD", q.keys.events, std::to_string(q.now) + "-0", "event", "mine"});
    redis({"XTRIM", q.keys.events, "MAXLEN", "0"});
    add({id});
    expect_refused(kNoticed, [&] { return q.counts(); });
    EXPECT_EQ(repair(), "1 0 0 0 0 0 0 0 0 0 0");
    EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 1) << "that it was repaired";
    EXPECT_EQ(repair(), kNothing);
    q.now += 120'000;
  }
}

// A stream that is none is damage of another kind, and stops nobody.
TEST_F(QueueRepair, AnotherErrorOfTheStreamIsNotNoticed) {
  redis({"SET", q.keys.events, "no stream"});
  add({"a"});
  EXPECT_EQ(show(redis({"HGET", q.keys.meta, "version"})), "echomq:2.0.0");
}

// Nor is it a queue of ours where queue/open has not written.
TEST_F(QueueRepair, AMarkAloneMakesNoQueueOurs) {
  redis({"HSET", q.keys.meta, "version", "echomq:2.0.0:damaged"});
  redis({"HDEL", q.keys.meta, "created"});
  expect_refused(kNoticed, [&] { return q.repair(); });
}

TEST_F(QueueRepair, WakesAWorker) {
  add({"a"});
  construct();
  redis({"DEL", q.keys.marker});
  q.repair();
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
}

// Fields that only queue/open writes tell whose queue it was.
TEST_F(QueueRepair, RefusesWhatWasNeverOurs) {
  for (const auto* const field : {"created", "min_revision"}) {
    construct();
    const auto kept = show(redis({"HGET", q.keys.meta, field}));
    redis({"HDEL", q.keys.meta, field});
    expect_refused("EMQFENCE expected=echomq:2.0.0 found=bullmq:5.65.1",
                   [&] { return q.repair(); });
    redis({"HSET", q.keys.meta, field, kept});
  }
  for (const std::string version : {"echomq:2.0.0:migrating", "echomq:3.0.0", "somebody:1"}) {
    redis({"HSET", q.keys.meta, "version", version});
    expect_refused("EMQFENCE expected=echomq:2.0.0 found=" + version, [&] { return q.repair(); });
  }
  construct();
  redis({"HSET", q.keys.meta, "min_revision", "99"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=bullmq", [&] { return q.repair(); });
}

TEST_F(QueueRepair, OfAWrongTypeChangesNothing) {
  construct();
  redis({"SET", q.keys.wait, "no list"});
  expect_refused("WRONGTYPE", [&] { return q.repair(); });
}

}  // namespace
}  // namespace echomq::test
