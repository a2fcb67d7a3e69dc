// SPDX-License-Identifier: MIT
// Pausing: a whole queue, by its meta, and one worker, by itself.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Paused : public LibraryTest {
 protected:
  // Nothing but a wake may be what wakes them.
  static WorkerOptions patient(unsigned concurrency = 1) {
    return {.concurrency = concurrency, .poll = 60s};
  }
  // Whether all of the workers of this client wait on the marker, with nothing to claim.
  bool blocked(const std::string& client_name, std::size_t workers) {
    std::size_t count = 0;
    const auto all = redis({"CLIENT", "LIST"}).text;
    const auto look_for = " name=" + client_name + ":block ";
    for (auto at = all.find(look_for); at != std::string::npos; at = all.find(look_for, at + 1)) {
      const auto line = all.substr(at, all.find('\n', at) - at);
      count += line.find(" cmd=bzpopmin") != std::string::npos &&
                       line.find(" flags=b") != std::string::npos
                   ? 1
                   : 0;
    }
    return count == workers;
  }
};

TEST_F(Paused, AQueueGivesNothingUntilItIsResumed) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.pause());
  ASSERT_TRUE(queue.pause());
  EXPECT_TRUE(counts().paused);
  const auto id = queue.add("x").value();
  auto how = options();
  how.name = name;
  auto own = connect(server.url(), how).value();
  Queue<> q{own, name};
  Runs runs;
  Worker worker{q, patient(), [&](Job<>& job) { runs.note(job.id()); }};
  // Its claim was turned away.
  ASSERT_TRUE(eventually([&] { return blocked(name, 1); }, 20s));
  EXPECT_EQ(runs.size(), 0U);
  EXPECT_EQ(info(id).state, JobState::waiting);
  ASSERT_TRUE(queue.resume());
  EXPECT_FALSE(counts().paused);
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, 20s));
}

TEST_F(Paused, AQueueLetsRunningJobsEnd) {
  Gate gate;
  const auto id = queue.add("x").value();
  Worker worker{queue, patient(), [&](Job<>&) { gate.pass(); }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, 20s));
  ASSERT_TRUE(queue.pause());
  gate.open();
  EXPECT_TRUE(eventually([&] { return info(id).state == JobState::completed; }, 20s));
}

// B22: a worker that was paused while it worked goes on when it is resumed.
TEST_F(Paused, B22_AWorkerGoesOnAfterItIsResumed) {
  Gate gate;
  Runs runs;
  queue.add("first").value();
  Worker worker{queue, patient(), [&](Job<>& job) {
                  runs.note(job.data());
                  if (job.data() == "first") gate.pass();
                }};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, 20s));
  worker.pause();
  EXPECT_TRUE(worker.paused());
  const auto second = queue.add("second").value();
  gate.open();
  // A claim would have left with the end of the job, so before what is asked now.
  ASSERT_TRUE(eventually([&] { return counts().completed == 1; }, 20s));
  EXPECT_EQ(info(second).state, JobState::waiting);
  worker.resume();
  EXPECT_TRUE(eventually([&] { return runs.size() == 2; }, 20s));
}

// What a paused worker pops from the marker goes on to one that works.
TEST_F(Paused, AWorkerLeavesJobsToTheOthers) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  Worker paused{queue, patient(), [&](Job<>&) { runs.note("paused"); }};
  paused.pause();
  auto other = another();
  Queue<> theirs{other, name};
  Worker works{theirs, patient(), [&](Job<>&) { runs.note("works"); }};
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(queue.add("x", {.delay = i % 2 == 0 ? 0ms : 50ms}));
    ASSERT_TRUE(eventually([&] { return runs.size() == static_cast<std::size_t>(i + 1); }, 20s));
  }
  EXPECT_EQ(runs.times("works"), 5);
}

TEST_F(Paused, AWorkerStopsCleanly) {
  queue.add("x").value();
  Runs runs;
  Worker worker{queue, patient(), [&](Job<>&) { runs.note("ran"); }};
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }, 20s));
  worker.pause();
  EXPECT_TRUE(worker.stop(20s));
}

}  // namespace
}  // namespace echomq::test
