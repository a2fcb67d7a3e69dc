// SPDX-License-Identifier: MIT
// When idle workers wake: by the marker, at once; by a timer that one of them keeps; and, where the
// marker was lost, by their own poll. The poll is a minute here unless a test says otherwise, so
// that nothing but the marker can be what woke them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"
#include "support/runs.h"
#include "support/sanitizer.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Wake : public LibraryTest {
 protected:
  static WorkerOptions patient(unsigned concurrency = 1) {
    WorkerOptions how;
    how.concurrency = concurrency;
    how.poll = 60s;
    return how;
  }
  // How many workers of this queue block on the marker.
  std::size_t blocked(const std::string& client_name) {
    std::size_t count = 0;
    const auto list = redis({"CLIENT", "LIST"}).text;
    const auto look_for = " name=" + client_name + ":block ";
    for (auto at = list.find(look_for); at != std::string::npos; at = list.find(look_for, at + 1)) {
      const auto line = list.substr(at, list.find('\n', at) - at);
      if (line.find(" cmd=bzpopmin") != std::string::npos &&
          line.find(" flags=b") != std::string::npos)
        ++count;
    }
    return count;
  }
  // A client whose connections can be told from those of other tests.
  Client named(const std::string& client_name) {
    auto how = options();
    how.name = client_name;
    return connect(server.url(), how).value();
  }
  bool timer_taken() { return redis({"ZSCORE", key_of(Structure::marker), "1"}).is_null(); }
};

TEST_F(Wake, DelayedJobStartsOnTime) {
  ASSERT_TRUE(queue.open());
  std::atomic<std::int64_t> started{0};
  Worker worker{queue, patient(), [&](Job<>&) { started = client.server_time_ms(); }};
  const auto id = queue.add("x", {.delay = 400ms}).value();
  const auto due = info(id).added_ms + 400;
  ASSERT_TRUE(eventually([&] { return started != 0; }, 20s));
  EXPECT_GE(started, due);
  EXPECT_LE(started, due + 2'000);
}

TEST_F(Wake, DelayedJobThatWaitedForAWorker) {
  const auto id = queue.add("x", {.delay = 1ms}).value();
  ASSERT_TRUE(eventually([&] { return client.server_time_ms() > info(id).due_ms + 1; }));
  Runs runs;
  Worker worker{queue, patient(), [&](Job<>& job) { runs.note(job.id()); }};
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, 20s));
}

TEST_F(Wake, ManyDelayedJobsAtOnce) {
  add_many(700, {.delay = 300ms});
  Runs runs;
  Worker worker{queue, patient(20), [&](Job<>& job) { runs.note(job.id()); }};
  EXPECT_TRUE(eventually([&] { return runs.size() == 700; }, 20s)) << runs.size();
  EXPECT_TRUE(eventually([&] { return counts().completed == 700; }));
}

// B18: the timer of a delayed job must not stand where "work is ready" stands.
TEST_F(Wake, B18_PlainJobStartsAtOnceWhileAWorkerKeepsTheTimeOfADelayedOne) {
  auto own = named(name);
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  Worker worker{q, patient(), [&](Job<>& job) { runs.note(job.data()); }};
  ASSERT_TRUE(queue.add("in an hour", {.delay = 1h}));
  // The worker took the timer out of the marker and sleeps again.
  ASSERT_TRUE(eventually([&] { return timer_taken() && blocked(name) == 1; }));
  ASSERT_TRUE(queue.add("now"));
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, 10s));
  EXPECT_EQ(runs.all(), std::vector<std::string>{"now"});
  EXPECT_EQ(counts().delayed, 1);
}

// A delay is kept by the queue, not by a worker that holds the job meanwhile.
TEST_F(Wake, P3_ADelayLongerThanTheLeaseRunsOnce) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 5; ++i) {
    auto how = patient();
    how.lease = 2s;
    workers.push_back(
        std::make_unique<Worker>(queue, how, [&](Job<>& job) { runs.note(job.id()); }));
  }
  const auto id = queue.add("x", {.delay = 6s}).value();
  EXPECT_FALSE(eventually([&] { return counts().active > 0 && runs.size() == 0; }, 5s))
      << "a worker held it before its time";
  ASSERT_TRUE(eventually([&] { return info(id).state == JobState::completed; }));
  for (auto& worker : workers) EXPECT_TRUE(worker->stop(10s));
  EXPECT_EQ(runs.all(), std::vector<std::string>{id});
  EXPECT_EQ(info(id).attempts_started, 1U);
  EXPECT_EQ(info(id).crashes, 0U);
}

TEST_F(Wake, EarlierDelayedJobOverridesTheTimerOfALaterOne) {
  auto own = named(name);
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  Worker worker{q, patient(), [&](Job<>& job) { runs.note(job.data()); }};
  ASSERT_TRUE(queue.add("in an hour", {.delay = 1h}));
  ASSERT_TRUE(eventually([&] { return timer_taken() && blocked(name) == 1; }));
  ASSERT_TRUE(queue.add("soon", {.delay = 200ms}));
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, 10s));
  EXPECT_EQ(runs.all(), std::vector<std::string>{"soon"});
}

TEST_F(Wake, TimekeeperThatEndsPutsTheTimerBack) {
  auto own = named(name);
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  auto keeper = std::make_unique<Worker>(q, patient(), [](Job<>&) {});
  ASSERT_TRUE(queue.add("x", {.delay = 1s}));
  ASSERT_TRUE(eventually([&] { return timer_taken() && blocked(name) == 1; }));
  Worker heir{q, patient(), [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(eventually([&] { return blocked(name) == 2; }));
  ASSERT_TRUE(keeper->stop(10s));
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, 10s));
}

// One mark wakes one worker, which wakes the next. The bound is that of a machine that has time for
// them, so the best of several rounds counts.
TEST_F(Wake, ThousandJobsWakeTenIdleWorkersWithinATenthOfASecond) {
  constexpr unsigned kWorkers = 10;
  constexpr auto kBar = kSanitized ? 500ms : 100ms;
  auto own = named(name);
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  auto how = patient();
  how.keep_completed = Keep::all();
  auto best = 10'000ms;
  std::int64_t added = 0;
  for (int round = 0; round < 5 && best > kBar; ++round) {
    Gate gate;
    std::vector<std::unique_ptr<Worker>> workers;
    for (unsigned i = 0; i < kWorkers; ++i)
      workers.push_back(std::make_unique<Worker>(q, how, [&](Job<>&) { gate.pass(); }));
    ASSERT_TRUE(eventually([&] { return blocked(name) == kWorkers; }));
    const auto begin = std::chrono::steady_clock::now();
    added += static_cast<std::int64_t>(add_many(1'000).size());
    EXPECT_TRUE(eventually([&] { return gate.waiting() == kWorkers; }, 10s)) << gate.waiting();
    best = std::min(best, std::chrono::duration_cast<std::chrono::milliseconds>(
                              std::chrono::steady_clock::now() - begin));
    gate.open();
    EXPECT_TRUE(eventually([&] { return counts().completed == added; }, 20s));
  }
  EXPECT_LE(best, kBar);
}

// A worker may pop a wake while it has no slot free: it hands the wake on.
TEST_F(Wake, BusyWorkerHandsTheWakeOn) {
  auto own = named(name);
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Gate gate;
  Runs runs;
  const auto handler = [&](Job<>& job) {
    if (job.data() == "long") gate.pass();
    runs.note(job.data());
  };
  Worker first{q, patient(), handler};
  ASSERT_TRUE(eventually([&] { return blocked(name) == 1; }));
  // It takes the long job without a wake, because a reconnect makes it look; and blocks all the
  // time.
  set_meta("pause", "1");
  add({"long"});
  redis({"HDEL", key_of(Structure::meta), "pause"});
  const auto list = redis({"CLIENT", "LIST"}).text;
  auto line = list.substr(0, list.find(" name=" + name + " "));
  line = line.substr(line.rfind("id=") + 3);
  redis({"CLIENT", "KILL", "ID", line.substr(0, line.find(' '))});
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, 10s));
  ASSERT_EQ(blocked(name), 1U);
  Worker second{queue, patient(), handler};
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(queue.add("short"));
    ASSERT_TRUE(eventually([&] { return runs.times("short") == i + 1; }, 10s)) << i;
  }
  gate.open();
}

// The poll is the backstop: whoever deletes the marker delays work by no more than it.
// One job that has been through a crash runs in a process at a time; a claim of another queue that
// may take one, and finds none, keeps it from nobody.
TEST_F(Wake, CrashedJobIsTakenThoughWorkersOfAnotherQueueClaimAllTheTime) {
  Queue<> busy{client, unique_queue("busy")};
  std::atomic<bool> ending{false};
  Worker other{busy, {.concurrency = 2}, [&](Job<>&) {
                 if (!ending) (void)busy.add("again");
               }};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(busy.add("x"));
  WorkerOptions how;
  how.poll = 60s;
  Runs runs;
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  for (int round = 0; round < 30; ++round) {
    const auto id = queue.add("x", {.delay = 1h}).value();
    redis({"ZREM", key_of(Structure::delayed), id});
    redis({"HSET", job_key(name, id), "run", "1:0:1:0:0::", "delay", "0"});
    redis({"RPUSH", key_of(Structure::crashed), id});
    redis({"ZADD", key_of(Structure::marker), "0", "0"});
    ASSERT_TRUE(eventually([&] { return runs.times(id) == 1; })) << round;
  }
  ending = true;
  EXPECT_TRUE(eventually([&] { return busy.counts()->waiting + busy.counts()->active == 0; }));
  EXPECT_TRUE(other.stop());
  delete_queue(redis, busy.name());
}

TEST_F(Wake, MarkerDeletedByHand) {
  ASSERT_TRUE(queue.open());
  set_meta("pause", "1");  // so that the adds below wake nobody
  add_many(5);
  const auto later = queue.add("later", {.delay = 100ms}).value();
  redis({"DEL", key_of(Structure::marker)});
  redis({"HDEL", key_of(Structure::meta), "pause"});
  Runs runs;
  WorkerOptions how;
  how.poll = 300ms;
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  EXPECT_TRUE(eventually([&] { return runs.size() == 6; }, 10s)) << runs.size();
  for (int i = 0; i < 3; ++i) {
    set_meta("pause", "1");
    const auto id = queue.add("x").value();
    redis({"DEL", key_of(Structure::marker)});
    redis({"HDEL", key_of(Structure::meta), "pause"});
    EXPECT_TRUE(eventually([&] { return runs.times(id) == 1; }, 10s));
  }
  EXPECT_EQ(runs.times(later), 1);
}

// What no waiting will mend ends a worker, with the reason; anything else it lives through.
TEST_F(Wake, WaitThatTheServerBreaksOffIsTakenUpAgain) {
  auto own = named(name);
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  Worker worker{q, patient(), [&](Job<>& job) { runs.note(job.id()); }};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return blocked(name) == 1; }, 10s)) << log.text();
    const auto list = redis({"CLIENT", "LIST"}).text;
    auto line = list.substr(0, list.find(" name=" + name + ":block "));
    line = line.substr(line.rfind("id=") + 3);
    redis({"CLIENT", "UNBLOCK", line.substr(0, line.find(' ')), "ERROR"});
    ASSERT_TRUE(queue.add("x"));
    ASSERT_TRUE(eventually([&] { return runs.size() == std::size_t(i) + 1; }, 10s)) << log.text();
  }
  EXPECT_TRUE(worker.status());
  EXPECT_TRUE(log.says("UNBLOCKED"));
}

TEST_F(Wake, MarkerOfAForeignTypeEndsTheWorker) {
  ASSERT_TRUE(queue.open());
  redis({"SET", key_of(Structure::marker), "not a sorted set"});
  Worker worker{queue, {}, [](Job<>&) {}};
  ASSERT_TRUE(worker.wait(10s));
  const auto error = error_of(worker.status());
  EXPECT_EQ(error.code, ErrorCode::wrong_type) << error.message();
  EXPECT_NE(error.detail.find(key_of(Structure::marker)), std::string::npos) << error.detail;
}

TEST_F(Wake, PausedQueueGivesNothing) {
  ASSERT_TRUE(queue.open());
  set_meta("pause", "1");
  add_many(3);
  EXPECT_TRUE(counts().paused);
  WorkerOptions how;
  how.poll = 100ms;
  Runs runs;
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  // It has asked again and again, and got nothing.
  const auto claims = [this] {
    const auto stats = redis({"INFO", "commandstats"}).text;
    const std::string command = "cmdstat_bzpopmin:calls=";
    const auto at = stats.find(command);
    return at == std::string::npos ? 0 : std::stol(stats.substr(at + command.size()));
  };
  const auto before = claims();
  ASSERT_TRUE(eventually([&] { return claims() >= before + 4; }, 10s));
  EXPECT_EQ(runs.size(), 0U);
  EXPECT_EQ(counts().waiting, 3);
  redis({"HDEL", key_of(Structure::meta), "pause"});
  EXPECT_TRUE(eventually([&] { return runs.size() == 3; }, 10s));
}

TEST_F(Wake, WorkersShareAQueueAndEachJobRunsOnce) {
  constexpr std::size_t kJobs = 2'000;
  ASSERT_TRUE(queue.open());
  auto own = another();
  Queue<> theirs{own, name};
  Runs first_runs;
  Runs second_runs;
  Worker first{queue, patient(5), [&](Job<>& job) { first_runs.note(job.id()); }};
  Worker second{theirs, patient(5), [&](Job<>& job) { second_runs.note(job.id()); }};
  std::vector<std::string> ids;
  for (int batch = 0; batch < 20; ++batch)
    for (auto& id : add_many(kJobs / 20)) ids.push_back(std::move(id));
  EXPECT_TRUE(eventually([&] { return first_runs.size() + second_runs.size() == kJobs; }, 20s));
  for (const auto& id : ids) ASSERT_EQ(first_runs.times(id) + second_runs.times(id), 1) << id;
  EXPECT_GT(first_runs.size(), 0U);
  EXPECT_GT(second_runs.size(), 0U);
}

TEST_F(Wake, StopWhenEmptyWaitsForDelayedRetriedAndForeignJobs) {
  add({"plain"});
  add({"delayed"}, {.delay = 300ms});
  add({"twice"}, {.attempts = 2, .backoff = Backoff::fixed(200ms)});
  Runs runs;
  const auto handler = [&](Job<>& job) {
    runs.note(job.data());
    return job.data() == "twice" && job.attempt() == 1 ? Outcome::fail("once") : Outcome::done();
  };
  WorkerOptions drain;
  drain.stop_when_empty = true;
  {
    Worker worker{queue, drain, handler};
    EXPECT_TRUE(worker.wait(20s));
    EXPECT_TRUE(worker.status());
    EXPECT_EQ(runs.size(), 4U);
  }
  // What another worker still holds may come back, so it is waited for.
  Gate gate;
  add({"held"});
  Worker holder{queue, {}, [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  Worker drainer{queue, drain, handler};
  EXPECT_FALSE(drainer.wait(700ms));
  gate.open();
  EXPECT_TRUE(drainer.wait(20s));
}

class WakeOnAServerOfItsOwn : public OwnServerTest {
 protected:
  // Calls of scripts that the server has counted.
  long script_calls() {
    const auto text = redis({"INFO", "commandstats"}).text;
    const auto at = text.find("cmdstat_evalsha:calls=");
    return at == std::string::npos ? 0 : std::stol(text.substr(at + 22));
  }
};

TEST_F(WakeOnAServerOfItsOwn, AfterFlushallTheWorkerOpensTheQueueAnew) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  WorkerOptions how;
  how.poll = 200ms;
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.data()); }};
  ASSERT_TRUE(queue.add("before"));
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }));
  redis({"FLUSHALL"});
  ASSERT_TRUE(eventually(
      [&] {
        return redis({"EXISTS", key_of(Structure::meta)}).integer == 1;
      },
      10s));
  ASSERT_TRUE(queue.add("after"));
  EXPECT_TRUE(eventually([&] { return runs.times("after") == 1; }, 10s));
  EXPECT_TRUE(worker.status());
}

// It used to ask again at once, for as long as the server refused, and said nothing.
TEST_F(WakeOnAServerOfItsOwn, AfterFlushallOfAFullServerTheWorkerWaitsWithoutSpinning) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  WorkerOptions how;
  how.poll = 200ms;
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.data()); }};
  ASSERT_TRUE(queue.add("before"));
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }));
  redis({"CONFIG", "SET", "maxmemory", "1"});
  redis({"FLUSHALL"});
  ASSERT_TRUE(eventually(
      [&] { return log.text().find("cannot be opened anew yet") != std::string::npos; }, 10s));
  redis({"CONFIG", "RESETSTAT"});
  EXPECT_FALSE(eventually([&] { return script_calls() > 100; }, 1s)) << "in a second";
  redis({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_TRUE(eventually([&] { return queue.add("after").ok(); }, 10s));
  EXPECT_TRUE(eventually([&] { return runs.times("after") == 1; }, 10s));
  EXPECT_TRUE(worker.status());
}

}  // namespace
}  // namespace echomq::test
