// SPDX-License-Identifier: MIT
// Answers that are lost on their way to a worker, at each script that it calls.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "chaos.h"
#include "echomq/schedule.h"
#include "protocol/lease.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class WorkerLosesTheAnswer : public Chaos {
 protected:
  // Started by the first call, so that what is to be lost can be arranged before.
  template <class Handler>
  Worker& work(const WorkerOptions& how, Handler handler) {
    worker_ = std::make_unique<Worker>(far_queue(), how, std::move(handler));
    return *worker_;
  }
  Queue<>& far_queue() {
    if (!queue_) {
      client_ = std::make_unique<Client>(far());
      queue_ = std::make_unique<Queue<>>(*client_, name);
    }
    return *queue_;
  }
  WorkerStats stats() { return worker_->stats(); }
  std::string score(const std::string& id) {
    return redis({"ZSCORE", key_of(Structure::active), id}).text;
  }

 private:
  std::unique_ptr<Client> client_;
  std::unique_ptr<Queue<>> queue_;
  std::unique_ptr<Worker> worker_;
};

// What was claimed and never heard of is given back long before its lease ends.
TEST_F(WorkerLosesTheAnswer, OfAClaimTwice) {
  Runs runs;
  const auto ids = add_many(5);
  ASSERT_TRUE(far_queue().open());
  proxy.lose(Loss::answer, "job/claim", {.times = 2});
  auto& worker = work(steady(2), [&](Job<>& job) { runs.note(job.id()); });
  expect_done(ids, runs);
  EXPECT_EQ(proxy.lost("job/claim"), 2U);
  EXPECT_GE(worker.stats().released, 2U);
  EXPECT_EQ(worker.stats().recovered, 0U);
}

TEST_F(WorkerLosesTheAnswer, OfALoad) {
  Runs runs;
  const auto ids = add_many(3);
  ASSERT_TRUE(far_queue().open());
  proxy.lose(Loss::answer, "HMGET", {.after = 1, .times = 2});
  work(steady(2), [&](Job<>& job) { runs.note(job.id()); });
  expect_done(ids, runs);
  EXPECT_EQ(proxy.lost("HMGET"), 2U);
}

TEST_F(WorkerLosesTheAnswer, OfAFinish) {
  Runs runs;
  const auto good = queue.add("good").value();
  const auto bad = queue.add("bad").value();
  proxy.lose(Loss::answer, "job/finish", {.times = 3});
  auto& worker = work(steady(1), [&](Job<>& job) {
    runs.note(job.id());
    return job.data() == "bad" ? Outcome::unrecoverable("it is bad") : Outcome::done("it is good");
  });
  ASSERT_TRUE(eventually(
      [&] { return worker.stats().completed == 1 && worker.stats().failed == 1; }, kResumes))
      << log.text();
  EXPECT_EQ(proxy.lost("job/finish"), 3U);
  EXPECT_EQ(worker.stats().refused + worker.stats().unknown, 0U);
  EXPECT_EQ(runs.size(), 2U);
  EXPECT_EQ(info(good).state, JobState::completed);
  EXPECT_EQ(info(good).result, "it is good");
  EXPECT_EQ(info(good).attempts_made, 1U);
  EXPECT_EQ(info(bad).state, JobState::failed);
  EXPECT_EQ(info(bad).attempts_made, 1U);
}

// It was given up after ten seconds, and the job, which nobody held any more, ran again.
TEST_F(WorkerLosesTheAnswer, OfAFinishForTwelveSeconds) {
  Runs runs;
  Gate gate;
  const auto id = queue.add("x").value();
  auto& worker = work(steady(1), [&](Job<>& job) {
    runs.note(job.id());
    gate.pass();
  });
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, kResumes));
  proxy.set({.blackhole = true});
  gate.open();
  last(12s);
  proxy.pass();
  ASSERT_TRUE(eventually([&] { return worker.stats().completed == 1; }, kResumes)) << log.text();
  expect_done({id}, runs);
  EXPECT_EQ(worker.stats().unknown, 0U);
}

// Nothing is kept: the second time there is no job that could tell who ended it.
TEST_F(WorkerLosesTheAnswer, OfAFinishThatDeletesTheJob) {
  Runs runs;
  const auto id = queue.add("x", {.keep_completed = Keep::none()}).value();
  proxy.lose(Loss::answer, "job/finish", {.times = 2});
  work(steady(), [&](Job<>& job) { runs.note(job.id()); });
  ASSERT_TRUE(eventually([&] { return proxy.lost("job/finish") == 2; }, kResumes));
  const auto next = queue.add("y").value();
  expect_done({next}, runs);
  EXPECT_EQ(runs.times(id), 1);
  EXPECT_EQ(redis({"EXISTS", job_key(name, id)}).integer, 0);
  // No other run owned the job.
  EXPECT_EQ(stats().refused, 0U);
  EXPECT_EQ(stats().unknown, 1U);
}

TEST_F(WorkerLosesTheAnswer, OfARetry) {
  Runs runs;
  const auto at_once = queue.add("x", {.attempts = 2}).value();
  const auto later = queue.add("x", {.attempts = 2, .backoff = Backoff::fixed(100ms)}).value();
  proxy.lose(Loss::answer, "job/retry", {.times = 3});
  work(steady(1), [&](Job<>& job) {
    runs.note(job.id());
    return job.attempt() == 1 ? Outcome::fail("once") : Outcome::done();
  });
  ASSERT_TRUE(eventually([&] { return counts().completed == 2; }, kResumes)) << log.text();
  EXPECT_EQ(proxy.lost("job/retry"), 3U);
  for (const auto& id : {at_once, later}) {
    EXPECT_EQ(runs.times(id), 2) << "the retry was counted once";
    EXPECT_EQ(info(id).attempts_made, 2U);
    EXPECT_EQ(info(id).attempts_started, 2U);
    EXPECT_EQ(info(id).crashes, 0U);
  }
  EXPECT_EQ(stats().refused, 0U);
}

// An add that was kept for the end of the owner becomes a job soon all the same.
TEST_F(WorkerLosesTheAnswer, OfTheEndOfAnOwnersId) {
  Runs runs;
  const auto rule = Deduplication::keep_last_if_active("D");
  ASSERT_TRUE(queue.add("first", {.deduplication = rule}));
  proxy.lose(Loss::answer, "deduplication/end", {.times = 2});
  Gate gate;
  work(steady(1), [&](Job<>& job) {
    runs.note(job.data());
    if (job.data() == "first") gate.pass();
  });
  ASSERT_TRUE(eventually([&] { return runs.size() == 1; }, kResumes));
  ASSERT_TRUE(queue.add("kept", {.deduplication = rule}).value().deduplicated);
  gate.open();
  EXPECT_TRUE(eventually([&] { return runs.times("kept") == 1; }, kResumes)) << log.text();
  EXPECT_EQ(proxy.lost("deduplication/end"), 2U);
  EXPECT_EQ(runs.times("first"), 1);
}

// An owner whose job is deleted by its end: the time goes on, whether what holds it was lost on its
// way there or back.
TEST_F(WorkerLosesTheAnswer, OfAHoldOfAnOwnersId) {
  std::size_t lost = 0;
  for (const auto loss : {Loss::command, Loss::answer}) {
    const auto rule = Deduplication::throttle("D", 1h);
    const auto owner =
        queue.add("first", {.keep_completed = Keep::none(), .deduplication = rule}).value();
    ASSERT_TRUE(far_queue().open());
    proxy.lose(loss, "deduplication/hold");
    auto how = steady(1);
    how.stop_when_empty = true;
    EXPECT_TRUE(work(how, [](Job<>&) {}).wait(kResumes));
    EXPECT_EQ(proxy.lost("deduplication/hold"), ++lost);
    EXPECT_EQ(error_of(queue.job(owner)).code, ErrorCode::not_found);
    const auto again = queue.add("again", {.deduplication = rule}).value();
    EXPECT_TRUE(again.deduplicated);
    EXPECT_EQ(again.id, owner);
    EXPECT_TRUE(queue.release_deduplication("D").value());
    proxy.pass();
  }
}

// Given back because their claim was lost, and that answer is lost as well: they come in order.
TEST_F(WorkerLosesTheAnswer, OfARelease) {
  Runs runs;
  const auto ids = add_many(4);
  ASSERT_TRUE(far_queue().open());
  proxy.lose(Loss::answer, "job/claim");
  proxy.lose(Loss::answer, "job/release", {.times = 2});
  work(steady(1), [&](Job<>& job) { runs.note(job.id()); });
  expect_done(ids, runs);
  EXPECT_EQ(proxy.lost("job/release"), 2U);
}

TEST_F(WorkerLosesTheAnswer, OfAPromotion) {
  Runs runs;
  ASSERT_TRUE(far_queue().open());
  proxy.lose(Loss::answer, "job/promote", {.times = 2});
  work(steady(), [&](Job<>& job) { runs.note(job.id()); });
  std::vector<std::string> ids;
  for (int i = 1; i <= 4; ++i) ids.push_back(queue.add("x", {.delay = i * 100ms}).value());
  expect_done(ids, runs);
  EXPECT_EQ(proxy.lost("job/promote"), 2U);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto late = info(ids[i]).processed_ms - info(ids[i]).added_ms - 100 * std::int64_t(i + 1);
    EXPECT_GE(late, 0) << i;
    EXPECT_LE(late, 2'500) << i;
  }
}

// Neither a lost answer nor a lost call costs the lease.
TEST_F(WorkerLosesTheAnswer, OfAnExtension) {
  const auto id = queue.add("x").value();
  Runs runs;
  Gate gate;
  std::atomic<bool> lost{false};
  auto how = steady();
  how.lease = 2s;
  proxy.lose(Loss::answer, "job/extend");
  proxy.lose(Loss::command, "job/extend", {.after = 1});
  auto& worker = work(how, [&](Job<>& job) {
    runs.note(job.id());
    gate.pass();
    lost = job.lease_lost();
  });
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, kResumes));
  const auto first = score(id);
  ASSERT_TRUE(eventually([&] { return proxy.lost("job/extend") == 2; }, kResumes)) << log.text();
  EXPECT_TRUE(eventually([&] { return score(id) > first; }, 3s)) << "it is extended all the same";
  gate.open();
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }, kResumes));
  EXPECT_FALSE(lost);
  EXPECT_EQ(runs.size(), 1U);
  EXPECT_EQ(info(id).crashes, 0U);
}

// A dead worker's job is taken back once, and one crash is counted.
TEST_F(WorkerLosesTheAnswer, OfARecovery) {
  const auto id = queue.add("x").value();
  redis({"LREM", key_of(Structure::wait), "0", id});
  const Lease over{Lease::deadline_for(client.server_time_ms(), -60'000), client.node() ^ 1U, 7};
  redis({"ZADD", key_of(Structure::active), std::to_string(over.score()), id});
  Runs runs;
  auto how = steady();
  how.lease = 2s;
  proxy.lose(Loss::answer, "job/recover");
  work(how, [&](Job<>& job) { runs.note(job.id()); });
  ASSERT_TRUE(eventually([&] { return counts().completed == 1; }, kResumes)) << log.text();
  EXPECT_EQ(proxy.lost("job/recover"), 1U);
  EXPECT_EQ(runs.size(), 1U);
  EXPECT_EQ(info(id).crashes, 1U);
  EXPECT_EQ(info(id).attempts_started, 2U);
}

// The evictor goes on after it; what it was not told of any more, the sweep of the next worker
// finds.
TEST_F(WorkerLosesTheAnswer, OfAnEviction) {
  const auto trash = [this] { return redis({"SCARD", key_of(Structure::trash)}).integer; };
  auto how = steady(1);
  how.keep_completed = {1, 0s};
  std::size_t done = add_many(1).size();
  // While any job of the queue has sub-keys, all go the way through trash.
  redis({"SADD", key_of(Structure::subkeys), "other"});
  auto& worker = work(how, [](Job<>&) {});
  for (const auto loss : {Loss::answer, Loss::command}) {
    proxy.lose(loss, "job/evict", {.times = 2});
    const auto before = proxy.lost("job/evict");
    const auto ids = add_many(150);  // enough for several calls
    done += ids.size();
    ASSERT_TRUE(eventually([&] { return worker.stats().completed == done; }, kResumes))
        << log.text();
    EXPECT_TRUE(eventually([&] { return proxy.lost("job/evict") == before + 2; }, kResumes));
    std::unique_ptr<Worker> next;
    if (loss == Loss::command) {
      EXPECT_GT(trash(), 0);
      next = std::make_unique<Worker>(queue, how, [](Job<>&) {});
    }
    EXPECT_TRUE(eventually([&] { return trash() == 0; }, kResumes)) << trash();
    EXPECT_EQ(counts().completed, 1);
    std::int64_t left = 0;
    for (const auto& id : ids) left += redis({"EXISTS", job_key(name, id)}).integer;
    EXPECT_EQ(left, 1);
  }
}

// Whoever asks again for a tick that is made is told so.
TEST_F(WorkerLosesTheAnswer, OfATick) {
  Runs runs;
  ASSERT_TRUE(Schedulers<>(queue).upsert("often", {.when = Every{100ms}, .limit = 20}));
  ASSERT_TRUE(far_queue().open());
  proxy.lose(Loss::answer, "schedule/fire", {.after = 2, .times = 2});
  work(steady(2), [&](Job<>& job) { runs.note(job.id()); });
  EXPECT_TRUE(eventually([&] { return runs.size() >= 20; }, 2 * kResumes)) << log.text();
  EXPECT_EQ(proxy.lost("schedule/fire"), 2U);
  for (const auto& id : runs.all()) EXPECT_EQ(runs.times(id), 1) << id;
  EXPECT_EQ(counts().completed, 20);
}

TEST_F(WorkerLosesTheAnswer, OfAReportOfProgress) {
  Gate gate;
  const auto id = queue.add("x").value();
  proxy.lose(Loss::answer, "job/progress", {.times = 2});
  auto& worker = work(steady(), [&](Job<>& job) {
    for (const auto* const value : {"10", "20", "30"}) {
      EXPECT_TRUE(job.progress(value));
      EXPECT_TRUE(eventually([&] { return field(id, "progress") == value; }, kResumes)) << value;
    }
    gate.pass();
  });
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, 3 * kResumes)) << log.text();
  EXPECT_EQ(proxy.lost("job/progress"), 2U);
  gate.open();
  EXPECT_TRUE(eventually([&] { return worker.stats().completed == 1; }, kResumes));
  EXPECT_EQ(info(id).progress, "30");
  EXPECT_EQ(info(id).crashes, 0U);
}

}  // namespace
}  // namespace echomq::test
