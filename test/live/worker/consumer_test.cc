// SPDX-License-Identifier: MIT
// Jobs that are fetched and finished by hand. The poll is a minute unless a test says otherwise, so
// that nothing but a mark can be what ended a wait.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "echomq/json.h"
#include "support/fleet.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {

struct Parcel {
  std::string to;
  int grams = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parcel, to, grams)

namespace {

using namespace std::chrono_literals;

ConsumerOptions patient_consumer(unsigned max_held = 1'000) {
  ConsumerOptions how;
  how.max_held = max_held;
  how.poll = 60s;
  how.keep_completed = Keep::all();
  return how;
}

// A promise that lives until the callback that keeps it has returned.
template <class T>
auto shared_promise() {
  return std::make_shared<std::promise<T>>();
}

class Consumed : public LibraryTest {
 protected:
  std::vector<std::string> waiting() {
    return texts(redis({"LRANGE", key_of(Structure::wait), "0", "-1"}));
  }
  // A job that must come.
  static FetchedJob<> next(Consumer<>& consumer) {
    auto job = consumer.fetch(20s).value();
    if (!job) raise({ErrorCode::not_found, "no job came", {}});
    return *std::move(job);
  }
};

TEST_F(Consumed, AJobIsFetchedAndCompleted) {
  const auto id = queue.add("to: you", {.name = "letter"}).value();
  Consumer<> consumer{queue, patient_consumer()};
  auto job = next(consumer);
  EXPECT_EQ(job.job().id(), id);
  EXPECT_EQ(job.job().name(), "letter");
  EXPECT_EQ(job.data(), "to: you");
  EXPECT_EQ(job.job().attempt(), 1U);
  EXPECT_EQ(info(id).state, JobState::active);
  EXPECT_TRUE(job.held());
  ASSERT_TRUE(job.complete("sent"));
  EXPECT_FALSE(job.held());
  const auto done = info(id);
  EXPECT_EQ(done.state, JobState::completed);
  EXPECT_EQ(done.result, "sent");
  EXPECT_EQ(done.worker, "consumer");
  EXPECT_EQ(error_of(job.complete()).code, ErrorCode::wrong_state);
  EXPECT_EQ(consumer.stats().completed, 1U);
  EXPECT_TRUE(consumer.status());
}

TEST_F(Consumed, NothingWithinTheTimeIsNoError) {
  ASSERT_TRUE(queue.open());
  Consumer<> consumer{queue, patient_consumer()};
  for (const auto timeout : {0ms, 50ms}) {
    const auto begin = std::chrono::steady_clock::now();
    auto none = consumer.fetch(timeout);
    ASSERT_TRUE(none) << error_of(none).message();
    EXPECT_FALSE(*none);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, timeout);
  }
}

// What is ready is found without any time, from the first moment on.
TEST_F(Consumed, WithoutTimeWhatIsReadyIsTaken) {
  for (int i = 0; i < 20; ++i) {
    Consumer<> consumer{queue, patient_consumer()};
    ASSERT_FALSE(consumer.fetch(0ms).value());
    queue.add("x").value();
    auto job = consumer.fetch(0ms).value();
    ASSERT_TRUE(job) << i;
    ASSERT_TRUE(job->complete());
  }
  queue.add("x").value();
  Consumer<> fresh{queue, patient_consumer()};
  EXPECT_TRUE(fresh.fetch(0ms).value());
}

TEST_F(Consumed, AFetchThatWaitsIsWokenByAnAdd) {
  ASSERT_TRUE(queue.open());
  Consumer<> consumer{queue, patient_consumer()};
  auto waits = std::async(std::launch::async, [&] { return next(consumer).data(); });
  EXPECT_EQ(waits.wait_for(100ms), std::future_status::timeout);
  queue.add("late").value();
  EXPECT_EQ(waits.get(), "late");
}

TEST_F(Consumed, ADelayedJobIsPromotedAndFetched) {
  Consumer<> consumer{queue, patient_consumer()};
  queue.add("x", {.delay = 150ms}).value();
  EXPECT_EQ(next(consumer).data(), "x");
}

TEST_F(Consumed, ManyAtOnceInTheirOrderAndNoMoreThanAsked) {
  const auto ids = add_many(10);
  Consumer<> consumer{queue, patient_consumer()};
  auto jobs = consumer.fetch_many(7, 20s).value();
  ASSERT_EQ(jobs.size(), 7U);
  for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(jobs[i].job().id(), ids[i]);
  EXPECT_EQ(counts().active, 7) << "claims are made on demand only";
  EXPECT_EQ(counts().waiting, 3);
  auto rest = consumer.fetch_many(256, 20s).value();
  EXPECT_EQ(rest.size(), 3U) << "it does not wait for more";
  for (auto& job : jobs) EXPECT_TRUE(job.complete());
  for (auto& job : rest) EXPECT_TRUE(job.complete());
  EXPECT_EQ(counts().completed, 10);
}

TEST_F(Consumed, NeverMoreAreHeldThanMayBe) {
  add_many(5);
  Consumer<> consumer{queue, patient_consumer(2)};
  auto jobs = consumer.fetch_many(5, 20s).value();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_FALSE(consumer.fetch(50ms).value());
  EXPECT_EQ(counts().active, 2);
  auto waits = std::async(std::launch::async, [&] { return next(consumer).complete().ok(); });
  EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);
  ASSERT_TRUE(jobs.front().complete());
  EXPECT_TRUE(waits.get());
}

// --- the ends

TEST_F(Consumed, EachEndIsToldAndAnswered) {
  Consumer<> consumer{queue, patient_consumer()};
  const auto fetched = [&](const JobOptions& how) {
    queue.add("x", how).value();
    return next(consumer);
  };
  auto failed = fetched({.attempts = 1});
  ASSERT_TRUE(failed.fail("no"));
  EXPECT_EQ(info(failed.job().id()).state, JobState::failed);
  EXPECT_EQ(info(failed.job().id()).failed_reason, "no");

  auto again = fetched({.attempts = 2, .backoff = Backoff::fixed(1h)});
  ASSERT_TRUE(again.fail("not yet"));
  EXPECT_EQ(info(again.job().id()).state, JobState::delayed);
  EXPECT_EQ(info(again.job().id()).attempts_made, 1U);

  auto later = fetched({.attempts = 1});
  ASSERT_TRUE(later.retry_in(1h));
  EXPECT_EQ(info(later.job().id()).state, JobState::delayed);
  EXPECT_EQ(info(later.job().id()).attempts_made, 0U);

  auto over = fetched({.attempts = 9});
  ASSERT_TRUE(over.finish(Outcome::unrecoverable("never")));
  EXPECT_EQ(info(over.job().id()).state, JobState::failed);

  auto back = fetched({});
  ASSERT_TRUE(back.release());
  const auto job = info(back.job().id());
  EXPECT_EQ(job.state, JobState::waiting);
  EXPECT_EQ(job.attempts_made, 0U);
  EXPECT_EQ(job.attempts_started, 1U);
  const auto stats = consumer.stats();
  EXPECT_EQ(stats.failed, 2U);
  EXPECT_EQ(stats.retried, 2U);
  EXPECT_EQ(stats.released, 1U);
}

TEST_F(Consumed, WhatIsDestroyedUnfinishedGoesBackToItsPlaceAndSpendsNoAttempt) {
  const auto ids = add_many(6);
  {
    Consumer<> consumer{queue, patient_consumer()};
    auto jobs = consumer.fetch_many(4, 20s).value();
    ASSERT_EQ(jobs.size(), 4U);
    ASSERT_TRUE(jobs[1].complete());
    jobs.erase(jobs.begin());
    ASSERT_TRUE(eventually([&] { return counts().waiting == 3; }));
    EXPECT_EQ(counts().active, 2);
  }
  EXPECT_EQ(counts().active, 0) << "the consumer waits until that was told";
  auto places = waiting();
  EXPECT_EQ(std::set(places.begin(), places.end()),
            (std::set<std::string>{ids[0], ids[2], ids[3], ids[4], ids[5]}));
  EXPECT_EQ(std::vector(places.end() - 2, places.end()), (std::vector{ids[4], ids[5]}))
      << "in front of those that were not taken";
  EXPECT_EQ(info(ids[0]).attempts_made, 0U);
  EXPECT_EQ(info(ids[0]).crashes, 0U);
}

TEST_F(Consumed, AJobThatIsLetGoOfAgainAndAgainFailsOverMaxStarts) {
  const auto id = queue.add("x").value();
  auto how = patient_consumer();
  how.max_starts = 3;
  Consumer<> consumer{queue, how};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(next(consumer).release()) << i;
  EXPECT_EQ(info(id).state, JobState::failed);
  EXPECT_NE(info(id).failed_reason.find("started 3 times"), std::string::npos);
}

TEST_F(Consumed, AResultThatIsTooLargeIsRefusedAndTheJobIsStillHeld) {
  const auto id = queue.add("x").value();
  Consumer<> consumer{queue, patient_consumer()};
  auto job = next(consumer);
  const auto error = error_of(job.complete(std::string(kMaxResultBytes + 1, 'r')));
  EXPECT_EQ(error.code, ErrorCode::too_large) << error.message();
  ASSERT_NE(error.field("value"), nullptr);
  EXPECT_EQ(*error.field("value"), std::to_string(kMaxResultBytes + 1));
  ASSERT_TRUE(job.held());
  EXPECT_TRUE(job.complete("short"));
  EXPECT_EQ(info(id).result, "short");
}

TEST_F(Consumed, ProgressAndLogOfAHeldJob) {
  const auto id = queue.add("x").value();
  Consumer<> consumer{queue, patient_consumer()};
  auto job = next(consumer);
  ASSERT_TRUE(job.job().progress("half"));
  ASSERT_TRUE(job.job().log("a line"));
  EXPECT_TRUE(eventually([&] { return info(id).progress == "half"; }));
  ASSERT_TRUE(job.complete());
  EXPECT_EQ(queue.logs(id).value().lines, std::vector<std::string>{"a line"});
}

// --- types

TEST_F(Consumed, ATypedJobAndOneThatIsNot) {
  Queue<Parcel> parcels{client, name};
  const auto bad = queue.add("no JSON").value();
  const auto good = parcels.add({"you", 20}, {.attempts = 3}).value();
  Consumer<Parcel> consumer{parcels, patient_consumer()};
  auto parcel = consumer.fetch(20s).value();
  ASSERT_TRUE(parcel);
  EXPECT_EQ(parcel->job().id(), good);
  EXPECT_EQ(parcel->data().grams, 20);
  ASSERT_TRUE(parcel->complete(Parcel{"me", 10}));
  EXPECT_EQ(info(good).result_as<Parcel>().value().to, "me");
  EXPECT_TRUE(eventually([&] { return info(bad).state == JobState::failed; }));
  EXPECT_EQ(info(bad).failed_reason.substr(0, 8), "decode: ");
  EXPECT_FALSE(consumer.fetch(0ms).value());
}

TEST_F(Consumed, OnlyUndecodableOnesAreNone) {
  Queue<Parcel> parcels{client, name};
  add_many(300);
  Consumer<Parcel> consumer{parcels, patient_consumer()};
  EXPECT_TRUE(consumer.fetch_many(100, 0ms).value().empty());
  EXPECT_TRUE(eventually([&] { return counts().failed == 300; }));
  const auto several = shared_promise<std::size_t>();
  add_many(3);
  parcels.add({"you", 1}).value();
  consumer.async_fetch_many(2, 20s, [several](Result<std::vector<FetchedJob<Parcel>>> jobs) {
    several->set_value(jobs.value().size());
  });
  EXPECT_EQ(several->get_future().get(), 1U);
}

// --- without waiting

TEST_F(Consumed, ByCallback) {
  add_many(3);
  Consumer<> consumer{queue, patient_consumer()};
  const auto all = shared_promise<void>();
  std::atomic<int> done{0};
  std::function<void()> fetch_one = [&] {
    consumer.async_fetch_many(1, 20s, [&](Result<std::vector<FetchedJob<>>> jobs) {
      auto& job = jobs.value().front();
      EXPECT_EQ(error_of(job.complete()).code, ErrorCode::invalid_argument)
          << "this is the I/O thread";
      EXPECT_EQ(error_of(consumer.fetch(0ms)).code, ErrorCode::invalid_argument);
      ASSERT_TRUE(job.held());
      job.async_finish(Outcome::done("by callback"), [&](Result<void> told) {
        EXPECT_TRUE(told);
        if (++done == 3) return all->set_value();
        fetch_one();
      });
      EXPECT_FALSE(job.held());
    });
  };
  fetch_one();
  ASSERT_EQ(all->get_future().wait_for(20s), std::future_status::ready);
  EXPECT_EQ(counts().completed, 3);
  ErrorCode bad{};
  consumer.async_fetch_many(0, 0ms, [&](auto jobs) { bad = error_of(jobs).code; });
  EXPECT_EQ(bad, ErrorCode::invalid_argument) << "told before it returned";
}

// A job that nobody keeps goes back.
TEST_F(Consumed, ByCallbackThatLetsGo) {
  const auto id = queue.add("x").value();
  const auto came = shared_promise<void>();
  Consumer<> consumer{queue, patient_consumer()};
  consumer.async_fetch_many(1, 20s, [came](auto) { came->set_value(); });
  came->get_future().get();
  EXPECT_TRUE(eventually([&] { return info(id).attempts_started == 1; }));
  EXPECT_EQ(info(id).state, JobState::waiting);
}

// --- its end

TEST_F(Consumed, FetchesThatWaitAreAnsweredClosed) {
  ASSERT_TRUE(queue.open());
  auto consumer = std::make_unique<Consumer<>>(queue, patient_consumer());
  const auto answer = shared_promise<ErrorCode>();
  consumer->async_fetch_many(1, 60s,
                             [answer](auto jobs) { answer->set_value(error_of(jobs).code); });
  consumer.reset();
  EXPECT_EQ(answer->get_future().get(), ErrorCode::closed);
}

TEST_F(Consumed, AHeldJobOutlivesItsConsumer) {
  const auto ids = add_many(2);
  std::optional<FetchedJob<>> first;
  std::optional<FetchedJob<>> second;
  {
    Consumer<> consumer{queue, patient_consumer()};
    first = next(consumer);
    second = next(consumer);
    EXPECT_FALSE(first->job().stop_token().stop_requested());
  }
  EXPECT_TRUE(eventually([&] { return first->job().stop_token().stop_requested(); }));
  EXPECT_EQ(first->job().stop_reason().kind, StopReason::Kind::shutdown);
  EXPECT_EQ(counts().active, 2);
  EXPECT_TRUE(first->complete());
  first.reset();
  second.reset();
  EXPECT_EQ(counts().active, 0) << "the last one waits until that was told";
  EXPECT_EQ(info(ids[0]).state, JobState::completed);
  EXPECT_EQ(info(ids[1]).state, JobState::waiting);
}

// A claim that is on its way when everything ends leaves nothing active.
TEST_F(Consumed, EndedAtRandomMomentsLosesNothing) {
  constexpr std::size_t kJobs = 200;
  add_many(kJobs);
  for (int time = 0; time < 60; ++time) {
    auto consumer = std::make_unique<Consumer<>>(queue, patient_consumer());
    const auto answered = shared_promise<void>();
    const auto answer = answered->get_future();
    consumer->async_fetch_many(5, 20s, [answered](auto) { answered->set_value(); });
    if (time % 3 == 0) answer.wait();
    if (time % 3 == 1) std::this_thread::yield();
    consumer.reset();
    answer.wait();
    // What a callback had and let go of is told from the I/O thread.
    ASSERT_TRUE(eventually([&] { return counts().active == 0; })) << time;
  }
  EXPECT_EQ(counts().waiting, static_cast<std::int64_t>(kJobs));
}

TEST_F(Consumed, ManyThreadsFetchEachJobOnce) {
  constexpr std::size_t kJobs = 1'000;
  add_many(kJobs);
  Consumer<> consumer{queue, patient_consumer(20)};
  Runs runs;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      while (runs.size() < kJobs) {
        auto jobs = consumer.fetch_many(1 + i, i % 2 == 0 ? 0ms : 20ms).value();
        for (auto& job : jobs) {
          runs.note(job.job().id());
          EXPECT_TRUE(job.complete());
        }
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(runs.times().size(), kJobs);
  EXPECT_EQ(runs.size(), kJobs) << "a job was fetched twice";
  EXPECT_EQ(counts().completed, static_cast<std::int64_t>(kJobs));
}

TEST_F(Consumed, BesideAWorkerNobodyStarves) {
  ASSERT_TRUE(queue.open());
  auto other = another();
  Queue<> theirs{other, name};
  Gate gate;
  Worker worker{theirs, {.concurrency = 1, .poll = 60s}, [&](Job<>&) { gate.pass(); }};
  Consumer<> consumer{queue, patient_consumer()};
  EXPECT_FALSE(consumer.fetch(0ms).value());
  // It waits on the marker still, and wants nothing: the wake that it takes goes on to the worker.
  queue.add("x").value();
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 1; }, 20s));
  queue.add("y").value();
  EXPECT_EQ(next(consumer).data(), "y");
  gate.open();
}

// --- bad input

TEST_F(Consumed, BadInputIsRefused) {
  ASSERT_TRUE(queue.open());
  Consumer<> consumer{queue, patient_consumer()};
  const auto refused = [](const auto& result, const char* option, const std::string& value) {
    const auto error = error_of(result);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message();
    ASSERT_NE(error.field("option"), nullptr) << error.message();
    EXPECT_EQ(*error.field("option"), option);
    EXPECT_EQ(*error.field("value"), value);
  };
  refused(consumer.fetch(-1ms), "timeout", "-1");
  refused(consumer.fetch(kMaxDelay + 1ms), "timeout", std::to_string((kMaxDelay + 1ms).count()));
  refused(consumer.fetch(std::chrono::milliseconds::max()), "timeout",
          std::to_string(std::chrono::milliseconds::max().count()));
  refused(consumer.fetch_many(0, 0ms), "max", "0");
  refused(consumer.fetch_many(257, 0ms), "max", "257");
  for (const auto& [option, value, how] : {
           std::tuple{"max_held", "0", ConsumerOptions{.max_held = 0}},
           std::tuple{"max_held", "10001", ConsumerOptions{.max_held = 10'001}},
           std::tuple{"lease", "1999", ConsumerOptions{.lease = 1'999ms}},
           std::tuple{"max_crashes", "1001", ConsumerOptions{.max_crashes = 1'001}},
           std::tuple{"max_starts", "1000001", ConsumerOptions{.max_starts = 1'000'001}},
           std::tuple{"keep_failed.age", "-1", ConsumerOptions{.keep_failed = Keep{1, -1s}}},
           std::tuple{"poll", "99", ConsumerOptions{.poll = 99ms}},
           std::tuple{"name", "256 bytes", ConsumerOptions{.name = std::string(256, 'n')}},
       }) {
    Consumer<> bad{queue, how};
    refused(bad.fetch(20s), option, value);
    refused(bad.status(), option, value);
  }
}

TEST_F(Consumed, AQueueOfABadNameIsAnsweredByTheFetch) {
  Queue<> bad{client, "no such name!"};
  Consumer<> consumer{bad, patient_consumer()};
  EXPECT_EQ(error_of(consumer.fetch(20s)).code, ErrorCode::invalid_name);
  EXPECT_EQ(error_of(consumer.fetch(0ms)).code, ErrorCode::invalid_name);
}

TEST_F(Consumed, AClientThatIsClosedEndsIt) {
  auto own = another();
  Queue<> q{own, name};
  auto how = patient_consumer();
  how.poll = 200ms;
  Consumer<> consumer{q, how};
  EXPECT_FALSE(consumer.fetch(0ms).value());
  own.close();
  EXPECT_EQ(error_of(consumer.fetch(20s)).code, ErrorCode::closed);
}

// --- leases, death and outages

class HeldJob : public OwnServerTest {
 protected:
  static ConsumerOptions hasty() {
    auto how = patient_consumer();
    how.lease = 2s;
    return how;
  }
  [[nodiscard]] Client impatient() const {
    auto how = options();
    how.command_timeout = 300ms;
    return connect(server.url(), how).value();
  }
  void pass(std::chrono::milliseconds time) const {
    const auto until = std::chrono::steady_clock::now() + time;
    eventually([&] { return std::chrono::steady_clock::now() > until; });
  }
};

TEST_F(HeldJob, IsKeptForLongerThanItsLease) {
  const auto id = queue.add("x").value();
  auto other = another();
  Queue<> theirs{other, name};
  Consumer<> watches{theirs, hasty()};  // it would take back what is not extended
  Consumer<> consumer{queue, hasty()};
  auto job = consumer.fetch(20s).value();
  ASSERT_TRUE(job);
  pass(5s);
  EXPECT_FALSE(job->job().lease_lost());
  ASSERT_TRUE(job->complete());
  EXPECT_EQ(info(id).attempts_started, 1U);
  EXPECT_EQ(watches.stats().recovered, 0U);
}

TEST_F(HeldJob, OfAProcessThatIsKilledIsTakenByAnother) {
  Fleet fleet{server.url(), name};
  const auto id = queue.add("hold " + fleet.file("never")).value();
  auto& victim = fleet.start({"fetch", "lease=2000", "name=victim"});
  ASSERT_TRUE(eventually([&] { return fleet.began(victim, id); })) << fleet.output();
  victim.kill9();
  Consumer<> heir{queue, hasty()};
  auto job = heir.fetch(20s).value();
  ASSERT_TRUE(job) << log.text();
  EXPECT_EQ(job->job().id(), id);
  EXPECT_EQ(job->job().crashes(), 1U);
  ASSERT_TRUE(job->complete());
  EXPECT_EQ(heir.stats().recovered, 1U);
}

// A process sleeps through its lease; what it says afterwards is refused, and it is told so.
TEST_F(HeldJob, OfAProcessThatSleptIsStale) {
  Fleet fleet{server.url(), name};
  const auto id = queue.add("hold " + fleet.file("go on")).value();
  auto& sleeper = fleet.start({"fetch", "lease=2000", "name=sleeper"});
  ASSERT_TRUE(eventually([&] { return fleet.began(sleeper, id); })) << fleet.output();
  sleeper.signal(SIGSTOP);
  Consumer<> heir{queue, hasty()};
  auto job = heir.fetch(20s).value();
  ASSERT_TRUE(job) << log.text();
  std::ofstream(fleet.file("go on")) << "now";
  sleeper.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return sleeper.output().find("told=stale") != std::string::npos; }))
      << sleeper.output();
  ASSERT_TRUE(job->complete("by the heir"));
  EXPECT_EQ(info(id).result, "by the heir");
  sleeper.signal(SIGTERM);
  EXPECT_EQ(sleeper.wait(), 0) << sleeper.output();
}

// The job is somebody else's, and its holder learns of it while it works.
TEST_F(HeldJob, ThatWasTakenAwayTellsItsHolder) {
  const auto id = queue.add("x").value();
  auto other = another();
  Queue<> theirs{other, name};
  Consumer<> dies{theirs, hasty()};
  auto lost = dies.fetch(20s).value();
  ASSERT_TRUE(lost);
  redis({"ZREM", key_of(Structure::active), id});
  redis({"RPUSH", key_of(Structure::wait), id});
  Consumer<> heir{queue, hasty()};
  auto job = heir.fetch(20s).value();
  ASSERT_TRUE(job);
  EXPECT_TRUE(eventually([&] { return lost->job().lease_lost(); }));
  EXPECT_EQ(error_of(lost->job().update_data("mine")).code, ErrorCode::stale);
  EXPECT_EQ(error_of(lost->job().progress("mine")).code, ErrorCode::stale);
  EXPECT_EQ(info(id).data, "x");
  EXPECT_EQ(info(id).progress, "");
  EXPECT_TRUE(lost->job().stop_token().stop_requested());
  EXPECT_EQ(lost->job().stop_reason().kind, StopReason::Kind::lease_lost);
  const auto stale = lost->complete("too late");
  EXPECT_EQ(error_of(stale).code, ErrorCode::stale) << error_of(stale).message();
  EXPECT_FALSE(lost->held());
  ASSERT_TRUE(job->complete("by the heir"));
  EXPECT_EQ(info(id).result, "by the heir");
  EXPECT_EQ(dies.stats().refused, 1U);
}

TEST_F(HeldJob, ThatWasRemovedIsNotFound) {
  const auto id = queue.add("x").value();
  Consumer<> consumer{queue, hasty()};
  auto job = consumer.fetch(20s).value();
  ASSERT_TRUE(job);
  ASSERT_TRUE(queue.obliterate({.force = true}));
  const auto gone = error_of(job->complete());
  EXPECT_TRUE(gone.code == ErrorCode::not_found || gone.code == ErrorCode::stale) << gone.message();
}

TEST_F(HeldJob, AFetchDuringAnOutageWaitsForTheServerWithinItsTime) {
  ASSERT_TRUE(queue.open());
  auto hurried = impatient();
  Queue<> q{hurried, name};
  Consumer<> consumer{q, patient_consumer()};
  ASSERT_FALSE(consumer.fetch(0ms).value());
  server.kill9();
  const auto begin = std::chrono::steady_clock::now();
  auto none = consumer.fetch(300ms);
  ASSERT_TRUE(none) << error_of(none).message();
  EXPECT_FALSE(*none);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  auto waits = std::async(std::launch::async, [&] { return consumer.fetch(30s); });
  EXPECT_EQ(waits.wait_for(300ms), std::future_status::timeout);
  server.start();
  Queue<> anew{client, name};
  ASSERT_TRUE(eventually([&] { return anew.add("after").ok(); }));
  auto job = waits.get();
  ASSERT_TRUE(job) << error_of(job).message();
  ASSERT_TRUE(*job);
  EXPECT_EQ((*job)->data(), "after");
  EXPECT_TRUE((*job)->complete());
}

// Unknown for the caller, and told all the same.
TEST_F(HeldJob, AnEndDuringAnOutageIsUnknownAndToldWhenTheServerIsBack) {
  const auto id = queue.add("x").value();
  auto hurried = impatient();
  Queue<> q{hurried, name};
  Consumer<> consumer{q, patient_consumer()};
  auto job = consumer.fetch(20s).value();
  ASSERT_TRUE(job);
  server.stop_signal();
  const auto unknown = error_of(job->complete("told later"));
  EXPECT_EQ(unknown.code, ErrorCode::timeout) << unknown.message();
  EXPECT_TRUE(unknown.unknown_outcome());
  EXPECT_FALSE(job->held());
  server.continue_signal();
  EXPECT_TRUE(eventually([&] {
    const auto found = queue.job(id);
    return found && found->state == JobState::completed;
  }));
  EXPECT_EQ(info(id).result, "told later");
}

}  // namespace
}  // namespace echomq::test
