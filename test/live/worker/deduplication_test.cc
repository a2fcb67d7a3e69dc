// SPDX-License-Identifier: MIT
// Deduplication by the library: what adds answer, and how owners end with their workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/dump.h"
#include "support/fleet.h"
#include "support/heard.h"
#include "support/library_test.h"
#include "support/monitor.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Deduplicated : public LibraryTest {
 protected:
  static JobOptions under(Deduplication rule, std::string id = {}) {
    JobOptions how;
    how.id = std::move(id);
    how.deduplication = std::move(rule);
    return how;
  }
  std::string owner(const std::string& de = "D") {
    const auto found = queue.deduplication_owner(de).value();
    return found ? found->job : "nobody";
  }
  bool nothing_left() {
    return redis({"EXISTS", key_of(Structure::de), key_of(Structure::de_due),
                  key_of(Structure::de_next)})
               .integer == 0;
  }
  static WorkerOptions quick() { return {.lease = 2s, .poll = 100ms}; }
};

TEST_F(Deduplicated, AnAddAnswersTheOwner) {
  const auto first = queue.add("1", under(Deduplication::simple("D"))).value();
  EXPECT_FALSE(first.deduplicated);
  const auto second = queue.add("2", under(Deduplication::simple("D"))).value();
  EXPECT_TRUE(second.deduplicated);
  EXPECT_EQ(second.id, first.id);
  auto other = another();
  const auto third = Queue<>(other, name).add("3", under(Deduplication::simple("D"))).value();
  EXPECT_EQ(third, second) << "of a process that does not know the owner";
  EXPECT_EQ(queue.async_add("4", under(Deduplication::simple("D"))).get().value(), second);
  EXPECT_EQ(info(first.id).data, "1");
  EXPECT_EQ(counts().waiting, 1);
  const auto rule = info(first.id).options.deduplication;
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->id, "D");
  EXPECT_EQ(rule->ttl, std::nullopt);
}

TEST_F(Deduplicated, TheRulesOfAJobAreReadBack) {
  const Deduplication rule{.id = "\"quoted\" \xc3\xa9", .ttl = 5s, .extend = true, .replace = true};
  const auto id = queue.add("x", under(rule)).value();
  const auto back = info(id).options.deduplication;
  ASSERT_TRUE(back);
  EXPECT_EQ(back->id, rule.id);
  EXPECT_EQ(back->ttl, 5s);
  EXPECT_TRUE(back->extend);
  EXPECT_TRUE(back->replace);
  EXPECT_FALSE(back->keep_last);
  const auto keeps = queue.add("x", under(Deduplication::keep_last_if_active("K"))).value();
  EXPECT_TRUE(info(keeps).options.deduplication->keep_last);
}

TEST_F(Deduplicated, ABulkIsAnsweredOneByOne) {
  const auto rule = Deduplication::simple("D");
  const auto results = queue
                           .add_bulk({{"1", under(rule)},
                                      {"2", {}},
                                      {"3", under(rule)},
                                      {"4", under(Deduplication::simple("E"))},
                                      {"5", under(rule, "five")}})
                           .value();
  std::string flags;
  for (const auto& result : results) flags += result.value().deduplicated ? "d" : "-";
  EXPECT_EQ(flags, "--d-d");
  EXPECT_EQ(results[2]->id, results[0]->id);
  EXPECT_EQ(results[4]->id, results[0]->id);
  EXPECT_EQ(counts().waiting, 3);
  const auto again = queue.add_bulk({{"6", under(rule)}, {"7", under(rule)}}).value();
  EXPECT_TRUE(again[0]->deduplicated && again[1]->deduplicated);
}

// Nothing is looked at before: of one that is known, and of a new one.
TEST_F(Deduplicated, AnAddIsOneCall) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.add("0", under(Deduplication::simple("other"))));
  ASSERT_TRUE(queue.add("0"));  // the server knows both scripts
  Monitor monitor(server);
  ASSERT_TRUE(queue.add("1", under(Deduplication::simple("D"))));
  ASSERT_TRUE(queue.add("2", under(Deduplication::simple("D"))));
  ASSERT_TRUE(queue.add("3"));
  int calls = 0;
  int plain = 0;
  for (const auto& line : monitor.take(redis)) {
    if (line.in_script || line.words.size() < 3) continue;
    std::string all;
    for (const auto& word : line.words) all += word + " ";
    if (all.find(name) == std::string::npos) continue;
    ++calls;
    if (all.find(key_of(Structure::de) + " ") == std::string::npos) ++plain;
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(plain, 1) << "a job without deduplication declares none of its keys";
}

TEST_F(Deduplicated, BadRulesAreRefusedByName) {
  const auto refused = [this](const Deduplication& rule, const std::string& option,
                              const std::string& value) {
    const auto error = error_of(queue.add("x", under(rule)));
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message();
    ASSERT_NE(error.field("option"), nullptr);
    EXPECT_EQ(*error.field("option"), "deduplication." + option);
    EXPECT_EQ(*error.field("value"), value);
  };
  refused(Deduplication::simple(""), "id", "empty");
  refused(Deduplication::simple(std::string(256, 'd')), "id", "256 bytes long");
  refused(Deduplication::throttle("D", 0ms), "ttl", "0");
  refused(Deduplication::throttle("D", -5ms), "ttl", "-5");
  refused(Deduplication::throttle("D", kMaxDelay + 1ms), "ttl", "315360000001");
  refused({.id = "D", .extend = true}, "extend", "true without a ttl");
  refused({.id = "D", .replace = true, .keep_last = true}, "keep_last", "true with replace");
  refused({.id = "D", .ttl = 5ms, .keep_last = true}, "keep_last", "true with a ttl of 5");
  EXPECT_EQ(error_of(queue.add("x", under(Deduplication::simple("\xff")))).code,
            ErrorCode::encoding);
  EXPECT_EQ(error_of(queue.deduplication_owner("")).code, ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(queue.release_deduplication(std::string(256, 'd'))).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::meta)}).integer, 0) << "nothing was sent";
  EXPECT_EQ(error_of(queue.deduplication_owner("D")).code, ErrorCode::not_found);
}

// Every way in which a job may be over.
TEST_F(Deduplicated, EveryEndOfAnOwnerReleases) {
  const auto rule = Deduplication::simple("D");
  const auto expect_free = [this](const char* how) {
    EXPECT_EQ(owner(), "nobody") << how;
    EXPECT_TRUE(eventually([this] { return nothing_left(); })) << how;
  };
  const auto work = [this](auto handler, Keep keep = {}) {
    auto how = quick();
    how.stop_when_empty = true;
    how.keep_completed = how.keep_failed = keep;
    Worker worker{queue, how, handler};
    ASSERT_TRUE(worker.wait(20s));
  };
  const auto add_one = [&](JobOptions how = {}) {
    how.deduplication = rule;
    const auto added = queue.add("x", how).value();
    EXPECT_FALSE(added.deduplicated);
    return added.id;
  };
  add_one();
  work([](Job<>&) {});
  expect_free("completed");
  add_one();
  work([](Job<>&) {}, Keep::none());
  expect_free("dropped");
  add_one({.attempts = 2});
  work([](Job<>&) { return Outcome::fail("broke"); });
  expect_free("failed");
  add_one({.attempts = 2});
  work([](Job<>&) { return Outcome::unrecoverable("broke"); });
  expect_free("unrecoverable");
  ASSERT_TRUE(queue.remove(add_one()));
  expect_free("removed");
  add_one();
  ASSERT_TRUE(queue.drain());
  expect_free("drained");
  add_one({.delay = 1h});
  ASSERT_TRUE(queue.remove_all(JobState::delayed));
  expect_free("removed with all");
  add_one({.delay = 1h});
  ASSERT_TRUE(queue.clean(JobState::delayed, 0ms));
  expect_free("cleaned");
  add_one();
  ASSERT_TRUE(queue.obliterate());
  expect_free("obliterated");
}

TEST_F(Deduplicated, AThrottleOutlivesItsOwner) {
  const auto rule = Deduplication::throttle("D", 1h);
  const auto id = queue.add("x", under(rule)).value().id;
  {
    auto how = quick();
    how.stop_when_empty = true;
    how.keep_completed = Keep::none();
    Worker worker{queue, how, [](Job<>&) {}};
    ASSERT_TRUE(worker.wait(20s));
  }
  EXPECT_EQ(redis({"EXISTS", job_key(name, id)}).integer, 0);
  const auto found = queue.deduplication_owner("D").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->job, id);
  EXPECT_NEAR(static_cast<double>(found->until_ms - client.server_time_ms()), 3.6e6, 60'000.0);
  EXPECT_TRUE(queue.add("y", under(rule)).value().deduplicated);
  EXPECT_TRUE(queue.release_deduplication("D").value());
  EXPECT_FALSE(queue.release_deduplication("D").value());
  EXPECT_FALSE(queue.add("y", under(rule)).value().deduplicated);
}

TEST_F(Deduplicated, TheLastOfABurstIsRunOnceItIsOver) {
  Runs runs;
  Worker worker{queue, quick(), [&](Job<>& job) { runs.note(job.data()); }};
  auto how = under(Deduplication::debounce("D", 2s));
  how.delay = 2s;
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(queue.add(std::to_string(i), how).value().deduplicated) << i;
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }));
  EXPECT_EQ(runs.all(), std::vector<std::string>{"19"});
  EXPECT_EQ(counts().delayed, 0);
}

TEST_F(Deduplicated, ExpiredEntriesAreSweptByAWorker) {
  ASSERT_TRUE(queue.open());
  const auto long_ago = std::to_string(client.server_time_ms() - 5'000);
  for (int i = 0; i < 20; ++i) {
    const auto id = "D" + std::to_string(i);
    redis({"HSET", key_of(Structure::de), id, "gone:" + long_ago + ":1:"});
    redis({"ZADD", key_of(Structure::de_due), long_ago, id});
  }
  redis({"ZADD", key_of(Structure::de_due), long_ago, "without an entry"});
  Worker worker{queue, quick(), [](Job<>&) {}};
  EXPECT_TRUE(eventually([this] { return nothing_left(); }));
}

// B35, by the library.
TEST_F(Deduplicated, B35_RemovingAnOldJobLeavesTheIdToItsOwner) {
  const auto rule = Deduplication::simple("D");
  const auto first = queue.add("1", under(rule)).value().id;
  {
    auto how = quick();
    how.stop_when_empty = true;
    Worker worker{queue, how, [](Job<>&) {}};
    ASSERT_TRUE(worker.wait(20s));
  }
  const auto second = queue.add("2", under(rule)).value().id;
  ASSERT_TRUE(queue.remove(first));
  EXPECT_EQ(owner(), second);
  EXPECT_TRUE(queue.add("3", under(rule)).value().deduplicated);
}

// B37: five adds while a job runs are one more run with the last data, under its own id, whatever
// becomes of the first.
struct Trigger {
  const char* name;
  bool pause = false;
  bool retry = false;
  bool unrecoverable = false;
  bool same_id = false;
  bool throttled = false;
  Keep keep{};
};

class KeptLast : public Deduplicated, public testing::WithParamInterface<Trigger> {};

TEST_P(KeptLast, B37_FiveAddsWhileActiveAreOneMoreRun) {
  const auto& what = GetParam();
  Runs runs;
  Gate gate;
  auto how = quick();
  how.keep_completed = how.keep_failed = what.keep;
  std::atomic<int> active{0};
  std::atomic<int> most{0};
  Worker worker{queue, how, [&](Job<>& job) -> Outcome {
                  most = std::max(most.load(), ++active);
                  runs.note(job.data() + " as " + job.id());
                  if (job.data() == "first" && job.attempt() == 1) gate.pass();
                  --active;
                  if (job.data() != "first") return Outcome::done();
                  if (what.retry && job.attempt() == 1) return Outcome::fail("once");
                  if (what.unrecoverable) return Outcome::unrecoverable("broke");
                  return Outcome::done();
                }};
  auto first = under(
      what.throttled ? Deduplication::throttle("D", 3s) : Deduplication::keep_last_if_active("D"),
      "the-first");
  first.attempts = 3;
  ASSERT_TRUE(queue.add("first", first));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  std::string last;
  for (int i = 1; i <= 5; ++i) {
    last = what.same_id ? "the-first" : "mine-" + std::to_string(i);
    const auto added =
        queue.add("data " + std::to_string(i), under(Deduplication::keep_last_if_active("D"), last))
            .value();
    EXPECT_TRUE(added.deduplicated);
    EXPECT_EQ(added.id, "the-first");
    if (what.throttled && i == 1) {
      const auto now = client.server_time_ms();
      ASSERT_TRUE(eventually([&] { return client.server_time_ms() > now + 3'100; }, 20s));
    }
  }
  EXPECT_EQ(queue.deduplication_owner("D").value()->next, last);
  if (what.pause) {
    ASSERT_TRUE(queue.pause());
  }
  gate.open();
  if (what.pause) {
    ASSERT_TRUE(eventually([&] { return counts().waiting == 1; }));
    EXPECT_EQ(runs.size(), 1U);
    ASSERT_TRUE(queue.resume());
  }
  const std::size_t expected = what.retry ? 3 : 2;
  ASSERT_TRUE(eventually([&] { return runs.size() == expected; })) << runs.size();
  ASSERT_TRUE(eventually([&] { return nothing_left() && counts().active == 0; }));
  EXPECT_TRUE(worker.stop(10s));
  const auto all = runs.all();
  ASSERT_EQ(all.size(), expected);
  EXPECT_EQ(all.back(), "data 5 as " + last);
  EXPECT_EQ(most.load(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Each, KeptLast,
    testing::Values(Trigger{.name = "Completed"}, Trigger{.name = "Retried", .retry = true},
                    Trigger{.name = "Unrecoverable", .unrecoverable = true},
                    Trigger{.name = "Paused", .pause = true},
                    Trigger{.name = "UnderTheSameId", .same_id = true},
                    Trigger{.name = "TheSameIdDropped", .same_id = true, .keep = Keep::none()},
                    Trigger{.name = "PastItsTime", .throttled = true}),
    [](const auto& which) { return std::string(which.param.name); });

// The last job of a worker that stops when nothing is left may keep one.
TEST_F(Deduplicated, B37_AWorkerThatStopsWhenEmptyRunsTheKeptAdd) {
  Runs runs;
  auto how = quick();
  how.stop_when_empty = true;
  const auto rule = under(Deduplication::keep_last_if_active("D"));
  ASSERT_TRUE(queue.add("1", rule));
  Worker worker{queue, how, [&](Job<>& job) {
                  runs.note(job.data());
                  if (job.data() != "1") return;
                  EXPECT_TRUE(queue.add("2", rule).value().deduplicated);
                }};
  ASSERT_TRUE(worker.wait(20s));
  EXPECT_EQ(runs.all(), (std::vector<std::string>{"1", "2"}));
}

TEST_F(Deduplicated, B37_TheKeptAddOfAnOwnerThatIsRemoved) {
  const auto rule = Deduplication::keep_last_if_active("D");
  const auto first = queue.add("1", under(rule)).value().id;
  redis({"LPOP", key_of(Structure::wait)});
  redis({"ZADD", key_of(Structure::active), "9007199254740991", first});
  ASSERT_TRUE(queue.add("2", under(rule, "kept")).value().deduplicated);
  redis({"ZREM", key_of(Structure::active), first});
  redis({"RPUSH", key_of(Structure::wait), first});
  ASSERT_TRUE(queue.remove(first));
  EXPECT_EQ(owner(), "kept");
  EXPECT_EQ(info("kept").data, "2");
}

// Its worker died after the end and before it said that the id is free.
TEST_F(Deduplicated, B37_ASweepAddsWhatACrashLeft) {
  const auto rule = Deduplication::keep_last_if_active("D");
  const auto first = queue.add("1", under(rule)).value().id;
  redis({"LPOP", key_of(Structure::wait)});
  redis({"ZADD", key_of(Structure::active), "9007199254740991", first});
  ASSERT_TRUE(queue.add("2", under(rule, "kept")).value().deduplicated);
  redis({"ZREM", key_of(Structure::active), first});
  redis({"ZADD", key_of(Structure::completed), "1", first});
  EXPECT_EQ(owner(), "nobody");
  redis({"ZADD", key_of(Structure::de_due), "1", "D"});  // half a minute later
  Runs runs;
  Worker worker{queue, quick(), [&](Job<>& job) { runs.note(job.id()); }};
  EXPECT_TRUE(eventually([&] { return runs.size() == 1 && nothing_left(); }));
  EXPECT_EQ(runs.all(), std::vector<std::string>{"kept"});
}

TEST_F(Deduplicated, ForcedObliterationLeavesNoKeptAdd) {
  const auto rule = Deduplication::keep_last_if_active("D");
  Gate gate;
  Worker worker{queue, quick(), [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(queue.add("1", under(rule)));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  ASSERT_TRUE(queue.add("2", under(rule)).value().deduplicated);
  ASSERT_TRUE(queue.obliterate({.force = true}));
  gate.open();
  EXPECT_TRUE(worker.stop(10s));
  EXPECT_TRUE(nothing_left());
  EXPECT_EQ(counts().waiting, 0);
}

// The process of the owner dies, and its worker finds that it did so too often.
TEST_F(Deduplicated, B37_AKeptAddOutlivesTheCrashesOfItsOwner) {
  Fleet fleet{server.url(), name};
  const auto rule = Deduplication::keep_last_if_active("D");
  const auto first = queue.add("abort", under(rule)).value().id;
  auto& victim = fleet.start({"lease=2000", "name=victim"});
  ASSERT_TRUE(eventually([&] { return victim.ended().has_value(); }, 20s)) << fleet.output();
  ASSERT_EQ(info(first).state, JobState::active) << fleet.output();
  for (int i = 1; i <= 5; ++i)
    EXPECT_TRUE(queue.add("nap 1", under(rule, "k" + std::to_string(i))).value().deduplicated);
  EXPECT_EQ(queue.deduplication_owner("D").value()->next, "k5") << "its lease lasts: it is active";
  auto how = quick();
  how.max_crashes = 0;
  Runs runs;
  Worker heir{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }, 20s));
  EXPECT_EQ(runs.all(), std::vector<std::string>{"k5"});
  EXPECT_EQ(info(first).state, JobState::failed);
  EXPECT_TRUE(eventually([this] { return nothing_left(); }));
}

TEST_F(Deduplicated, AHandlerMayReleaseItsIdAndNoOther) {
  Gate gate;
  const auto rule = Deduplication::simple("D");
  std::atomic<int> released{0};
  Worker worker{queue, {.concurrency = 2, .poll = 100ms}, [&](Job<>& job) {
                  if (job.data() == "plain") {
                    EXPECT_FALSE(job.release_deduplication().value());
                    return;
                  }
                  if (job.data() != "first") return gate.pass();
                  EXPECT_TRUE(job.release_deduplication().value());
                  ++released;
                  gate.pass();
                  EXPECT_FALSE(job.release_deduplication().value());
                  ++released;
                }};
  ASSERT_TRUE(queue.add("first", under(rule)));
  ASSERT_TRUE(eventually([&] { return released == 1; }));
  const auto second = queue.add("second", under(rule)).value();
  EXPECT_FALSE(second.deduplicated);
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }));
  EXPECT_EQ(owner(), second.id);
  gate.open();
  ASSERT_TRUE(eventually([&] { return released == 2; }));
  ASSERT_TRUE(queue.add("plain"));
  EXPECT_TRUE(eventually([&] { return counts().completed == 3; }));
}

TEST_F(Deduplicated, ManyProducersAddOneJobAtATime) {
  std::vector<std::unique_ptr<Client>> clients;
  std::atomic<int> added{0};
  constexpr int kEach = 50;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      clients.push_back(std::make_unique<Client>(another()));
      threads.emplace_back([&, client = clients.back().get()] {
        Queue<> theirs{*client, name};
        for (int k = 0; k < kEach; ++k)
          if (!theirs.add("x", under(Deduplication::simple("D"))).value().deduplicated) ++added;
      });
    }
  }
  EXPECT_EQ(added.load(), 1);
  EXPECT_EQ(counts().waiting, 1);
}

TEST_F(Deduplicated, EventsAreToldOnce) {
  ASSERT_TRUE(queue.open());
  const Heard heard;
  QueueEvents events(queue, {}, heard.callback());
  ASSERT_TRUE(events.ready(10s));
  auto how = under(Deduplication::debounce("D", 1h));
  how.delay = 1h;
  const auto first = queue.add("1", how).value().id;
  const auto second = queue.add("2", how).value().id;
  ASSERT_TRUE(queue.add("3", under(Deduplication::simple("D"))).value().deduplicated);
  ASSERT_TRUE(heard.wait_for(6));
  EXPECT_EQ(heard.words(),
            (std::vector<std::string>{"added " + first, "delayed " + first, "added " + second,
                                      "delayed " + second, "replaced " + first,
                                      "deduplicated " + second}));
}

}  // namespace
}  // namespace echomq::test
