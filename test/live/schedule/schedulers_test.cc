// SPDX-License-Identifier: MIT
// Schedulers as users see them: made, read, paused, removed, refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "support/library_test.h"
#include "support/monitor.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class SchedulerCalls : public LibraryTest {
 protected:
  static Schedule hourly() { return {.when = Every{1h}}; }
  std::string hash(const std::string& id) { return named_key(name, "schedule", id); }
  SchedulerInfo get(const std::string& id) { return schedulers.get(id).value(); }

  Schedulers<> schedulers{queue};
};

TEST_F(SchedulerCalls, OneIsMadeAndReadBack) {
  const Schedule schedule{.when = Cron{"0 9 * * 1-5", "Europe/Berlin"},
                          .end_ms = 4'000'000'000'000,
                          .limit = 10,
                          .missed = Missed::run_all(7),
                          .overlap = Overlap::skip};
  JobOptions options;
  options.name = "report";
  options.attempts = 3;
  options.backoff = Backoff::exponential(1s, 0.5);
  options.priority = 5;
  options.keep_completed = Keep::none();
  const auto before = client.server_time_ms();
  const auto made = schedulers.upsert("nightly", schedule, {"payload", options}).value();
  EXPECT_TRUE(made.changed);
  EXPECT_EQ(made.next_ms, next_times(schedule, before, 1).value().front());
  const auto info = get("nightly");
  EXPECT_EQ(info.id, "nightly");
  EXPECT_EQ(std::get<Cron>(info.schedule.when).pattern, "0 9 * * 1-5");
  EXPECT_EQ(std::get<Cron>(info.schedule.when).zone, "Europe/Berlin");
  EXPECT_EQ(info.schedule.end_ms, 4'000'000'000'000);
  EXPECT_EQ(info.schedule.limit, 10U);
  EXPECT_EQ(info.schedule.missed, Missed::run_all(7));
  EXPECT_EQ(info.schedule.overlap, Overlap::skip);
  EXPECT_EQ(info.data, "payload");
  EXPECT_EQ(info.options.name, "report");
  EXPECT_EQ(info.options.attempts, 3U);
  EXPECT_EQ(info.options.backoff.delay, 1s);
  EXPECT_EQ(info.options.priority, 5U);
  EXPECT_EQ(info.options.keep_completed, Keep::none());
  EXPECT_EQ(info.next_ms, made.next_ms);
  EXPECT_FALSE(info.paused);
  EXPECT_EQ(info.made, 0U);
  EXPECT_EQ(info.last_ms, 0);
}

TEST_F(SchedulerCalls, B12_TheSameAgainChangesNothing) {
  const auto made = schedulers.upsert("a", hourly(), {"x"}).value();
  auto other = another();
  Queue<> theirs{other, name};
  for (int i = 0; i < 3; ++i) {
    const auto again = Schedulers<>(theirs).upsert("a", hourly(), {"x"}).value();
    EXPECT_FALSE(again.changed);
    EXPECT_EQ(again.next_ms, made.next_ms);
  }
  const auto with_other_data = schedulers.upsert("a", hourly(), {"y"}).value();
  EXPECT_TRUE(with_other_data.changed);
  EXPECT_EQ(with_other_data.next_ms, made.next_ms) << "the template is no reason for another time";
  EXPECT_EQ(get("a").data, "y");
}

// The next tick is computed anew where it is said again, not where it is the same.
TEST_F(SchedulerCalls, B12_AtOnceIsOnce) {
  const Schedule schedule{.when = Every{1h}, .immediately = true};
  const auto made = schedulers.upsert("a", schedule).value();
  EXPECT_LE(made.next_ms, client.server_time_ms());
  EXPECT_EQ(schedulers.upsert("a", schedule).value().next_ms, made.next_ms);
}

TEST_F(SchedulerCalls, B11_EveryWithOffset) {
  const auto made = schedulers.upsert("a", {.when = Every{15min, 3min}}).value();
  EXPECT_EQ((made.next_ms / 60'000) % 15, 3);
  EXPECT_EQ(made.next_ms % 60'000, 0);
  EXPECT_GT(made.next_ms, client.server_time_ms() - 1'000);
  EXPECT_LE(made.next_ms, client.server_time_ms() + 900'000);
}

TEST_F(SchedulerCalls, AnotherScheduleReplacesTheFirst) {
  schedulers.upsert("a", hourly()).value();
  const auto changed = schedulers.upsert("a", {.when = Cron{"@yearly"}}).value();
  EXPECT_TRUE(changed.changed);
  EXPECT_EQ(changed.next_ms,
            next_times({.when = Cron{"@yearly"}}, client.server_time_ms(), 1).value().front());
  EXPECT_EQ(schedulers.count().value(), 1);
}

TEST_F(SchedulerCalls, OneThatIsOverAlreadyHasNoNextTick) {
  const auto made = schedulers.upsert("a", {.when = Every{1h}, .end_ms = 1'000}).value();
  EXPECT_TRUE(made.changed);
  EXPECT_EQ(made.next_ms, 0);
  EXPECT_EQ(get("a").next_ms, 0);
  EXPECT_FALSE(get("a").paused);
}

TEST_F(SchedulerCalls, APausedOneGoesOnWithItsNextTickFromThenOn) {
  const auto made = schedulers.upsert("a", hourly()).value();
  ASSERT_TRUE(schedulers.pause("a"));
  ASSERT_TRUE(schedulers.pause("a")) << "what it is already changes nothing";
  EXPECT_TRUE(get("a").paused);
  EXPECT_EQ(get("a").next_ms, 0);
  EXPECT_EQ(schedulers.upsert("a", {.when = Every{2h}}).value().next_ms, 0) << "it stays paused";
  EXPECT_EQ(schedulers.upsert("a", hourly()).value().next_ms, 0);
  EXPECT_EQ(schedulers.resume("a").value(), made.next_ms);
  EXPECT_EQ(schedulers.resume("a").value(), made.next_ms);
  EXPECT_FALSE(get("a").paused);
}

TEST_F(SchedulerCalls, PagesHoldEachOnce) {
  std::set<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const auto id = "s" + std::to_string(i);
    schedulers.upsert(id, hourly(), {std::to_string(i)}).value();
    expected.insert(id);
  }
  schedulers.pause("s7").value();
  std::set<std::string> found;
  SchedulerPageOptions options{.limit = 20};
  int pages = 0;
  do {
    const auto page = schedulers.list(options).value();
    for (const auto& info : page.schedulers) {
      found.insert(info.id);
      EXPECT_EQ("s" + info.data, info.id);
      EXPECT_EQ(info.paused, info.id == "s7");
      EXPECT_EQ(info.next_ms == 0, info.paused);
    }
    options.cursor = page.cursor;
    ++pages;
  } while (!options.cursor.empty() && pages < 1'000);
  EXPECT_EQ(found, expected);
  EXPECT_GT(pages, 3);
  EXPECT_EQ(schedulers.count().value(), 300);
  EXPECT_EQ(*error_of(schedulers.list({.limit = 0})).field("option"), "limit");
  EXPECT_EQ(*error_of(schedulers.list({.limit = 257})).field("option"), "limit");
  EXPECT_EQ(*error_of(schedulers.list({.cursor = "x"})).field("option"), "cursor");
}

TEST_F(SchedulerCalls, ARemovedOneIsGone) {
  schedulers.upsert("a", hourly()).value();
  ASSERT_TRUE(schedulers.remove("a"));
  EXPECT_EQ(redis({"EXISTS", hash("a"), key_of(Structure::schedules)}).integer, 0);
  for (const auto& error : {error_of(schedulers.get("a")), error_of(schedulers.pause("a")),
                            error_of(schedulers.resume("a")), error_of(schedulers.remove("a"))}) {
    EXPECT_EQ(error.code, ErrorCode::not_found) << error.message();
    EXPECT_NE(error.detail.find("no scheduler a"), std::string::npos) << error.detail;
  }
}

TEST_F(SchedulerCalls, WithoutAQueueThereIsNothingToRead) {
  Queue<> nobody{client, "nobody-has-made-it"};
  Schedulers<> theirs{nobody};
  EXPECT_EQ(error_of(theirs.get("a")).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(theirs.list()).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(theirs.remove("a")).code, ErrorCode::not_found);
  EXPECT_EQ(theirs.count().value(), 0);
}

TEST_F(SchedulerCalls, AQueueOfAnotherWireIsRefused) {
  schedulers.upsert("a", hourly()).value();
  set_meta("version", "echomq:3.0.0");
  EXPECT_EQ(error_of(schedulers.upsert("a", {.when = Every{2h}})).code, ErrorCode::fence);
  EXPECT_EQ(error_of(schedulers.get("a")).code, ErrorCode::fence);
  EXPECT_EQ(error_of(schedulers.list()).code, ErrorCode::fence);
  EXPECT_EQ(error_of(schedulers.pause("a")).code, ErrorCode::fence);
}

TEST_F(SchedulerCalls, AScheduleThatNobodyReadsIsToldNotGuessed) {
  schedulers.upsert("a", hourly()).value();
  redis({"HSET", hash("a"), "def", "lunar"});
  EXPECT_EQ(error_of(schedulers.get("a")).code, ErrorCode::decode);
  EXPECT_EQ(error_of(schedulers.list()).code, ErrorCode::decode);
  EXPECT_TRUE(schedulers.upsert("a", hourly()).value().changed) << "and can be mended";
  EXPECT_TRUE(schedulers.get("a"));
}

// --- what is refused, and nothing is sent

TEST_F(SchedulerCalls, B6_IdsBeyondPlainNamesAreRefusedByName) {
  for (const auto& id : std::vector<std::string>{"", "a:b:c:d:e:f", "{a}", "a b", "\xC3\xA4",
                                                 std::string(201, 'x')}) {
    for (const auto& error : {error_of(schedulers.upsert(id, hourly())),
                              error_of(schedulers.get(id)), error_of(schedulers.pause(id)),
                              error_of(schedulers.resume(id)), error_of(schedulers.remove(id))}) {
      EXPECT_EQ(error.code, ErrorCode::invalid_name) << id;
      ASSERT_NE(error.field("value"), nullptr);
      EXPECT_EQ(*error.field("value"), id);
    }
  }
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::meta)}).integer, 0) << "not even a queue was made";
  const std::string longest(200, 'x');
  EXPECT_TRUE(schedulers.upsert(longest, hourly()));
  EXPECT_TRUE(schedulers.remove(longest));
}

TEST_F(SchedulerCalls, B15_OptionsThatATemplateCannotHaveAreRefusedWithAReason) {
  const auto refused = [this](const JobOptions& options) {
    return error_of(schedulers.upsert("a", hourly(), {"x", options}));
  };
  JobOptions options;
  options.deduplication = Deduplication::simple("one");
  auto error = refused(options);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(*error.field("option"), "template.deduplication");
  EXPECT_NE(error.detail.find("would swallow those of the next"), std::string::npos)
      << error.detail;
  options = {};
  options.id = "mine";
  EXPECT_EQ(*refused(options).field("option"), "template.id");
  options = {};
  options.delay = 1s;
  EXPECT_EQ(*refused(options).field("option"), "template.delay");
  options = {};
  options.durability = Durability::fsynced();
  EXPECT_EQ(*refused(options).field("option"), "template.durability");
  options = {};
  options.attempts = 0;
  EXPECT_EQ(*refused(options).field("option"), "attempts");
  EXPECT_EQ(error_of(schedulers.upsert("a", hourly(), {std::string((1U << 20) + 1, 'x')})).code,
            ErrorCode::too_large);
  EXPECT_EQ(error_of(schedulers.upsert("a", {.when = Cron{"* 25 * * *"}})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::meta)}).integer, 0);
}

// --- what removes jobs

TEST_F(SchedulerCalls, DrainAndCleanLeaveThemAtWork) {
  schedulers.upsert("a", {.when = Every{1h}, .immediately = true}).value();
  add_many(5);
  ASSERT_TRUE(queue.drain({.delayed = true}));
  ASSERT_TRUE(queue.clean(JobState::completed, 0ms));
  EXPECT_EQ(schedulers.count().value(), 1);
  Worker worker{queue, WorkerOptions{.poll = 60s}, [](Job<>&) {}};
  EXPECT_TRUE(eventually([&] { return counts().completed == 1; }, 20s));
}

TEST_F(SchedulerCalls, ObliteratingRemovesThem) {
  for (int i = 0; i < 300; ++i)
    schedulers.upsert("s" + std::to_string(i), {.when = Every{1h}, .immediately = true}).value();
  schedulers.pause("s3").value();
  add_many(10);
  ASSERT_TRUE(queue.obliterate());
  EXPECT_EQ(texts(redis({"KEYS", "emq:{" + name + "}:schedule*"})).size(), 0U);
  EXPECT_EQ(schedulers.count().value(), 0);
  EXPECT_EQ(counts().waiting, 0);
  ASSERT_TRUE(queue.obliterate({.all = true}));
  EXPECT_TRUE(schedulers.upsert("a", hourly()).value().changed) << "the queue is made anew";
}

}  // namespace
}  // namespace echomq::test
