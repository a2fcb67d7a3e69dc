// SPDX-License-Identifier: MIT
#include "worker/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/deadline.h"
#include "support/runs.h"

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

// How many threads that ran be_noted() have not ended: a destructor of a thread's own tells, since
// the system lists one that was joined for a moment longer.
std::atomic<int> noted{0};
struct Noted {
  Noted() { ++noted; }
  ~Noted() { --noted; }
};
void be_noted() { const thread_local Noted here; }

TEST(Pool, RunsMoreAtTheSameTimeOnceItMay) {
  Pool pool(1);
  std::latch both_inside(2);
  for (int i = 0; i < 2; ++i) pool.run(one([&] { both_inside.arrive_and_wait(); }));
  pool.set_most(2);  // or the first one would wait for ever
  pool.join();
}

TEST(Pool, ThreadsThatAreTooManyLeaveWhenTheirTasksEnd) {
  test::Gate gate;
  Pool pool(4);
  for (int i = 0; i < 4; ++i)
    pool.run(one([&] {
      be_noted();
      gate.pass();
    }));
  ASSERT_TRUE(test::eventually([&] { return gate.waiting() == 4; }));
  EXPECT_EQ(noted, 4);
  pool.set_most(1);
  EXPECT_EQ(gate.waiting(), 4U) << "no task is interrupted";
  gate.open();
  EXPECT_TRUE(test::eventually([] { return noted == 1; }));
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) pool.run(one([&] { ++ran; }));
  pool.join();
  EXPECT_EQ(ran, 100);
  EXPECT_EQ(noted, 0);
}

TEST(Pool, IdleThreadsThatAreTooManyLeaveAtOnce) {
  Pool pool(4);
  std::latch all_inside(4);
  for (int i = 0; i < 4; ++i)
    pool.run(one([&] {
      be_noted();
      all_inside.arrive_and_wait();
    }));
  all_inside.wait();
  pool.set_most(1);
  EXPECT_TRUE(test::eventually([] { return noted == 1; }));
  pool.join();
  EXPECT_EQ(noted, 0);
}

TEST(Pool, RunsEveryTaskWhileTheNumberOfItsThreadsChanges) {
  constexpr unsigned kTasks = 20'000;
  std::atomic<unsigned> ran{0};
  Pool pool(1);
  for (unsigned i = 0; i < kTasks; ++i) {
    pool.run(one([&] { ++ran; }));
    if (i % 7 == 0) pool.set_most(1 + i % 5);
  }
  pool.join();
  EXPECT_EQ(ran, kTasks);
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
