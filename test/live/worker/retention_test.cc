// SPDX-License-Identifier: MIT
// How many finished jobs stay, and that nothing stays of the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/lease.h"
#include "support/dump.h"
#include "support/library_test.h"
#include "support/sanitizer.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Retention : public LibraryTest {
 protected:
  void drain(const Keep& completed, const Keep& failed, unsigned concurrency = 1) {
    WorkerOptions how;
    how.concurrency = concurrency;
    how.keep_completed = completed;
    how.keep_failed = failed;
    how.stop_when_empty = true;
    Worker worker{queue, how, [](Job<>& job) {
                    return job.data() == "bad" ? Outcome::fail("bad") : Outcome::done();
                  }};
    ASSERT_TRUE(worker.wait(20s));
  }
  std::vector<std::string> members(Structure structure) {
    return texts(redis({"ZRANGE", key_of(structure), "0", "-1"}));
  }
  // Deleting follows the end of a job; at last nothing of these may be left.
  bool gone(const std::vector<std::string>& ids) {
    return eventually([&] {
      for (const auto& id : ids)
        if (redis({"EXISTS", job_key(name, id)}).integer == 1) return false;
      return redis({"SCARD", key_of(Structure::trash)}).integer == 0;
    });
  }
  static std::vector<std::string> part(const std::vector<std::string>& all, std::size_t from,
                                       std::size_t count) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(from);
    return {at, at + static_cast<std::ptrdiff_t>(count)};
  }
};

TEST_F(Retention, KeepsTheNewest) {
  const auto good = add_many(20);
  const auto bad = add(std::vector<std::string>(20, "bad"));
  drain(Keep{3, 0s}, Keep{5, 0s});
  EXPECT_EQ(members(Structure::completed), part(good, 17, 3));
  EXPECT_EQ(members(Structure::failed), part(bad, 15, 5));
  EXPECT_TRUE(gone(part(good, 0, 17)));
  EXPECT_TRUE(gone(part(bad, 0, 15)));
  EXPECT_EQ(info(good[19]).state, JobState::completed);
  EXPECT_EQ(info(bad[19]).state, JobState::failed);
}

TEST_F(Retention, KeepsNothing) {
  const auto good = add_many(300);
  const auto bad = add({"bad", "bad"});
  drain(Keep::none(), Keep::none());
  EXPECT_TRUE(gone(good));
  EXPECT_TRUE(gone(bad));
  EXPECT_EQ(counts().completed + counts().failed, 0);
  EXPECT_EQ(error_of(queue.job(good[0])).code, ErrorCode::not_found);
}

TEST_F(Retention, KeepsAll) {
  add_many(1'200);
  drain(Keep::all(), Keep::all());
  EXPECT_EQ(counts().completed, 1'200);
}

TEST_F(Retention, IsBoundedByDefault) {
  const auto ids = add_many(1'100);
  Worker worker{queue, {.concurrency = 8, .stop_when_empty = true}, [](Job<>&) {}};
  ASSERT_TRUE(worker.wait(20s));
  EXPECT_TRUE(eventually([&] { return counts().completed == 1'000; })) << counts().completed;
}

TEST_F(Retention, RuleOfTheJobGoesFirst) {
  const auto kept = queue.add("good", {.keep_completed = Keep::all()}).value();
  const auto dropped = queue.add("good", {.keep_completed = Keep::none()}).value();
  const auto failed = queue.add("bad", {.keep_failed = Keep::all()}).value();
  drain(Keep::all(), Keep::none());
  EXPECT_EQ(info(kept).state, JobState::completed);
  EXPECT_EQ(info(failed).state, JobState::failed);
  EXPECT_TRUE(gone({dropped}));
}

// What the sweep of another worker ends is kept by the job's rule as well, and only that worker's
// own rule is the sweeper's.
TEST_F(Retention, RuleOfTheJobGoesFirstWhereItCrashedTooOften) {
  const auto other = queue.add("bad", {.keep_failed = Keep::all()}).value();
  drain(Keep::all(), Keep::none());
  const auto kept = queue.add("x", {.keep_failed = Keep::all()}).value();
  const auto dropped = queue.add("x", {.keep_failed = Keep::none()}).value();
  const auto plain = queue.add("x").value();
  // Claimed long ago by a process that is gone.
  redis({"DEL", key_of(Structure::wait)});
  const Lease lease{Lease::deadline_for(client.server_time_ms(), 0) - 60, unused_node(), 1};
  for (const auto& id : {kept, dropped, plain})
    redis({"ZADD", key_of(Structure::active), std::to_string(lease.score()), id});
  WorkerOptions how;
  how.lease = 2s;
  how.max_crashes = 0;
  how.keep_failed = Keep::none();
  Worker worker{queue, how, [](Job<>&) {}};
  EXPECT_TRUE(gone({dropped, plain}));
  EXPECT_EQ(info(kept).state, JobState::failed);
  EXPECT_EQ(info(other).state, JobState::failed) << "it was kept, and nobody else's end takes it";
}

TEST_F(Retention, DropsByAge) {
  const auto old = queue.add("good").value();
  drain(Keep{-1, 1s}, Keep::all());
  EXPECT_EQ(info(old).state, JobState::completed);
  // Each further end looks at the ages again.
  EXPECT_TRUE(eventually([&] {
    add_many(1);
    drain(Keep{-1, 1s}, Keep::all());
    return redis({"EXISTS", job_key(name, old)}).integer == 0;
  }));
}

TEST_F(Retention, DropsByBytes) {
  const auto good = add(std::vector<std::string>(10, std::string(1'000, 'd')));
  drain(Keep{-1, 0s, 3'500}, Keep::all());
  EXPECT_EQ(members(Structure::completed), part(good, 7, 3));
  EXPECT_TRUE(gone(part(good, 0, 7)));
  EXPECT_EQ(info(good[9]).state, JobState::completed);
}

// Everything that a queue keeps is bounded by default; the bounds are lower here, to be reached at
// once. What is printed is the slope.
TEST_F(Retention, P12_MemoryIsFlatHoweverManyJobsEnd) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_event_cap({.entries = 100, .exact = true}));
  const auto memory_after = [&](std::size_t jobs) {
    add(std::vector<std::string>(jobs, std::string(200, 'd')));
    drain(Keep{100, 0s}, Keep{100, 0s}, 50);
    EXPECT_TRUE(eventually([&] {
      return redis({"SCARD", key_of(Structure::trash)}).integer == 0;
    }));
    std::int64_t bytes = 0;
    for (const auto& key : keys_of(redis, name))
      bytes += redis({"MEMORY", "USAGE", key, "SAMPLES", "0"}).integer;
    return bytes;
  };
  const auto first = memory_after(2'000);
  const auto second = memory_after(20'000);
  RecordProperty("bytes_after_2000", std::to_string(first));
  RecordProperty("bytes_after_22000", std::to_string(second));
  EXPECT_EQ(counts().completed, 100);
  // Entries of the stream are as large as the batches that they tell of.
  EXPECT_LT(second - first, 200'000) << "ten bytes for each job that is gone";
}

TEST_F(Retention, DroppedCustomIdMayBeAddedAgain) {
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(queue.add("good", {.id = "again"}).value(), "again") << "time " << time;
    drain(Keep::none(), Keep::none());
  }
  EXPECT_TRUE(gone({"again"}));
}

// At the default rule, with failures among them. Each round ends as many jobs as the one before;
// the stream of events is short, because it grows up to its cap whatever ends.
class MemoryOfTheServer : public OwnServerTest {
 protected:
  void round(std::size_t jobs) {
    for (std::size_t left = jobs; left > 0; left -= kBulk)
      queue.add_bulk(std::vector<NewJob<>>(kBulk, {std::string(140, 'x'), {}})).value();
    Worker worker{queue, {.concurrency = 100, .stop_when_empty = true}, [this](Job<>&) {
                    return ++ended_ % 10 == 0 ? Outcome::unrecoverable("no") : Outcome::done();
                  }};
    ASSERT_TRUE(worker.wait(60s));
    ASSERT_TRUE(eventually([this] {
      return redis({"SCARD", key_of(Structure::trash)}).integer == 0;
    }));
  }
  std::int64_t memory() {
    const auto text = redis({"INFO", "memory"}).text;
    return std::stoll(text.substr(text.find("used_memory_dataset:") + 20));
  }

  static constexpr std::size_t kBulk = 1'000;
  std::atomic<std::uint64_t> ended_{0};
};

TEST_F(MemoryOfTheServer, IsFlatHoweverManyJobsEnd) {
  constexpr std::size_t kRounds = 3;
  constexpr std::size_t kJobs = kSanitized ? 5'000 : 50'000;
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_event_cap({.entries = 100}));
  // 10,000 failed jobs are kept for a week: they are there after the first two.
  for (int warm = 0; warm < 2; ++warm) round(std::max<std::size_t>(kJobs, 60'000));
  const auto before = memory();
  std::string all = std::to_string(before);
  for (std::size_t i = 0; i < kRounds; ++i) {
    round(kJobs);
    all += " " + std::to_string(memory());
  }
  const auto slope = static_cast<double>(memory() - before) / (kRounds * kJobs);
  RecordProperty("bytes_a_job", std::to_string(slope));
  EXPECT_LT(slope, 1.0) << "bytes a job; " << all;
  EXPECT_EQ(counts().completed, 1'000);
  EXPECT_EQ(counts().failed, 10'000);
}

}  // namespace
}  // namespace echomq::test
