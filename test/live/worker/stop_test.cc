// SPDX-License-Identifier: MIT
// How a worker ends: what runs may finish, what was not begun goes back as it was, nothing is lost
// and nobody waits for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "job/record.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Stop : public LibraryTest {
 protected:
  std::vector<std::string> waiting() {
    return texts(redis({"LRANGE", key_of(Structure::wait), "0", "-1"}));
  }
};

TEST_F(Stop, HandlerSeesTheStopToken) {
  const auto id = queue.add("x").value();
  std::atomic<bool> running{false};
  Worker worker{queue, {}, [&](Job<>& job) {
                  running = true;
                  EXPECT_TRUE(eventually([&] { return job.stop_token().stop_requested(); }));
                  EXPECT_FALSE(job.lease_lost());
                  return "ended in order";
                }};
  ASSERT_TRUE(eventually([&] { return running.load(); }));
  EXPECT_TRUE(worker.stop(10s));
  EXPECT_EQ(info(id).result, "ended in order");
  EXPECT_EQ(worker.stats().completed, 1U);
}

TEST_F(Stop, P25_RollingRestartOfTenWorkersRunsNoJobTwice) {
  std::mutex mutex;
  std::map<std::string, int> runs;
  const auto handle = [&](Job<>& job) {
    {
      const std::lock_guard lock(mutex);
      ++runs[job.id()];
    }
    std::this_thread::sleep_for(1ms);  // the work
  };
  WorkerOptions how;
  how.concurrency = 4;
  how.keep_completed = Keep::all();
  auto ids = add_many(500);
  // Each as if of a process of its own.
  std::vector<Client> clients;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(connect(server.url(), options()).value());
    Queue<> own{clients.back(), name};
    workers.push_back(std::make_unique<Worker>(own, how, handle));
  }
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const auto more = add_many(100);
      ids.insert(ids.end(), more.begin(), more.end());
      EXPECT_TRUE(workers[i]->stop(10s));
      EXPECT_EQ(workers[i]->stats().recovered, 0U);
      Queue<> own{clients[i], name};
      workers[i] = std::make_unique<Worker>(own, how, handle);
    }
  EXPECT_TRUE(
      eventually([&] { return counts().completed == static_cast<std::int64_t>(ids.size()); }));
  workers.clear();
  EXPECT_EQ(runs.size(), ids.size());
  for (const auto& [id, times] : runs) EXPECT_EQ(times, 1) << id;
}

TEST_F(Stop, HandlerThatIgnoresItIsNamed) {
  const auto id = queue.add("x").value();
  Gate gate;
  {
    Worker worker{queue, {}, [&](Job<>&) { gate.pass(); }};
    ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
    const auto late = worker.stop(50ms);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::timeout) << late.error().message();
    ASSERT_NE(late.error().field("jobs"), nullptr);
    EXPECT_EQ(*late.error().field("jobs"), id);
    gate.open();
    EXPECT_TRUE(worker.stop(10s)) << "asked again, it waits again";
  }
  EXPECT_EQ(info(id).state, JobState::completed);
}

TEST_F(Stop, DestructorWaitsForTheLastHandler) {
  const auto id = queue.add("x").value();
  Gate gate;
  auto worker = std::make_unique<Worker>(queue, WorkerOptions{}, [&](Job<>&) { gate.pass(); });
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  std::atomic<bool> destroyed{false};
  std::thread end([&] {
    worker.reset();
    destroyed = true;
  });
  EXPECT_FALSE(eventually([&] { return destroyed.load(); }, 200ms));
  gate.open();
  EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
  end.join();
  EXPECT_EQ(info(id).state, JobState::completed);
}

TEST_F(Stop, AtOnceAfterTheStart) {
  add_many(10);
  for (int time = 0; time < 30; ++time) {
    Worker worker{queue, {.concurrency = 3}, [](Job<>&) {}};
    if (time % 3 == 0) continue;  // the destructor alone
    EXPECT_TRUE(worker.stop(10s));
    EXPECT_TRUE(worker.stop(10s)) << "a second time";
    EXPECT_TRUE(worker.wait(0ms));
  }
  EXPECT_EQ(counts().active, 0);
  EXPECT_EQ(counts().waiting + counts().completed, 10);
}

TEST_F(Stop, WhileIdle) {
  ASSERT_TRUE(queue.open());
  WorkerOptions how;
  how.poll = 60s;
  Worker worker{queue, how, [](Job<>&) {}};
  EXPECT_FALSE(worker.wait(100ms));
  EXPECT_TRUE(worker.stop(10s));
  EXPECT_TRUE(worker.status());
}

// P26: what was taken and not begun goes back at once, in its order, at no cost.
TEST_F(Stop, P26_UnstartedJobsGoBackInOrderAndSpendNoAttempt) {
  constexpr std::size_t kJobs = 400;
  std::mt19937 random(26);
  const auto ids = add_many(kJobs);
  std::set<std::string> done;
  for (int time = 0; time < 25; ++time) {
    Runs runs;
    const auto until = std::uniform_int_distribution<std::size_t>(0, 12)(random);
    Worker worker{queue, {.concurrency = 100}, [&](Job<>& job) {
                    runs.note(job.id());
                    eventually([&] { return job.stop_token().stop_requested(); }, 20ms);
                  }};
    ASSERT_TRUE(eventually([&] { return runs.size() >= until || counts().waiting == 0; }));
    ASSERT_TRUE(worker.stop(10s));
    ASSERT_EQ(counts().active, 0) << "time " << time;
    for (const auto& id : runs.all()) ASSERT_TRUE(done.insert(id).second) << id << " ran twice";
    std::vector<std::string> left;
    for (const auto& id : ids)
      if (!done.contains(id)) left.push_back(id);
    ASSERT_EQ(waiting(), left) << "time " << time;
  }
  for (const auto& id : waiting()) {
    const auto job = info(id);
    EXPECT_EQ(job.attempts_made, 0U);
    EXPECT_EQ(job.attempts_started, 0U);
    EXPECT_EQ(job.crashes, 0U);
  }
  EXPECT_EQ(counts().completed + counts().waiting, static_cast<std::int64_t>(kJobs));
}

// Claims that the stop overtakes keep the order of a mixed queue too.
TEST_F(Stop, P26_PrioritizedJobsGoBackToTheirPlaces) {
  for (int i = 0; i < 60; ++i)
    ASSERT_TRUE(queue.add("x", {.priority = 1U + static_cast<unsigned>(i % 3)}));
  const auto places_before =
      texts(redis({"ZRANGE", key_of(Structure::prioritized), "0", "-1", "WITHSCORES"}));
  std::set<std::string> done;
  for (int time = 0; time < 10; ++time) {
    Runs runs;
    Worker worker{queue, {.concurrency = 30}, [&](Job<>& job) {
                    runs.note(job.id());
                    eventually([&] { return job.stop_token().stop_requested(); }, 20ms);
                  }};
    ASSERT_TRUE(eventually([&] { return runs.size() >= 1 || counts().prioritized == 0; }));
    ASSERT_TRUE(worker.stop(10s));
    for (const auto& id : runs.all()) done.insert(id);
  }
  std::vector<std::string> left;
  for (std::size_t i = 0; i + 1 < places_before.size(); i += 2)
    if (!done.contains(places_before[i])) {
      left.push_back(places_before[i]);
      left.push_back(places_before[i + 1]);
    }
  EXPECT_EQ(texts(redis({"ZRANGE", key_of(Structure::prioritized), "0", "-1", "WITHSCORES"})),
            left);
}

// B20: a claim that is under way while the worker closes must not be dropped on the floor.
TEST_F(Stop, B20_ClosedAtRandomMomentsUnderLoadLeavesNothingActive) {
  std::mt19937 random(20);
  ASSERT_TRUE(queue.open());
  std::atomic<bool> adding{true};
  std::atomic<std::int64_t> added{0};
  std::thread producer([&] {
    auto own = another();
    Queue<> q{own, name};
    while (adding) {
      if (q.add("x")) ++added;
      std::this_thread::yield();
      if (added > 6'000) break;
    }
  });
  Runs runs;
  WorkerOptions how;
  how.concurrency = 16;
  how.keep_completed = Keep::all();
  for (int time = 0; time < 50; ++time) {
    const auto more = runs.size() + std::uniform_int_distribution<std::size_t>(0, 60)(random);
    Worker worker{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
    eventually([&] { return runs.size() >= more; }, 1s);
    EXPECT_TRUE(worker.stop(10s)) << "time " << time;
    EXPECT_EQ(counts().active, 0) << "time " << time;
  }
  adding = false;
  producer.join();
  how.stop_when_empty = true;
  Worker rest{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(rest.wait(20s));
  EXPECT_EQ(counts().completed, added);
  EXPECT_EQ(static_cast<std::int64_t>(runs.size()), added) << "a job ran twice";
  for (const auto& [id, times] : runs.times()) {
    ASSERT_EQ(times, 1) << id;
    const auto left = job::read_runs(redis({"HGET", job_key(name, id), "run"}).text);
    ASSERT_TRUE(left) << id;
    ASSERT_EQ(left->crashes, 0U) << id;
  }
}

TEST_F(Stop, ClientClosedUnderAWorker) {
  auto own = another();
  Queue<> q{own, name};
  Runs runs;
  Worker idle{q, {.poll = 200ms}, [&](Job<>& job) { runs.note(job.id()); }};
  add_many(1);
  ASSERT_TRUE(eventually([&] { return idle.stats().completed == 1; }));
  own.close();
  EXPECT_TRUE(idle.wait(10s));
  EXPECT_EQ(error_of(idle.status()).code, ErrorCode::closed) << error_of(idle.status()).message();
}

class StopOnAServerOfItsOwn : public OwnServerTest {};

TEST_F(StopOnAServerOfItsOwn, IdleWorkerWhoseServerIsGone) {
  auto hasty = options();
  hasty.command_timeout = 500ms;
  auto hurried = connect(server.url(), hasty).value();
  Queue<> q{hurried, name};
  ASSERT_TRUE(q.open());
  auto worker = std::make_unique<Worker>(q, WorkerOptions{}, [](Job<>&) {});
  EXPECT_FALSE(worker->wait(100ms));
  server.kill9();
  EXPECT_TRUE(worker->stop(10s));
  worker.reset();
}

TEST_F(StopOnAServerOfItsOwn, BusyWorkerWhoseServerComesBack) {
  const auto id = queue.add("x").value();
  Gate gate;
  Worker worker{queue, {}, [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  server.stop_signal();
  gate.open();
  EXPECT_FALSE(worker.stop(300ms)) << "the end of the job cannot have been told";
  server.continue_signal();
  EXPECT_TRUE(worker.stop(10s));
  EXPECT_EQ(info(id).state, JobState::completed);
}

}  // namespace
}  // namespace echomq::test
