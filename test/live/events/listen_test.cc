// SPDX-License-Identifier: MIT
// QueueEvents: every event once and in order, from any place, and what was missed told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/dump.h"
#include "support/heard.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class Listen : public LibraryTest {
 protected:
  QueueEventsOptions quick(EventPlace from = EventPlace::now()) {
    return {.from = std::move(from), .poll = 100ms};
  }
  void work_all() {
    Worker worker(queue, {.concurrency = 4, .poll = 100ms, .stop_when_empty = true},
                  [](Job<>& job) -> Outcome {
                    if (job.data() == "bad") return Outcome::unrecoverable("bad");
                    return Outcome::done("1");
                  });
    ASSERT_TRUE(worker.wait(30s));
  }
  std::int64_t entries() { return redis({"XLEN", key_of(Structure::events)}).integer; }
};

TEST_F(Listen, OneEventForEachJobAndStepInOrder) {
  ASSERT_TRUE(queue.open());
  const Heard heard;
  QueueEvents events(queue, {}, heard.callback());
  ASSERT_TRUE(events.ready(10s));
  const auto ids = add({"a", "b", "bad"});
  const std::string late = queue.add("d", {.delay = 1ms}).value();
  work_all();
  ASSERT_TRUE(heard.wait_for(4 + 1 + 1 + 4));
  EXPECT_EQ(heard.count(), 10U);
  const auto words = heard.words();
  EXPECT_EQ(std::vector<std::string>(words.begin(), words.begin() + 3),
            (std::vector<std::string>{"added " + ids[0], "added " + ids[1], "added " + ids[2]}));
  const std::multiset<std::string> expected{
      "added " + ids[0],  "added " + ids[1],  "added " + ids[2],     "added " + late,
      "delayed " + late,  "promoted " + late, "completed " + ids[0], "completed " + ids[1],
      "failed " + ids[2], "completed " + late};
  EXPECT_EQ(std::multiset<std::string>(words.begin(), words.end()), expected);
  for (const auto& event : heard.all()) {
    EXPECT_NEAR(static_cast<double>(event.at_ms), static_cast<double>(client.server_time_ms()),
                60'000);
    EXPECT_EQ(event.name, echomq::name(event.type));
  }
}

// A batch of 256 is one entry of the stream, and 256 events.
TEST_F(Listen, ABatchIsExpanded) {
  const auto ids = add_many(600);
  EXPECT_LT(entries(), 20);
  const Heard heard;
  const QueueEvents events(queue, quick(EventPlace::beginning()), heard.callback());
  ASSERT_TRUE(heard.wait_for(600));
  std::vector<std::string> jobs;
  for (const auto& event : heard.all()) jobs.push_back(event.job);
  EXPECT_EQ(jobs, ids);
}

TEST_F(Listen, NowIsWhenItIsReady) {
  add_many(3);
  const Heard heard;
  QueueEvents events(queue, quick(), heard.callback());
  ASSERT_TRUE(events.ready(10s));
  const auto place = events.last_id();
  const std::string id = queue.add("later").value();
  ASSERT_TRUE(heard.wait_for(1));
  EXPECT_THAT(heard.words(), ElementsAre("added " + id));
  ASSERT_TRUE(eventually([&] { return events.last_id() == heard.all()[0].id; }));
  EXPECT_NE(place, events.last_id());
}

// Stopped at any event, a program that goes on from last_id() gets the rest, once.
TEST_F(Listen, GoesOnExactlyWhereItStopped) {
  const auto ids = add_many(50);
  std::vector<std::string> seen;
  std::string place = "0";
  while (seen.size() < ids.size()) {
    std::mutex mutex;
    std::condition_variable stopped;
    bool enough = false;
    std::size_t got = 0;
    auto events = std::make_unique<QueueEvents>(queue, quick(EventPlace::after(place)),
                                                [&](const Event& event) {
                                                  std::unique_lock lock(mutex);
                                                  if (enough) return;
                                                  seen.push_back(event.job);
                                                  place = event.id;
                                                  enough = ++got == 7 || seen.size() == ids.size();
                                                  stopped.notify_one();
                                                });
    {
      std::unique_lock lock(mutex);
      ASSERT_TRUE(stopped.wait_for(lock, 30s, [&] { return enough; }));
    }
    events.reset();
  }
  EXPECT_EQ(seen, ids);
}

TEST_F(Listen, CustomEventsArriveAsTheyWereGiven) {
  const Heard heard;
  QueueEvents events(queue, quick(), heard.callback());
  ASSERT_TRUE(events.ready(10s));
  const std::string bytes("to a\0b \xff\n", 9);
  const auto id = queue.emit_event("invoice-sent", bytes).value();
  queue.emit_event("empty").value();
  ASSERT_TRUE(heard.wait_for(2));
  const auto all = heard.all();
  EXPECT_EQ(all[0].type, EventType::custom);
  EXPECT_EQ(all[0].name, "invoice-sent");
  EXPECT_EQ(all[0].payload, bytes);
  EXPECT_EQ(all[0].id, id);
  EXPECT_EQ(all[0].job, "");
  EXPECT_EQ(all[1].payload, "");
}

TEST_F(Listen, WhatWasTrimmedIsAGap) {
  add({"a"});
  const auto place = read_events(queue, EventPlace::beginning()).value().next;
  for (int i = 0; i < 9; ++i) add({"more"});
  EXPECT_EQ(queue.trim_events(2).value(), 8U);
  const Heard heard;
  const QueueEvents events(queue, quick(EventPlace::after(place)), heard.callback());
  ASSERT_TRUE(heard.wait_for(3));
  EXPECT_EQ(heard.words()[0], "gap 7");
  EXPECT_EQ(heard.count(), 3U);
  EXPECT_EQ(heard.all()[0].id, "8-0");
}

TEST_F(Listen, WhatWasTrimmedAtTheEndIsToldWithoutAnotherEvent) {
  add({"a"});
  const Heard heard;
  for (int i = 0; i < 4; ++i) add({"more"});
  EXPECT_EQ(queue.trim_events(0).value(), 5U);
  const QueueEvents events(queue, quick(EventPlace::after("1-0")), heard.callback());
  ASSERT_TRUE(heard.wait_for(1));
  EXPECT_THAT(heard.words(), ElementsAre("gap 4"));
  const std::string id = queue.add("on").value();
  ASSERT_TRUE(heard.wait_for(2));
  EXPECT_EQ(heard.words()[1], "added " + id);
}

TEST_F(Listen, AQueueThatWasMadeAgainIsAGap) {
  add_many(1);
  add_many(1);
  const Heard heard;
  QueueEvents events(queue, quick(), heard.callback());
  ASSERT_TRUE(events.ready(10s));
  delete_queue(redis, name);
  ASSERT_TRUE(heard.wait_for(EventType::gap));
  EXPECT_THAT(heard.words(), ElementsAre("gap 0"));
  const std::string id = queue.add("anew").value();
  ASSERT_TRUE(heard.wait_for(2));
  EXPECT_EQ(heard.words()[1], "added " + id);
  EXPECT_EQ(heard.all()[1].id, "1-0");
}

TEST_F(Listen, AQueueThatIsNotThereYetIsWaitedForAndNotMade) {
  const Heard heard;
  QueueEvents events(queue, quick(), heard.callback());
  ASSERT_TRUE(events.ready(10s));
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::meta)}).integer, 0);
  const std::string id = queue.add("first").value();
  ASSERT_TRUE(heard.wait_for(1));
  EXPECT_THAT(heard.words(), ElementsAre("added " + id));
}

// What a callback does not take, the server does not send: a listener that stands still holds one
// batch, and learns afterwards what it missed.
TEST_F(Listen, ASlowListenerHoldsOneBatchAndLearnsWhatItMissed) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_event_cap({.entries = 20, .exact = true}));
  std::mutex mutex;
  std::deque<std::function<void()>> tasks;
  auto how = options();
  how.post = [&](std::function<void()> task) {
    const std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
  };
  const auto posted = [&] {
    const std::lock_guard lock(mutex);
    return tasks.size();
  };
  auto slow = connect(server.url(), how).value();
  Queue<> seen(slow, name);
  const Heard heard;
  QueueEvents events(seen, quick(), heard.callback());
  ASSERT_TRUE(events.ready(10s));
  queue.emit_event("first").value();
  ASSERT_TRUE(eventually([&] { return posted() == 1; }));
  for (int i = 0; i < 100; ++i) queue.emit_event("e" + std::to_string(i)).value();
  EXPECT_EQ(posted(), 1U);
  EXPECT_EQ(entries(), 20);
  const auto run_one = [&] {
    std::function<void()> task;
    {
      const std::lock_guard lock(mutex);
      task = std::move(tasks.front());
      tasks.pop_front();
    }
    task();
  };
  EXPECT_EQ(heard.count(), 0U);
  run_one();
  EXPECT_THAT(heard.words(), ElementsAre("first"));
  ASSERT_TRUE(eventually([&] { return posted() == 1; }));
  run_one();
  ASSERT_EQ(heard.count(), 22U);
  EXPECT_EQ(heard.words()[1], "gap 80");
  EXPECT_EQ(heard.words()[2], "e80");
  EXPECT_EQ(heard.words()[21], "e99");
}

TEST_F(Listen, IsQuietWhileNothingHappens) {
  ASSERT_TRUE(queue.open());
  const Heard heard;
  QueueEvents events(queue, {.poll = 400ms}, heard.callback());
  ASSERT_TRUE(events.ready(10s));
  const auto asked = [&] {
    const auto stats = redis({"INFO", "commandstats"}).text;
    const auto at = stats.find("cmdstat_xread:calls=");
    return at == std::string::npos ? 0 : std::stol(stats.substr(at + 20));
  };
  const auto before = asked();
  ASSERT_TRUE(eventually([&] { return asked() >= before + 2; }));
  const auto begin = std::chrono::steady_clock::now();
  const auto from = asked();
  ASSERT_TRUE(eventually([&] { return asked() > from; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 200ms);
  EXPECT_EQ(heard.count(), 0U);
}

TEST_F(Listen, NoCallbackRunsAfterItsEnd) {
  ASSERT_TRUE(queue.open());
  std::latch inside{1};
  std::atomic<bool> go_on = false;
  std::atomic<bool> running = false;
  std::atomic<int> calls = 0;
  auto events = std::make_unique<QueueEvents>(queue, quick(), [&](const Event&) {
    running = true;
    if (++calls == 1) inside.count_down();
    while (!go_on) std::this_thread::yield();
    running = false;
  });
  ASSERT_TRUE(events->ready(10s));
  queue.async_add("a", {}, [](const Result<AddedJob>&) {});
  inside.wait();
  std::thread release([&] { go_on = true; });
  events.reset();
  EXPECT_FALSE(running);
  const int at_end = calls;
  release.join();
  add({"c"});
  EXPECT_EQ(calls, at_end);
}

TEST_F(Listen, MayBeEndedFromItsCallback) {
  ASSERT_TRUE(queue.open());
  std::unique_ptr<QueueEvents> events;
  std::latch ended{1};
  events = std::make_unique<QueueEvents>(queue, quick(), [&](const Event&) {
    events.reset();
    ended.count_down();
  });
  ASSERT_TRUE(events->ready(10s));
  add({"a"});
  ended.wait();
  EXPECT_EQ(events, nullptr);
}

TEST_F(Listen, BadOptionsStopItBeforeAnythingIsSent) {
  for (const auto& [options, field, value] :
       {std::tuple{QueueEventsOptions{.poll = 99ms}, "poll", "99"},
        std::tuple{QueueEventsOptions{.poll = 60'001ms}, "poll", "60001"},
        std::tuple{QueueEventsOptions{.from = EventPlace::after("x")}, "from", "x"}}) {
    QueueEvents events(queue, options, [](const Event&) {});
    const auto error = error_of(events.status());
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(*error.field("option"), field);
    EXPECT_EQ(*error.field("value"), value);
    EXPECT_EQ(error_of(events.ready(10s)).code, ErrorCode::invalid_argument);
  }
  Queue<> unnamed(client, "no blanks");
  const QueueEvents events(unnamed, {}, [](const Event&) {});
  EXPECT_EQ(error_of(events.status()).code, ErrorCode::invalid_name);
}

TEST_F(Listen, AForeignQueueStopsIt) {
  redis({"HSET", key_of(Structure::meta), "version", "echomq:3.0.0"});
  QueueEvents later(queue, quick(), [](const Event&) {});
  EXPECT_EQ(error_of(later.ready(10s)).code, ErrorCode::fence);
  redis({"HSET", key_of(Structure::meta), "version", "echomq:2.0.0", "min_revision", "1000"});
  QueueEvents newer(queue, quick(), [](const Event&) {});
  EXPECT_EQ(error_of(newer.ready(10s)).code, ErrorCode::fence);
  redis({"HDEL", key_of(Structure::meta), "min_revision"});
  redis({"SET", key_of(Structure::events), "foreign"});
  QueueEvents typed(queue, quick(), [](const Event&) {});
  ASSERT_TRUE(eventually([&] { return !typed.status().ok(); }));
  EXPECT_EQ(error_of(typed.status()).code, ErrorCode::wrong_type);
}

TEST_F(Listen, EndsWithItsClient) {
  auto other = another();
  Queue<> seen(other, name);
  QueueEvents events(seen, quick(), [](const Event&) {});
  ASSERT_TRUE(events.ready(10s));
  other.close();
  ASSERT_TRUE(eventually([&] { return !events.status().ok(); }));
  EXPECT_EQ(error_of(events.status()).code, ErrorCode::closed);
}

}  // namespace
}  // namespace echomq::test
