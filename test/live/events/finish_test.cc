// SPDX-License-Identifier: MIT
// wait_until_finished: right whenever it is called, and whatever becomes of the job.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Finish : public LibraryTest {
 protected:
  using End = std::future<Result<FinishedJob>>;

  End wait_for(const std::string& id, std::chrono::milliseconds timeout = 30s) {
    auto told = std::make_shared<std::promise<Result<FinishedJob>>>();
    queue.async_wait_until_finished(
        id, timeout, [told](Result<FinishedJob> end) { told->set_value(std::move(end)); });
    return told->get_future();
  }
  // Until the wait blocks on the stream.
  void until_listening() {
    ASSERT_TRUE(eventually([&] {
      const auto list = redis({"CLIENT", "LIST"}).text;
      for (auto at = list.find(own_lane()); at != std::string::npos;
           at = list.find(own_lane(), at + 1)) {
        const auto line = list.substr(at, list.find('\n', at) - at);
        if (line.find(" cmd=xread") != std::string::npos) return true;
      }
      return false;
    }));
  }
  [[nodiscard]] std::string own_lane() const { return " name=" + name + ":events "; }

  void work(const Keep& keep = Keep::all()) {
    Worker worker(
        near, {.keep_completed = keep, .keep_failed = keep, .poll = 100ms, .stop_when_empty = true},
        [](Job<>& job) -> Outcome {
          if (job.data() == "bad") return Outcome::unrecoverable("it was bad");
          return Outcome::done("did " + job.data());
        });
    ASSERT_TRUE(worker.wait(30s));
  }
  static FinishedJob end_of(End end) {
    if (end.wait_for(30s) != std::future_status::ready) {
      ADD_FAILURE() << "it still waits";
      return {};
    }
    return end.get().value();
  }
  static ErrorCode error_code(End end) {
    return end.wait_for(30s) == std::future_status::ready ? error_of(end.get()).code
                                                          : ErrorCode::protocol;
  }
  // So many custom events of that time, as emit_event would write them.
  void write_custom(int entries, const std::string& at_ms) {
    ASSERT_FALSE(redis({"EVAL",
                        "for i = 1, ARGV[1] do"
                        " local n = redis.call('HINCRBY', KEYS[2], 'event_seq', 1)"
                        " redis.call('XADD', KEYS[1], n .. '-0', 'at', ARGV[2],"
                        " 'custom', 'noon', 'payload', '') end",
                        "2", key_of(Structure::events), key_of(Structure::meta),
                        std::to_string(entries), at_ms})
                     .is_error());
  }
  ClientOptions named() const {
    auto how = options();
    how.name = name;
    return how;
  }

  // Adds and works; `queue` is where waiting happens, on a client whose connections bear its name.
  Queue<> near{client, name};
  Client waiting_client = connect(server.url(), named()).value();
  Queue<> queue{waiting_client, name};
};

TEST_F(Finish, B49_BeforeTheEnd) {
  const auto good = near.add("a").value();
  const auto bad = near.add("bad").value();
  auto good_end = wait_for(good);
  auto bad_end = wait_for(bad);
  until_listening();
  work();
  const auto a = end_of(std::move(good_end));
  EXPECT_EQ(a.state, JobState::completed);
  EXPECT_TRUE(a.kept);
  EXPECT_EQ(a.result, "did a");
  const auto b = end_of(std::move(bad_end));
  EXPECT_EQ(b.state, JobState::failed);
  EXPECT_TRUE(b.kept);
  EXPECT_EQ(b.failed_reason, "it was bad");
  EXPECT_FALSE(b.result.has_value());
}

TEST_F(Finish, B49_AfterTheEnd) {
  const auto good = near.add("a").value();
  const auto bad = near.add("bad").value();
  work();
  EXPECT_EQ(queue.wait_until_finished(good, 0ms).value().result, "did a");
  EXPECT_EQ(queue.wait_until_finished(good, 10s).value().result, "did a");
  EXPECT_EQ(queue.wait_until_finished(bad, 10s).value().failed_reason, "it was bad");
  // No connection was opened for what had ended already.
  EXPECT_EQ(redis({"CLIENT", "LIST"}).text.find(own_lane()), std::string::npos);
}

// Jobs end while waits begin, so that some end between the first look and the place in the stream.
TEST_F(Finish, B49_DuringTheEnd) {
  Worker worker(near, {.concurrency = 4, .keep_completed = Keep::all(), .poll = 100ms},
                [](Job<>& job) { return "did " + job.data(); });
  for (int round = 0; round < 100; ++round) {
    const auto data = std::to_string(round);
    const auto id = near.add(data).value();
    const auto end = queue.wait_until_finished(id, 30s);
    ASSERT_TRUE(end.ok()) << round << ": " << end.error().message();
    ASSERT_EQ(end->result, "did " + data);
  }
}

TEST_F(Finish, B49_RemovedByItsEnd) {
  Worker worker(near,
                {.concurrency = 2,
                 .keep_completed = Keep::none(),
                 .keep_failed = Keep::none(),
                 .poll = 100ms},
                [](Job<>& job) -> Outcome {
                  return job.data() == "bad" ? Outcome::unrecoverable("bad") : Outcome::done("1");
                });
  for (int round = 0; round < 50; ++round) {
    const bool bad = round % 2 == 1;
    const auto id = near.add(bad ? "bad" : "good").value();
    const auto end = queue.wait_until_finished(id, 30s);
    ASSERT_TRUE(end.ok()) << round << ": " << end.error().message();
    EXPECT_EQ(end->state, bad ? JobState::failed : JobState::completed);
    EXPECT_FALSE(end->kept);
    EXPECT_FALSE(end->result.has_value());
    EXPECT_EQ(end->failed_reason, "");
  }
}

TEST_F(Finish, B49_RemovedByItsEndLongBefore) {
  const auto good = near.add("a").value();
  const auto bad = near.add("bad").value();
  work(Keep::none());
  for (int i = 0; i < 250; ++i) near.emit_event("in-between").value();
  EXPECT_EQ(queue.wait_until_finished(good, 0ms).value().state, JobState::completed);
  EXPECT_EQ(queue.wait_until_finished(bad, 0ms).value().state, JobState::failed);
  EXPECT_FALSE(queue.wait_until_finished(bad, 0ms).value().kept);
}

// Removed by hand, after an end that was kept, with all that may be told of it since.
TEST_F(Finish, B49_RemovedAfterItsEnd) {
  const auto good = near.add("a", {.deduplication = Deduplication::throttle("once", 1h)}).value();
  const auto bad = near.add("bad").value();
  work();
  EXPECT_TRUE(near.add("a", {.deduplication = Deduplication::throttle("once", 1h)})->deduplicated);
  ASSERT_TRUE(near.remove(good));
  ASSERT_TRUE(near.remove(bad));
  const auto end = queue.wait_until_finished(good, 10s).value();
  EXPECT_EQ(end.state, JobState::completed);
  EXPECT_FALSE(end.kept);
  EXPECT_EQ(queue.wait_until_finished(bad, 10s).value().state, JobState::failed);
}

// One that was given another run after its end, and was removed before that.
TEST_F(Finish, RemovedBeforeItsEndIsNoEnd) {
  const auto again = near.add("bad").value();
  work();
  ASSERT_TRUE(near.retry(again));
  ASSERT_TRUE(near.remove(again));
  const auto never = near.add("a").value();
  ASSERT_TRUE(near.remove(never));
  for (const auto& id : {again, never})
    EXPECT_EQ(error_of(queue.wait_until_finished(id, 10s)).code, ErrorCode::not_found);
}

// Far back in the stream, or farther than anybody looks: either is answered at once.
TEST_F(Finish, B49_RemovedByAnEndFarBackIsToldOrNotFoundAtOnce) {
  const auto now = std::to_string(client.server_time_ms());
  const auto write = [&](int entries) { write_custom(entries, now); };
  ASSERT_TRUE(near.open());
  ASSERT_TRUE(near.set_event_cap({.entries = 100'000}));
  const auto good = near.add("a").value();
  const auto custom = near.add("b", {.id = "custom"}).value();
  work(Keep::none());
  write(9'000);
  for (const auto& id : {good.id, custom.id})
    EXPECT_EQ(queue.wait_until_finished(id, 1h).value().state, JobState::completed) << id;
  write(1'500);
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& id : {good.id, custom.id})
    EXPECT_EQ(error_of(queue.wait_until_finished(id, 1h)).code, ErrorCode::not_found) << id;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

// Of one that is younger than the entries by more than clocks differ nothing is read but a page.
TEST_F(Finish, ASearchEndsWhereTheJobWasNotYet) {
  ASSERT_TRUE(near.open());
  ASSERT_TRUE(near.set_event_cap({.entries = 100'000}));
  const auto two_hours_ago = std::to_string(client.server_time_ms() - 2 * 3'600'000);
  write_custom(3'000, two_hours_ago);
  const auto id = near.add("a").value();
  ASSERT_TRUE(near.remove(id));
  redis({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(error_of(queue.wait_until_finished(id, 10s)).code, ErrorCode::not_found);
  const auto stats = redis({"INFO", "commandstats"}).text;
  EXPECT_NE(stats.find("cmdstat_xrevrange:calls=1,"), std::string::npos) << stats;
}

// What the stream has lost, nobody can tell any more.
TEST_F(Finish, B49_AfterTheEventsWereTrimmed) {
  const auto kept = near.add("a").value();
  auto end = wait_for(kept);
  until_listening();
  work();
  near.trim_events(0).value();
  EXPECT_EQ(end_of(std::move(end)).result, "did a");
  EXPECT_EQ(queue.wait_until_finished(kept, 10s).value().result, "did a");
  const auto gone = near.add("b").value();
  work(Keep::none());
  near.trim_events(0).value();
  // Of a client that has not listened: another may have read the end before it was trimmed.
  const auto late = another();
  Queue<> unheard{late, name};
  EXPECT_EQ(error_of(unheard.wait_until_finished(gone, 10s)).code, ErrorCode::not_found);
}

TEST_F(Finish, B49_RemovedByHand) {
  const auto id = near.add("a", {.delay = 1h}).value();
  auto end = wait_for(id, 600ms);
  until_listening();
  redis({"ZREM", key_of(Structure::delayed), id});
  redis({"DEL", job_key(name, id)});
  EXPECT_EQ(error_code(std::move(end)), ErrorCode::not_found);
}

TEST_F(Finish, NeverThere) {
  ASSERT_TRUE(near.open());
  EXPECT_EQ(error_of(queue.wait_until_finished("nobody", 10s)).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.wait_until_finished("274557032793636864", 0ms)).code,
            ErrorCode::not_found);
  Queue<> nowhere(waiting_client, name + ".nowhere");
  EXPECT_EQ(error_of(nowhere.wait_until_finished("nobody", 10s)).code, ErrorCode::not_found);
}

TEST_F(Finish, TheTimeIsOver) {
  const auto id = near.add("a", {.delay = 1h}).value();
  const auto begin = std::chrono::steady_clock::now();
  const auto late = error_of(queue.wait_until_finished(id, 200ms));
  EXPECT_EQ(late.code, ErrorCode::timeout);
  EXPECT_EQ(*late.field("value"), id);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 200ms);
  EXPECT_EQ(error_of(queue.wait_until_finished(id, 0ms)).code, ErrorCode::timeout);
}

// An attempt that failed and is tried again is no end.
TEST_F(Finish, ARetryIsNoEnd) {
  const auto id = near.add("a", {.attempts = 3}).value();
  auto end = wait_for(id);
  until_listening();
  Worker worker(near, {.poll = 100ms, .stop_when_empty = true}, [](Job<>& job) -> Outcome {
    if (job.attempt() < 3) return Outcome::fail("not yet");
    return Outcome::done("third");
  });
  ASSERT_TRUE(worker.wait(30s));
  EXPECT_EQ(end_of(std::move(end)).result, "third");
}

TEST_F(Finish, ManyShareOneConnection) {
  std::vector<std::string> ids;
  auto added = near.add_bulk(std::vector<NewJob<>>(500, {"a", {}})).value();
  for (auto& result : added) ids.push_back(std::move(result).value());
  std::vector<End> ends;
  for (const auto& id : ids) ends.push_back(wait_for(id));
  ends.push_back(wait_for(ids[0]));
  until_listening();
  const auto list = redis({"CLIENT", "LIST"}).text;
  EXPECT_EQ(list.find(own_lane()), list.rfind(own_lane()));
  work();
  for (auto& end : ends) EXPECT_EQ(end_of(std::move(end)).result, "did a");
}

TEST_F(Finish, TheLastHandleGoing) {
  const auto id = near.add("a", {.delay = 1h}).value();
  End end;
  {
    auto other = another();
    Queue<> short_lived(other, name);
    auto told = std::make_shared<std::promise<Result<FinishedJob>>>();
    end = told->get_future();
    short_lived.async_wait_until_finished(
        id, 1h, [told](Result<FinishedJob> result) { told->set_value(std::move(result)); });
    (void)short_lived.counts();
  }
  EXPECT_EQ(error_code(std::move(end)), ErrorCode::closed);
}

TEST_F(Finish, BadInput) {
  EXPECT_EQ(error_of(queue.wait_until_finished("a b", 1s)).code, ErrorCode::invalid_name);
  EXPECT_EQ(error_of(queue.wait_until_finished("BAT0KHTOWnGLuC", 1s)).code,
            ErrorCode::invalid_name);
  for (const auto timeout : {std::chrono::milliseconds(-1), kMaxDelay + 1ms}) {
    const auto error = error_of(queue.wait_until_finished("a", timeout));
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(*error.field("value"), std::to_string(timeout.count()));
    EXPECT_EQ(error_code(wait_for("a", timeout)), ErrorCode::invalid_argument);
  }
  Queue<> unnamed(waiting_client, "no blanks");
  EXPECT_EQ(error_of(unnamed.wait_until_finished("a", 1s)).code, ErrorCode::invalid_name);
  // A blocking wait on the thread that would have to end it.
  std::promise<ErrorCode> inside;
  queue.async_add("x", {}, [&](const Result<AddedJob>& id) {
    inside.set_value(error_of(queue.wait_until_finished(*id, 1s)).code);
  });
  EXPECT_EQ(inside.get_future().get(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace echomq::test
