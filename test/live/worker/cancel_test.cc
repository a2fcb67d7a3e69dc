// SPDX-License-Identifier: MIT
// One run, or all of a worker's, asked to stop from outside, and what a handler learns of it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using Kind = StopReason::Kind;

bool asked(const RawJob& job) {
  return eventually([&] { return job.stop_token().stop_requested(); });
}

class Cancelled : public LibraryTest {
 protected:
  bool ended(std::int64_t jobs) {
    return eventually([&] { return counts().completed + counts().failed == jobs; }, 20s);
  }
};

TEST_F(Cancelled, AHandlerReadsWhyAndDecidesWhatBecomesOfTheJob) {
  const auto id = queue.add("x", {.attempts = 5}).value();
  std::atomic<bool> running{false};
  Worker worker{queue, {}, [&](Job<>& job) {
                  EXPECT_EQ(job.stop_reason().kind, Kind::none);
                  running = true;
                  EXPECT_TRUE(asked(job));
                  const auto why = job.stop_reason();
                  EXPECT_EQ(why.kind, Kind::cancelled);
                  EXPECT_FALSE(job.lease_lost());
                  return Outcome::unrecoverable("called off: " + why.text);
                }};
  ASSERT_TRUE(eventually([&] { return running.load(); }));
  EXPECT_TRUE(worker.cancel(id, "the order was withdrawn"));
  EXPECT_TRUE(worker.cancel(id, "said again"));
  ASSERT_TRUE(ended(1));
  const auto job = info(id);
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.failed_reason, "called off: the order was withdrawn");
  EXPECT_FALSE(worker.cancel(id)) << "it runs no more";
}

TEST_F(Cancelled, AHandlerThatIgnoresItGoesOn) {
  const auto id = queue.add("x").value();
  Gate gate;
  Worker worker{queue, {}, [&](Job<>&) {
                  gate.pass();
                  return "done all the same";
                }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  EXPECT_TRUE(worker.cancel(id));
  gate.open();
  ASSERT_TRUE(ended(1));
  EXPECT_EQ(info(id).result, "done all the same");
}

TEST_F(Cancelled, OnlyTheJobThatIsNamed) {
  const auto ids = add_many(3);
  Gate gate;
  Runs stopped;
  Worker worker{queue, {.concurrency = 3}, [&](Job<>& job) {
                  gate.pass();
                  if (job.stop_token().stop_requested()) stopped.note(job.id());
                }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 3; }));
  EXPECT_TRUE(worker.cancel(ids[1]));
  EXPECT_FALSE(worker.cancel("nobody"));
  gate.open();
  ASSERT_TRUE(ended(3));
  EXPECT_EQ(stopped.all(), std::vector{ids[1]});
}

TEST_F(Cancelled, AllThatRunAndNoneThatComesAfter) {
  add_many(5);
  Gate gate;
  Runs reasons;
  Worker worker{queue, {.concurrency = 3}, [&](Job<>& job) {
                  gate.pass();
                  reasons.note(job.stop_reason().text);
                }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 3; }));
  EXPECT_EQ(worker.cancel_all("enough"), 3U);
  gate.open();
  ASSERT_TRUE(ended(5));
  EXPECT_EQ(reasons.times("enough"), 3);
  EXPECT_EQ(reasons.times(""), 2);
  EXPECT_EQ(worker.cancel_all(), 0U);
}

TEST_F(Cancelled, AJobOfAnotherWorkerIsNotTouched) {
  ASSERT_TRUE(queue.open());
  auto other = another();
  Queue<> theirs{other, name};
  Gate gate;
  std::atomic<bool> stopped{false};
  Worker busy{theirs, {}, [&](Job<>& job) {
                gate.pass();
                stopped = job.stop_token().stop_requested();
              }};
  const auto id = queue.add("x").value();
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  Worker idle{queue, {}, [](Job<>&) {}};
  EXPECT_FALSE(idle.cancel(id));
  gate.open();
  ASSERT_TRUE(ended(1));
  EXPECT_FALSE(stopped);
}

TEST_F(Cancelled, AHandlerMayCancelItsNeighbours) {
  const auto ids = add({"waits", "cancels"});
  Worker* self = nullptr;
  std::atomic<bool> waits{false};
  std::atomic<bool> ready{false};
  Worker worker{queue, {.concurrency = 2}, [&](Job<>& job) {
                  if (job.data() == "waits") {
                    waits = true;
                    EXPECT_TRUE(asked(job));
                    return;
                  }
                  EXPECT_TRUE(eventually([&] { return ready && waits; }));
                  EXPECT_TRUE(self->cancel(ids[0]));
                }};
  self = &worker;
  ready = true;
  EXPECT_TRUE(ended(2));
}

// A callback of the token runs on the thread that cancels, and may ask the worker for more.
TEST_F(Cancelled, AStopCallbackMayCancelToo) {
  const auto ids = add_many(2);
  Gate gate;
  std::atomic<int> called{0};
  Worker* self = nullptr;
  std::atomic<bool> ready{false};
  Worker worker{queue, {.concurrency = 2}, [&](Job<>& job) {
                  EXPECT_TRUE(eventually([&] { return ready.load(); }));
                  const std::stop_callback also(job.stop_token(), [&] {
                    ++called;
                    self->cancel_all();
                  });
                  gate.pass();
                }};
  self = &worker;
  ready = true;
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 2; }));
  EXPECT_TRUE(worker.cancel(ids[0]));
  EXPECT_EQ(called, 2);
  gate.open();
  EXPECT_TRUE(ended(2));
}

TEST_F(Cancelled, AShutdownIsAReasonOfItsOwn) {
  queue.add("x").value();
  std::atomic<bool> running{false};
  std::atomic<bool> seen{false};
  Worker worker{queue, {}, [&](Job<>& job) {
                  running = true;
                  EXPECT_TRUE(asked(job));
                  EXPECT_EQ(job.stop_reason().kind, Kind::shutdown);
                  seen = true;
                  EXPECT_TRUE(eventually([&] { return job.stop_reason().kind == Kind::cancelled; }))
                      << "to be called off counts more";
                }};
  ASSERT_TRUE(eventually([&] { return running.load(); }));
  EXPECT_EQ(error_of(worker.stop(0ms)).code, ErrorCode::timeout);
  ASSERT_TRUE(eventually([&] { return seen.load(); }));
  EXPECT_EQ(worker.cancel_all("in a hurry"), 1U);
  EXPECT_TRUE(worker.stop(20s));
}

// Whenever the cancel comes, it is answered by what it met: a run that has seen it, or none.
TEST_F(Cancelled, RacesWithTheEndOfTheRun) {
  constexpr std::size_t kJobs = 400;
  const auto ids = add_many(kJobs);
  Runs runs;
  WorkerOptions how;
  how.concurrency = 8;
  how.keep_completed = Keep::all();
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  std::vector<std::thread> cancelling;
  for (int i = 0; i < 2; ++i)
    cancelling.emplace_back([&] {
      while (runs.size() < kJobs) {
        worker.cancel_all("race");
        for (const auto& id : {ids[runs.size() % kJobs], ids.back()}) worker.cancel(id, "race");
      }
    });
  for (auto& thread : cancelling) thread.join();
  ASSERT_TRUE(ended(kJobs));
  EXPECT_EQ(counts().completed, static_cast<std::int64_t>(kJobs));
  EXPECT_EQ(runs.times().size(), kJobs) << "a job that was cancelled before it began ran too";
}

}  // namespace
}  // namespace echomq::test
