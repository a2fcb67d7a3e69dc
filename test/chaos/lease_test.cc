// SPDX-License-Identifier: MIT
// Leases under load and under loss: kept while the process lives, however busy it is; and when one
// is really lost the handler is told at once, and its result is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "chaos.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class LeaseUnderStress : public Chaos {
 protected:
  static WorkerOptions leased(unsigned concurrency) {
    auto how = steady(concurrency);
    how.lease = 2s;
    return how;
  }
};

// The handlers leave the cores to nothing else for three leases; another worker waits to take over.
TEST_F(LeaseUnderStress, P5_IsKeptWhileTheHandlersBurnAllCores) {
  const auto burners = std::max(std::thread::hardware_concurrency(), 1U) + 1;
  auto own = far();
  Queue<> q{own, name};
  Runs runs;
  const auto burn = [&](Job<>& job) {
    runs.note(job.id());
    const auto end = std::chrono::steady_clock::now() + 6s;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  const auto ids = add_many(burners);
  Worker worker{q, leased(burners), burn};
  ASSERT_TRUE(eventually([&] { return runs.size() == burners; }, kResumes));
  Worker thief{queue, leased(burners), burn};
  EXPECT_TRUE(
      eventually([&] { return counts().completed == std::int64_t(burners); }, 6s + kResumes));
  expect_all_done(redis, queue, ids, by_id(runs), 0);
  // The server has counted the last end a moment before the worker hears of it.
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == burners; }));
  EXPECT_EQ(worker.stats().refused + thief.stats().recovered, 0U);
}

// Cut off for longer than the lease: the job is given to another, and once the first one hears of
// it, its handler is asked to stop.
TEST_F(LeaseUnderStress, P5_LostOneStopsTheHandlerAndRefusesItsResult) {
  auto own = far();
  Queue<> q{own, name};
  const auto id = queue.add("x").value();
  Gate gate;
  std::atomic<bool> stopped{false};
  std::atomic<bool> lost{false};
  Worker cut_off{q, leased(1), [&](Job<>& job) {
                   if (job.crashes() > 0) return "too late";
                   gate.open();
                   stopped = eventually([&] { return job.stop_token().stop_requested(); }, 20s);
                   lost = job.lease_lost();
                   return "by the one that was cut off";
                 }};
  gate.pass();
  proxy.set({.blackhole = true});
  Gate second;
  Worker heir{queue, leased(1), [&](Job<>& job) {
                EXPECT_EQ(job.crashes(), 1U);
                second.pass();
                return "by the heir";
              }};
  ASSERT_TRUE(eventually([&] { return second.waiting() == 1; }, kResumes));
  EXPECT_FALSE(stopped) << "it cannot know yet";
  const auto back = std::chrono::steady_clock::now();
  proxy.pass();
  ASSERT_TRUE(eventually([&] { return stopped.load(); }, kResumes)) << log.text();
  EXPECT_LT(std::chrono::steady_clock::now() - back, 4s);
  EXPECT_TRUE(eventually([&] { return cut_off.stats().refused == 1; }, kResumes)) << log.text();
  EXPECT_TRUE(lost);
  second.open();
  ASSERT_TRUE(eventually([&] { return counts().completed == 1; }, kResumes));
  EXPECT_EQ(info(id).result, "by the heir");
  EXPECT_EQ(info(id).crashes, 1U);
  EXPECT_EQ(info(id).attempts_started, 2U);
  EXPECT_EQ(cut_off.stats().completed, 0U);
}

}  // namespace
}  // namespace echomq::test
