// SPDX-License-Identifier: MIT
// INV7 under the death of worker processes: each job ends in exactly one state, and each run too
// many has a recorded recovery.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "support/fleet.h"
#include "support/library_test.h"
#include "support/runs.h"
#include "support/sanitizer.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Death : public LibraryTest {
 protected:
  Fleet fleet{server.url(), name};
};

// A process is killed in the middle of its jobs; the others take those over.
TEST_F(Death, B24_INV7_WorkerKilledUnderLoad) {
  constexpr std::size_t kJobs = 400;
  auto ids = add(std::vector<std::string>(kJobs / 2, "nap 20"));
  auto& victim = fleet.start({"concurrency=8", "lease=2000", "name=victim"});
  ASSERT_TRUE(eventually([&] { return fleet.run_count() > 20; })) << fleet.output();
  fleet.start({"concurrency=8", "lease=2000", "name=survivor"});
  fleet.start({"concurrency=8", "lease=2000", "name=survivor"});
  for (auto& id : add(std::vector<std::string>(kJobs / 2, "nap 20"))) ids.push_back(std::move(id));
  ASSERT_TRUE(eventually([&] { return fleet.run_count() > kJobs / 3; })) << fleet.output();
  victim.kill9();
  EXPECT_TRUE(
      eventually([&] { return counts().completed == static_cast<std::int64_t>(kJobs); }, 15s))
      << fleet.output();
  expect_all_done(redis, queue, ids, fleet.runs(), 1);
  // It was killed while it worked, or this test has shown nothing.
  EXPECT_GT(fleet.run_count(), kJobs);
}

// Its slot of the queue's concurrency goes with its lease, and that is extended each third of it.
TEST_F(Death, P7_TheSlotOfAKilledWorkerIsFreeAfterItsLease) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_concurrency(1));
  const auto held = queue.add("hold " + fleet.file("never")).value();
  auto& victim = fleet.start({"lease=2000"});
  ASSERT_TRUE(eventually([&] { return fleet.began(victim, held); })) << fleet.output();
  queue.add("x").value();
  fleet.start({"lease=2000"});
  victim.kill9();
  const auto killed = std::chrono::steady_clock::now();
  // That one again, which may be taken first, or the next.
  ASSERT_TRUE(eventually([&] { return fleet.run_count() > 1; }, 15s)) << fleet.output();
  const auto took = std::chrono::steady_clock::now() - killed;
  // Leases end at full seconds, whoever recovers looks each third of one, and waits another third
  // to rob nobody.
  EXPECT_LT(took, 3'000ms + 2'000ms * 2 / 3 + (kSanitized ? 4s : 1s));
}

// By its own hand the next one: nobody else is there, a new process comes.
TEST_F(Death, B24_INV7_OnlyWorkerKilledAndReplaced) {
  auto ids = add(std::vector<std::string>(60, "nap 30"));
  for (auto& id : add({"nap 1", "nap 1"}, {.priority = 4})) ids.push_back(std::move(id));
  auto& victim = fleet.start({"concurrency=4", "lease=2000"});
  ASSERT_TRUE(eventually([&] { return fleet.run_count() > 10; })) << fleet.output();
  victim.kill9();
  auto& next = fleet.start({"concurrency=4", "lease=2000", "drain"});
  EXPECT_EQ(next.wait(15s), 0) << fleet.output();
  expect_all_done(redis, queue, ids, fleet.runs(), 1);
  EXPECT_GT(fleet.run_count(), ids.size());
}

// A process sleeps through its lease; what it says afterwards is refused.
TEST_F(Death, LateFinishOfAStoppedWorkerIsRefused) {
  const auto id = queue.add("hold " + fleet.file("go on")).value();
  auto& sleeper = fleet.start({"lease=2000", "name=sleeper"});
  ASSERT_TRUE(eventually([&] { return fleet.began(sleeper, id); })) << fleet.output();
  sleeper.signal(SIGSTOP);
  {
    WorkerOptions how;
    how.lease = 2s;
    how.name = "heir";
    Worker heir{queue, how, [](Job<>& job) {
                  EXPECT_EQ(job.crashes(), 1U);
                  return "by the heir";
                }};
    ASSERT_TRUE(eventually([&] { return heir.stats().completed == 1; }, 12s));
    EXPECT_EQ(heir.stats().recovered, 1U);
  }
  const auto finished = info(id).finished_ms;
  std::ofstream(fleet.file("go on")) << "now";
  sleeper.signal(SIGCONT);
  EXPECT_TRUE(
      eventually([&] { return sleeper.output().find("\"stale\"") != std::string::npos; }, 10s))
      << sleeper.output();
  sleeper.signal(SIGTERM);
  EXPECT_EQ(sleeper.wait(), 0) << sleeper.output();
  EXPECT_NE(sleeper.output().find("completed=0 refused=1"), std::string::npos) << sleeper.output();
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::completed);
  EXPECT_EQ(job.result, "by the heir");
  EXPECT_EQ(job.worker, "heir");
  EXPECT_EQ(job.finished_ms, finished);
  EXPECT_EQ(job.attempts_started, 2U);
  EXPECT_EQ(job.crashes, 1U);
}

// One job that kills its process whenever it runs ends in `failed`; its neighbours do not.
TEST_F(Death, INV7_AbortingJobAmongInnocents) {
  std::vector<std::string> data(200, "nap 15");
  data.insert(data.begin() + 50, "abort");
  auto ids = add(data);
  const auto culprit = ids[50];
  ids.erase(ids.begin() + 50);
  ChildProcess* worker = nullptr;
  int deaths = 0;
  const auto drained = [&] {
    if (worker == nullptr || worker->ended()) {
      if (worker != nullptr && *worker->ended() == 0) return true;
      deaths += worker != nullptr ? 1 : 0;
      worker = &fleet.start({"concurrency=100", "lease=2000", "max_crashes=2", "drain"});
    }
    return false;
  };
  ASSERT_TRUE(eventually(drained, 30s)) << fleet.output();
  EXPECT_EQ(deaths, 3);
  const auto failed = info(culprit);
  EXPECT_EQ(failed.state, JobState::failed);
  EXPECT_EQ(failed.crashes, 3U);
  EXPECT_NE(failed.failed_reason.find("lease expired 3 times"), std::string::npos)
      << failed.failed_reason;
  const auto counted = counts();
  EXPECT_EQ(counted.completed, 200);
  EXPECT_EQ(counted.failed, 1);
  EXPECT_EQ(counted.active + counted.waiting, 0);
  for (const auto& id : ids) EXPECT_EQ(info(id).state, JobState::completed) << id;
}

// A lease is lost and the same process claims the job again, while the first run still works: the
// two do not take each other's place.
TEST_F(Death, SecondRunBesideAnOlderOneInTheSameProcess) {
  const auto id = queue.add("x").value();
  Gate first;
  Gate second;
  std::atomic<int> begun{0};
  WorkerOptions how;
  how.concurrency = 2;
  how.lease = 2s;
  Worker worker{queue, how, [&](Job<>&) {
                  const int run = ++begun;
                  (run == 1 ? first : second).pass();
                  return "run " + std::to_string(run);
                }};
  ASSERT_TRUE(eventually([&] { return first.waiting() == 1; }));
  // As a recovery by another process leaves it.
  redis({"ZREM", key_of(Structure::active), id});
  redis({"RPUSH", key_of(Structure::wait), id});
  redis({"ZADD", key_of(Structure::marker), "0", "0"});
  ASSERT_TRUE(eventually([&] { return second.waiting() == 1; }, 10s));
  const auto lease = redis({"ZSCORE", key_of(Structure::active), id}).text;
  first.open();
  ASSERT_TRUE(eventually([&] { return worker.stats().refused == 1; }, 10s));
  // The second run is still extended, and so not taken for dead.
  ASSERT_TRUE(eventually(
      [&] {
        return redis({"ZSCORE", key_of(Structure::active), id}).text != lease;
      },
      10s));
  second.open();
  ASSERT_TRUE(eventually([&] { return worker.stats().completed == 1; }, 10s));
  EXPECT_EQ(info(id).result, "run 2");
  EXPECT_EQ(info(id).crashes, 0U);
}

}  // namespace
}  // namespace echomq::test
