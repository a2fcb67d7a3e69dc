// SPDX-License-Identifier: MIT
// INV2 and INV3 of the library at work: producers and workers send nothing whose scripts touch an
// undeclared key, and no key of anybody else.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "echomq/echomq.h"
#include "echomq_scripts.h"
#include "support/monitor.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// What an operator does. The queue is paused, so that everything stays where it is put.
void look_and_move(Queue<>& queue) {
  ASSERT_TRUE(queue.pause());
  const auto ready = queue.add("ready").value();
  const auto delayed = queue.add("delayed", {.delay = 1h}).value();
  ASSERT_TRUE(queue.promote(delayed));
  ASSERT_TRUE(queue.change_priority(ready, 7));
  ASSERT_TRUE(queue.update_data(ready, "other"));
  ASSERT_TRUE(queue.log(ready, "a line"));
  EXPECT_EQ(queue.logs(ready).value().count, 1);
  EXPECT_EQ(queue.counts_by_priority().value().at(7), 1);
  EXPECT_EQ(queue.retry_all().value().done, 4);
  for (const auto state : {JobState::waiting, JobState::prioritized})
    EXPECT_FALSE(queue.jobs(state).value().jobs.empty());
  EXPECT_TRUE(queue.workers().value().empty());
  for (const auto state : {JobState::waiting, JobState::prioritized, JobState::completed})
    EXPECT_TRUE(queue.remove_all(state));
  ASSERT_TRUE(queue.set_concurrency(100));
  ASSERT_TRUE(queue.set_rate_limit(RateLimit::window(100, 1s)));
  ASSERT_TRUE(queue.rate_limit(1h));
  EXPECT_EQ(queue.limits().value().gate, QueueGate::paused);
  ASSERT_TRUE(queue.release_rate_limit());
  ASSERT_TRUE(queue.resume());
}

void clean_up(Queue<>& queue) {
  EXPECT_TRUE(queue.metrics(JobState::completed, 0, 0).ok());
  ASSERT_TRUE(queue.add("ready"));
  ASSERT_TRUE(queue.add("delayed", {.delay = 1h}));
  const auto cleaned = queue.clean(JobState::delayed, 0ms).value().done;
  EXPECT_EQ(cleaned + queue.drain({.delayed = true}).value().done, 2);
  EXPECT_TRUE(queue.obliterate().ok());
  EXPECT_TRUE(queue.obliterate({.all = true}).ok());
}

TEST(LibraryAudit, INV2_INV3_ProducersAndWorkersTouchDeclaredKeysOnly) {
  TestServer server;
  auto redis = server.connect();
  Monitor monitor(server);
  {
    // Looking for v1 keys is the one thing that reads others' keys; it is off here.
    auto client = connect(server.url(), {.v1_prefixes = {}}).value();
    Queue<> queue(client, "audited");
    for (int i = 0; i < 40; ++i) {
      JobOptions options{.attempts = 2, .delay = 10ms * (i % 3)};
      if (i % 4 == 0) options.priority = 3;
      if (i % 4 == 1) options.lifo = true;
      if (i % 5 == 0) options.id = "custom-" + std::to_string(i);
      if (i % 7 == 0) options.keep_completed = Keep::none();
      ASSERT_TRUE(queue.add(std::to_string(i), options).ok());
    }
    EXPECT_FALSE(queue.add("again", {.id = "custom-0"}).ok());
    const QueueEvents listener(queue, {.from = EventPlace::beginning()}, [](const Event&) {});
    EXPECT_TRUE(queue.emit_event("noon").ok());
    EXPECT_TRUE(queue.set_event_cap({.entries = 30}).ok());
    EXPECT_TRUE(queue.keep_metrics(60min).ok());
    EXPECT_FALSE(queue.wait_until_finished("nobody", 1s).ok());
    std::atomic<int> runs{0};
    Worker worker(
        queue,
        {.concurrency = 4, .keep_completed = {5, 0s}, .poll = 100ms, .stop_when_empty = true},
        [&runs](Job<>& job) -> Outcome {
          ++runs;
          (void)job.progress("half");
          return job.data().ends_with('3') ? Outcome::fail("three") : Outcome::done("1");
        });
    ASSERT_TRUE(worker.wait(30s));
    EXPECT_GE(runs, 40);
    EXPECT_EQ(queue.counts().value().failed, 4);
    (void)queue.job("custom-5");  // there or evicted: either way it was read
    look_and_move(queue);
    clean_up(queue);
  }
  const auto seen = audit(redis, monitor.take(redis));
  for (const auto& violation : seen.violations) ADD_FAILURE() << violation;
  for (const auto* const script :
       {&scripts::QueueOpen::script,        &scripts::QueueCounts::script,
        &scripts::NodeLease::script,        &scripts::JobAdd::script,
        &scripts::JobClaim::script,         &scripts::JobFinish::script,
        &scripts::JobRetry::script,         &scripts::JobPromote::script,
        &scripts::JobEvict::script,         &scripts::JobProgress::script,
        &scripts::JobRead::script,          &scripts::JobReschedule::script,
        &scripts::JobPrioritize::script,    &scripts::JobRetryFinished::script,
        &scripts::JobRemove::script,        &scripts::JobUpdate::script,
        &scripts::JobLog::script,           &scripts::JobReadLogs::script,
        &scripts::QueuePage::script,        &scripts::QueueLine::script,
        &scripts::QueuePriorities::script,  &scripts::QueuePause::script,
        &scripts::QueueEmit::script,        &scripts::QueueTrim::script,
        &scripts::QueueObliterate::script,  &scripts::QueueMetrics::script,
        &scripts::QueueKeepMetrics::script, &scripts::QueueLimit::script,
        &scripts::QueueHold::script,        &scripts::QueueGate::script})
    EXPECT_TRUE(seen.programs.contains(std::string(script->sha1))) << script->name;
}

}  // namespace
}  // namespace echomq::test
