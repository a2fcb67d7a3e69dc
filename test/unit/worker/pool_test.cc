// SPDX-License-Identifier: MIT
#include "worker/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>
#include <vector>

namespace echomq {
namespace {

std::vector<Task> one(Task task) {
  std::vector<Task> tasks;
  tasks.push_back(std::move(task));
  return tasks;
}

TEST(Pool, RunsAsManyAtTheSameTimeAsItMay) {
  constexpr int kTasks = 4;
  Pool pool(kTasks);
  std::latch all_inside(kTasks);
  std::atomic<int> passed{0};
  // Each waits for all the others: with fewer threads than tasks this would never end.
  std::vector<Task> tasks;
  for (int i = 0; i < kTasks; ++i)
    tasks.emplace_back([&] {
      all_inside.arrive_and_wait();
      ++passed;
    });
  pool.run(std::move(tasks));
  pool.join();
  EXPECT_EQ(passed, kTasks);
}

TEST(Pool, ATaskBehindALongOneStillGetsAThread) {
  Pool pool(2);
  std::latch second_ran(1);
  std::atomic<bool> ok{false};
  pool.run(one([&] {
    second_ran.wait();
    ok = true;
  }));
  pool.run(one([&] { second_ran.count_down(); }));
  pool.join();
  EXPECT_TRUE(ok);
}

TEST(Pool, NeverHasMoreThreadsThanItMay) {
  Pool pool(2);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int i = 0; i < 200; ++i)
    pool.run(one([&] {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }));
  pool.join();
  EXPECT_GE(seen.size(), 1U);
  EXPECT_LE(seen.size(), 2U);
}

TEST(Pool, JoinRunsWhatIsQueued) {
  std::atomic<int> ran{0};
  {
    Pool pool(1);
    for (int i = 0; i < 50; ++i) pool.run(one([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 50);
}

}  // namespace
}  // namespace echomq
