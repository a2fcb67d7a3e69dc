// SPDX-License-Identifier: MIT
// Listening and waiting over a bad network: each event once, whatever becomes of the connection.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "chaos.h"
#include "support/heard.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class EventsOutage : public Chaos {
 protected:
  Client far_client = far();
  Queue<> seen{far_client, name};
  Heard heard;

  void expect_heard(const std::vector<std::string>& ids) {
    ASSERT_TRUE(eventually([&] { return heard.count() >= ids.size(); }, kResumes)) << log.text();
    std::vector<std::string> jobs;
    for (const auto& event : heard.all()) jobs.push_back(event.job);
    EXPECT_EQ(jobs, ids);
  }
};

TEST_F(EventsOutage, EachEventOnceAcrossCutConnections) {
  QueueEvents events(seen, {.poll = 500ms}, heard.callback());
  ASSERT_TRUE(events.ready(10s));
  std::vector<std::string> ids;
  for (int round = 0; round < 10; ++round) {
    for (auto& id : add_many(30)) ids.push_back(std::move(id));
    proxy.cut(ChaosProxy::named(":events"));
    for (auto& id : add_many(30)) ids.push_back(std::move(id));
  }
  expect_heard(ids);
}

TEST_F(EventsOutage, AnAnswerThatIsLostIsReadAgain) {
  proxy.lose(Loss::answer, "XREAD", {.after = 1, .times = 2});
  QueueEvents events(seen, {.poll = 500ms}, heard.callback());
  ASSERT_TRUE(events.ready(10s));
  std::vector<std::string> ids;
  // On a busy machine the first reads may find all that was added meanwhile.
  for (int i = 0; i < 20 || (i < 500 && proxy.lost("XREAD") == 0); ++i)
    for (auto& id : add_many(5)) ids.push_back(std::move(id));
  expect_heard(ids);
  EXPECT_GE(proxy.lost("XREAD"), 1U);
}

// Nobody tells the listener that its connection is dead.
TEST_F(EventsOutage, ASilentConnectionIsGivenUp) {
  QueueEvents events(seen, {.poll = 500ms}, heard.callback());
  ASSERT_TRUE(events.ready(10s));
  proxy.set({.blackhole = true}, ChaosProxy::named(":events"));
  const auto ids = add_many(5);
  proxy.pass();
  expect_heard(ids);
}

TEST_F(EventsOutage, AWaitOutlastsCutConnections) {
  const auto id = queue.add("x").value();
  std::promise<Result<FinishedJob>> told;
  seen.async_wait_until_finished(
      id, 30s, [&told](Result<FinishedJob> end) { told.set_value(std::move(end)); });
  ASSERT_TRUE(eventually([&] { return proxy.open_count(ChaosProxy::named(":events")) == 1; }));
  proxy.refuse();
  proxy.cut();
  Worker worker(queue, {.poll = 100ms, .stop_when_empty = true},
                [](Job<>&) { return std::string("done"); });
  ASSERT_TRUE(worker.wait(30s));
  proxy.pass();
  auto end = told.get_future();
  ASSERT_EQ(end.wait_for(kResumes), std::future_status::ready) << log.text();
  EXPECT_EQ(end.get().value().result, "done");
}

// The event of the end is gone before it could be read.
TEST_F(EventsOutage, B49_AWaitFindsAnEndThatWasTrimmed) {
  const auto id = queue.add("x").value();
  std::promise<Result<FinishedJob>> told;
  seen.async_wait_until_finished(
      id, 30s, [&told](Result<FinishedJob> end) { told.set_value(std::move(end)); });
  ASSERT_TRUE(eventually([&] { return proxy.open_count(ChaosProxy::named(":events")) == 1; }));
  proxy.refuse();
  proxy.cut(ChaosProxy::named(":events"));
  Worker worker(queue, {.poll = 100ms, .stop_when_empty = true},
                [](Job<>&) { return std::string("done"); });
  ASSERT_TRUE(worker.wait(30s));
  EXPECT_GT(queue.trim_events(0).value(), 0U);
  proxy.pass();
  auto end = told.get_future();
  ASSERT_EQ(end.wait_for(kResumes), std::future_status::ready) << log.text();
  EXPECT_EQ(end.get().value().result, "done");
}

// Away at the end of the time, it cannot know, and does not stay for long.
TEST_F(EventsOutage, AWaitEndsInTimeWhileTheServerIsAway) {
  const auto id = queue.add("x").value();
  ASSERT_TRUE(seen.job(id).ok());
  proxy.set({.blackhole = true});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of(seen.wait_until_finished(id, 300ms)).code, ErrorCode::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 300ms + 5s);
  proxy.pass();
}

}  // namespace
}  // namespace echomq::test
