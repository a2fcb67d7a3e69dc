// SPDX-License-Identifier: MIT
// The limits of a queue, as workers keep to them: shared by all, changed while they work, and
// waited for without asking again and again. The poll is a minute unless a test says otherwise, so
// that nothing but a mark can be what woke them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class LimitedWorkers : public LibraryTest {
 protected:
  static WorkerOptions patient(unsigned concurrency = 1) {
    return {.concurrency = concurrency, .poll = 60s};
  }
  // Workers in processes of their own, as far as the server can tell.
  template <class Handler>
  void start(int count, unsigned concurrency, Handler handler) {
    for (int i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<Client>(another()));
      Queue<> theirs{*clients.back(), name};
      workers.push_back(std::make_unique<Worker>(theirs, patient(concurrency), handler));
    }
  }
  bool completed(std::int64_t count) {
    return eventually([&] { return counts().completed == count; }, 20s);
  }
  // Holds what runs at the gate, and tells how many that are.
  auto passing(Gate& gate) {
    return [&gate](Job<>&) { gate.pass(); };
  }

  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Worker>> workers;
};

// How many handlers run, and how many have at most.
struct Gauge {
  void enter() {
    const auto now = ++running;
    for (auto seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
    }
  }
  std::atomic<int> running{0};
  std::atomic<int> most{0};
};

TEST_F(LimitedWorkers, ShareOneConcurrency) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_concurrency(3));
  add_many(60);
  Gauge gauge;
  start(3, 4, [&](Job<>&) {
    gauge.enter();
    std::this_thread::sleep_for(5ms);
    --gauge.running;
  });
  EXPECT_TRUE(completed(60)) << counts().completed;
  EXPECT_EQ(gauge.most, 3);
}

TEST_F(LimitedWorkers, GoOnAtOnceWhenTheConcurrencyIsRaisedOrCleared) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_concurrency(1));
  add_many(5);
  Gate gate;
  start(2, 3, passing(gate));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, 20s));
  EXPECT_EQ(queue.limits().value().gate, QueueGate::concurrency);
  ASSERT_TRUE(queue.set_concurrency(2));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }, 20s));
  ASSERT_TRUE(queue.clear_concurrency());
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 5; }, 20s));
  gate.open();
  EXPECT_TRUE(completed(5));
}

// The slot goes on to another worker however the run ended.
TEST_F(LimitedWorkers, PassTheSlotOnWhateverBecomesOfAJob) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_concurrency(1));
  const std::vector<std::string> ways{"fail", "later", "give up", "throw", "done"};
  for (const auto& way : ways) queue.add(way, {.attempts = 2}).value();
  std::atomic<bool> again{false};
  start(2, 2, [&](Job<>& job) -> Outcome {
    if (job.data() == "fail") return Outcome::fail("broke");
    if (job.data() == "later" && !again.exchange(true)) return Outcome::retry_in(50ms);
    if (job.data() == "give up") return Outcome::unrecoverable("no use");
    if (job.data() == "throw") throw std::runtime_error("thrown");
    return Outcome::done();
  });
  EXPECT_TRUE(eventually([&] { return counts().completed + counts().failed == 5; }, 20s));
  EXPECT_EQ(counts().failed, 3);
}

TEST_F(LimitedWorkers, ShareOneRate) {
  constexpr auto kWindow = 300ms;
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_rate_limit(RateLimit::window(5, kWindow)));
  add_many(20);
  std::mutex mutex;
  std::vector<std::int64_t> starts;
  start(3, 4, [&](Job<>&) {
    const std::lock_guard lock(mutex);
    starts.push_back(client.server_time_ms());
  });
  ASSERT_TRUE(completed(20)) << counts().completed;
  std::sort(starts.begin(), starts.end());
  // Twenty jobs are four windows. A handler may begin late, but not early.
  EXPECT_GE(starts.back() - starts.front(), 3 * kWindow.count() - 250);
  EXPECT_LE(starts.back() - starts.front(), 10'000) << "nothing but the poll has woken them";
}

TEST_F(LimitedWorkers, SpaceASmoothRateEvenly) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_rate_limit(RateLimit::smooth(20, 1s)));
  add_many(10);
  const auto begin = client.server_time_ms();
  start(2, 4, [](Job<>&) {});
  ASSERT_TRUE(completed(10));
  const auto took = client.server_time_ms() - begin;
  EXPECT_GE(took, 9 * 50 - 10);
  EXPECT_LE(took, 10'000);
}

TEST_F(LimitedWorkers, GoOnAtOnceWhenTheRateIsChangedOrCleared) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_rate_limit(RateLimit::window(1, 1h)));
  add_many(4);
  start(2, 1, [](Job<>&) {});
  ASSERT_TRUE(completed(1));
  const auto limits = queue.limits().value();
  EXPECT_EQ(limits.gate, QueueGate::rate);
  EXPECT_GT(limits.opens_ms, client.server_time_ms() + 3'000'000);
  EXPECT_EQ(counts().completed, 1);
  ASSERT_TRUE(queue.set_rate_limit(RateLimit::window(2, 1h)));
  ASSERT_TRUE(completed(2));
  ASSERT_TRUE(queue.clear_rate_limit());
  EXPECT_TRUE(completed(4));
}

// B23: one job that does not end holds up nothing but its slot.
TEST_F(LimitedWorkers, B23_GoOnBesideAJobThatDoesNotEnd) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_rate_limit(RateLimit::window(1, 50ms)));
  Gate gate;
  queue.add("endless").value();
  add_many(5);
  Worker worker{queue, patient(2), [&](Job<>& job) {
                  if (job.data() == "endless") gate.pass();
                }};
  EXPECT_TRUE(completed(5)) << counts().completed;
  EXPECT_EQ(gate.waiting(), 1U);
  gate.open();
}

// Nothing of a limit is in a worker's memory, so the next workers keep to it as well.
TEST_F(LimitedWorkers, KeepToTheLimitsAcrossARestart) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_rate_limit(RateLimit::window(2, 1h)));
  add_many(5);
  start(2, 2, [](Job<>&) {});
  ASSERT_TRUE(completed(2));
  workers.clear();
  clients.clear();
  start(2, 2, [](Job<>&) {});
  // They have asked and were turned away: only they could have taken the wake of this job.
  add_many(1);
  ASSERT_TRUE(eventually([&] {
    return redis({"EXISTS", key_of(Structure::marker)}).integer == 0;
  }));
  EXPECT_EQ(counts().completed, 2);
  ASSERT_TRUE(queue.clear_rate_limit());
  EXPECT_TRUE(completed(6));
}

TEST_F(LimitedWorkers, WaitForTheEndOfAHold) {
  const auto until = [&] {
    queue.open().value();
    return queue.rate_limit(500ms).value();
  }();
  std::atomic<std::int64_t> started{0};
  start(2, 1, [&](Job<>&) { started = client.server_time_ms(); });
  queue.add("x").value();
  ASSERT_TRUE(eventually([&] { return started != 0; }, 20s));
  EXPECT_GE(started, until - 5);
  EXPECT_LE(started, until + 5'000);
  EXPECT_FALSE(counts().limited);
}

TEST_F(LimitedWorkers, GoOnAtOnceWhenAHoldIsReleased) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.rate_limit(1h));
  add_many(3);
  start(2, 1, [](Job<>&) {});
  ASSERT_TRUE(eventually([&] {
    return show(redis({"HGET", key_of(Structure::limiter), "armed"})) != "(nil)" &&
           redis({"EXISTS", key_of(Structure::marker)}).integer == 0;
  }));
  EXPECT_EQ(counts().completed, 0);
  ASSERT_TRUE(queue.release_rate_limit());
  EXPECT_TRUE(completed(3));
}

TEST_F(LimitedWorkers, PromoteDelayedJobsWhileTheQueueIsHeld) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.rate_limit(1h));
  start(1, 1, [](Job<>&) {});
  queue.add("now").value();
  const auto id = queue.add("soon", {.delay = 100ms}).value();
  EXPECT_TRUE(eventually([&] { return info(id).state == JobState::waiting; }, 20s));
  EXPECT_EQ(counts().completed, 0);
}

// B22: the worker that keeps the time of a gate is paused, or stopped: another one takes over.
TEST_F(LimitedWorkers, B22_HandOverTheTimeOfAGate) {
  for (const bool stop : {false, true}) {
    SCOPED_TRACE(stop);
    ASSERT_TRUE(queue.open());
    ASSERT_TRUE(queue.rate_limit(700ms));
    Runs runs;
    start(1, 1, [&](Job<>&) { runs.note("keeper"); });
    queue.add("x").value();
    const auto kept = [&] {
      return show(redis({"HGET", key_of(Structure::limiter), "armed"})) != "(nil)" &&
             redis({"EXISTS", key_of(Structure::marker)}).integer == 0;
    };
    ASSERT_TRUE(eventually(kept));
    start(1, 1, [&](Job<>&) { runs.note("heir"); });
    if (stop)
      ASSERT_TRUE(workers.front()->stop(20s));
    else
      workers.front()->pause();
    EXPECT_TRUE(eventually([&] { return runs.times("heir") == 1; }, 20s));
    EXPECT_EQ(runs.times("keeper"), 0);
    workers.clear();
    clients.clear();
  }
}

// P7: a lease that ran out gives the slot back, whoever held it.
TEST_F(LimitedWorkers, P7_TakeTheSlotOfAWorkerThatDied) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_concurrency(1));
  const auto id = queue.add("x").value();
  // A claim of nobody, which ended two seconds ago.
  redis({"LREM", key_of(Structure::wait), "1", id});
  const auto second = client.server_time_ms() / 1'000 - 1'704'067'200 - 2;
  redis({"ZADD", key_of(Structure::active), std::to_string(second * 2'097'152 + 1), id});
  add_many(2);
  auto how = patient();
  how.lease = 2s;
  Worker worker{queue, how, [](Job<>&) {}};
  EXPECT_TRUE(completed(3)) << counts().completed;
}

TEST_F(LimitedWorkers, PauseAndLimitsTogether) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.pause());
  ASSERT_TRUE(queue.set_concurrency(1));
  ASSERT_TRUE(queue.rate_limit(300ms));
  add_many(3);
  start(2, 2, [](Job<>&) {});
  EXPECT_EQ(queue.limits().value().gate, QueueGate::paused);
  ASSERT_TRUE(eventually([&] { return queue.limits().value().held_until_ms == 0; }));
  EXPECT_EQ(counts().completed, 0);
  ASSERT_TRUE(queue.resume());
  EXPECT_TRUE(completed(3));
}

// --- a handler that is told of somebody else's limit

TEST_F(LimitedWorkers, AHandlerHoldsTheQueueAndSpendsNoAttempt) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  std::atomic<std::int64_t> first{0};
  std::atomic<std::int64_t> second{0};
  const auto id = queue.add("limited", {.attempts = 1}).value();
  queue.add("next").value();
  start(2, 1, [&](Job<>& job) -> Outcome {
    if (job.data() == "limited" && first == 0) {
      first = client.server_time_ms();
      return Outcome::rate_limited(400ms);
    }
    if (job.data() == "limited") second = client.server_time_ms();
    runs.note(job.data());
    return Outcome::done();
  });
  ASSERT_TRUE(completed(2)) << counts().completed;
  EXPECT_GE(second - first, 395);
  EXPECT_EQ(info(id).attempts_made, 1U);
  EXPECT_EQ(info(id).attempts_started, 2U);
  EXPECT_FALSE(counts().limited);
}

// One worker at a time, so that the order is that of the line.
TEST_F(LimitedWorkers, AJobThatWasRateLimitedStandsFirstAgain) {
  ASSERT_TRUE(queue.open());
  for (const char* const data : {"a", "b", "c"}) queue.add(data).value();
  const auto low = queue.add("low", {.priority = 7}).value();
  Runs runs;
  std::atomic<int> limits{0};
  Worker worker{queue, patient(), [&](Job<>& job) {
                  runs.note(job.data());
                  // Thrown the first time, returned by a handler of another type elsewhere.
                  if ((job.data() == "a" || job.data() == "low") && runs.times(job.data()) == 1) {
                    ++limits;
                    throw RateLimited{30ms};
                  }
                }};
  ASSERT_TRUE(completed(4)) << counts().completed;
  EXPECT_EQ(runs.all(), (std::vector<std::string>{"a", "a", "b", "c", "low", "low"}));
  EXPECT_EQ(limits, 2);
  EXPECT_EQ(info(low).attempts_made, 1U);
  EXPECT_EQ(worker.stats().released, 2U);
}

TEST_F(LimitedWorkers, B44_AJobThatIsRateLimitedAgainAndAgainFailsAtLast) {
  ASSERT_TRUE(queue.open());
  const auto id = queue.add("x").value();
  queue.add("y").value();
  auto how = patient();
  how.max_starts = 3;
  Worker worker{queue, how, [](Job<>& job) -> Outcome {
                  return job.data() == "x" ? Outcome::rate_limited(10ms) : Outcome::done();
                }};
  ASSERT_TRUE(completed(1));
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.attempts_started, 3U);
  EXPECT_EQ(job.failed_reason, "started 3 times and put off each time; max_starts is 3");
}

TEST_F(LimitedWorkers, AHandlerMayReturnNothingButRateLimited) {
  ASSERT_TRUE(queue.open());
  const auto id = queue.add("x").value();
  Worker worker{queue, patient(), [](Job<>&) { return RateLimited{1h}; }};
  ASSERT_TRUE(eventually([&] { return counts().limited; }, 20s));
  EXPECT_EQ(info(id).state, JobState::waiting);
  const auto limits = queue.limits().value();
  EXPECT_EQ(limits.gate, QueueGate::held);
  EXPECT_EQ(limits.held_until_ms, limits.opens_ms);
}

// --- what is refused

TEST_F(LimitedWorkers, BadValuesAreRefusedByNameAndNothingIsSent) {
  ASSERT_TRUE(queue.open());
  const auto expect_bad = [](const Error& error, const std::string& option,
                             const std::string& value) {
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message();
    EXPECT_NE(error.detail.find(option + " is " + value), std::string::npos) << error.detail;
  };
  expect_bad(error_of(queue.set_concurrency(0)), "concurrency", "0");
  expect_bad(error_of(queue.set_concurrency(1'000'001)), "concurrency", "1000001");
  expect_bad(error_of(queue.set_rate_limit({0, 1s})), "max", "0");
  expect_bad(error_of(queue.set_rate_limit({5, 0ms})), "duration", "0");
  expect_bad(error_of(queue.set_rate_limit({5, 24h * 31})), "duration", "2678400000");
  expect_bad(error_of(queue.set_rate_limit({5, 1s, 6})), "burst", "6");
  expect_bad(error_of(queue.rate_limit(0ms)), "duration", "0");
  expect_bad(error_of(queue.rate_limit(-5ms)), "duration", "-5");
  EXPECT_EQ(counts().limited, false);
  Queue<> nobody{client, "nobody"};
  EXPECT_EQ(error_of(nobody.set_concurrency(1)).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(nobody.limits()).code, ErrorCode::not_found);
}

}  // namespace
}  // namespace echomq::test
