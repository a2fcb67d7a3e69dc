// SPDX-License-Identifier: MIT
// The concurrency of a worker, changed while it works. The poll is a minute, so that nothing but
// the change can be what made it claim.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Concurrency : public LibraryTest {
 protected:
  static WorkerOptions patient(unsigned concurrency) {
    return {.concurrency = concurrency, .keep_completed = Keep::all(), .poll = 60s};
  }
  // Time enough for a handler that must not begin to have begun: what was claimed is loaded and
  // run in less than this, and a worker that claims does so within it.
  bool more_than(const Runs& runs, std::size_t count) {
    return eventually([&] { return runs.size() > count; }, 200ms);
  }
};

TEST_F(Concurrency, RaisedBeginsMoreAtOnce) {
  add_many(6);
  Runs runs;
  Gate gate;
  Worker worker{queue, patient(1), [&](Job<>& job) {
                  runs.note(job.id());
                  gate.pass();
                }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  EXPECT_EQ(worker.concurrency(), 1U);
  ASSERT_TRUE(worker.set_concurrency(5));
  EXPECT_EQ(worker.concurrency(), 5U);
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 5; }, 20s));
  EXPECT_FALSE(more_than(runs, 5));
  gate.open();
  EXPECT_TRUE(eventually([&] { return counts().completed == 6; }, 20s));
}

TEST_F(Concurrency, LoweredInterruptsNobodyAndBeginsNone) {
  const auto ids = add_many(4);
  Runs runs;
  Gate busy;
  Gate later;
  std::atomic<bool> stopped{false};
  Worker worker{queue, patient(4), [&](Job<>& job) {
                  runs.note(job.id());
                  (job.data() == "later" ? later : busy).pass();
                  stopped = stopped || job.stop_token().stop_requested();
                }};
  ASSERT_TRUE(eventually([&] { return busy.waiting() == 4; }));
  ASSERT_TRUE(worker.set_concurrency(2));
  ASSERT_TRUE(add({"later", "later", "later", "later"}).size() == 4);
  EXPECT_FALSE(more_than(runs, 4));
  busy.open();
  ASSERT_TRUE(eventually([&] { return later.waiting() == 2; }, 20s));
  EXPECT_FALSE(more_than(runs, 6));
  EXPECT_EQ(counts().active, 2) << "no more is claimed than may begin";
  later.open();
  EXPECT_TRUE(eventually([&] { return counts().completed == 8; }, 20s));
  EXPECT_FALSE(stopped);
  EXPECT_EQ(worker.stats().released, 0U);
}

// A worker of short jobs claims ahead; what it holds behind jobs that turn out to be long is for
// others.
TEST_F(Concurrency, JobsThatWereClaimedAheadDoNotWaitBehindLongOnes) {
  ASSERT_EQ(add(std::vector<std::string>(2'000, "short")).size(), 2'000U);
  ASSERT_EQ(add({"long", "long"}).size(), 2U);
  const auto behind = add(std::vector<std::string>(50, "short"));
  Gate gate;
  Worker first{queue, patient(2), [&](Job<>& job) {
                 if (job.data() == "long") gate.pass();
               }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }, 20s));
  Runs others;
  Worker second{queue, patient(2), [&](Job<>& job) { others.note(job.id()); }};
  EXPECT_TRUE(eventually([&] { return counts().completed == 2'050; }, 20s));
  EXPECT_EQ(counts().active, 2) << "the long ones alone";
  EXPECT_EQ(queue.job(behind.back()).value().attempts_started, 1U);
  gate.open();
  EXPECT_TRUE(eventually([&] { return counts().active == 0; }, 20s));
}

TEST_F(Concurrency, OutOfRangeIsRefusedAndChangesNothing) {
  Worker worker{queue, patient(3), [](Job<>&) {}};
  for (const unsigned bad : {0U, 10'001U, std::numeric_limits<unsigned>::max()}) {
    const auto error = error_of(worker.set_concurrency(bad));
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message();
    ASSERT_NE(error.field("value"), nullptr);
    EXPECT_EQ(*error.field("value"), std::to_string(bad));
    EXPECT_EQ(worker.concurrency(), 3U);
  }
  EXPECT_TRUE(worker.set_concurrency(10'000));
  EXPECT_TRUE(worker.set_concurrency(1));
}

TEST_F(Concurrency, AHandlerMayChangeIt) {
  add_many(2);
  Gate gate;
  Worker* self = nullptr;
  std::atomic<bool> ready{false};
  Worker worker{queue, patient(1), [&](Job<>&) {
                  EXPECT_TRUE(eventually([&] { return ready.load(); }));
                  EXPECT_TRUE(self->set_concurrency(2));
                  gate.pass();
                }};
  self = &worker;
  ready = true;
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 2; }, 20s));
  gate.open();
}

// What was claimed for more handlers than may begin now goes back as it was, and in its order.
TEST_F(Concurrency, ChangedAtRandomUnderLoadLosesAndDoublesNothing) {
  constexpr std::size_t kJobs = 3'000;
  const auto ids = add_many(kJobs);
  Runs runs;
  std::mt19937 random(9);
  auto how = patient(64);
  how.stop_when_empty = true;
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  std::uniform_int_distribution<unsigned> numbers(1, 64);
  while (!worker.wait(0ms)) {
    ASSERT_TRUE(worker.set_concurrency(numbers(random) < 32 ? 1 : numbers(random)));
    std::this_thread::yield();
  }
  EXPECT_TRUE(worker.status());
  EXPECT_EQ(counts().completed, static_cast<std::int64_t>(kJobs));
  for (const auto& [id, times] : runs.times()) ASSERT_EQ(times, 1) << id;
  for (const auto& id : {ids.front(), ids[kJobs / 2], ids.back()}) {
    EXPECT_EQ(info(id).attempts_made, 1U);
    EXPECT_EQ(info(id).crashes, 0U);
  }
}

}  // namespace
}  // namespace echomq::test
