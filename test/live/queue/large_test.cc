// SPDX-License-Identifier: MIT
// P14: looking at a queue of more than a million jobs costs what looking at a small one does, and
// keeps the server from nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "support/library_test.h"
#include "support/sanitizer.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr int kCompleted = kSanitized ? 200'000 : 1'000'000;
constexpr int kPages = 40;
constexpr int kRead = (kPages + 1) * static_cast<int>(kMaxPageJobs);
constexpr int kWaiting = 20'000;
constexpr int kPrioritized = 50'000;

class LargeQueue : public OwnServerTest {
 protected:
  // As a long life would have left them. Only those that somebody reads have a hash: the first and
  // the last `read`, and the one in the middle.
  void fill(const std::string& put, Structure where, const std::string& prefix, int count,
            int read) {
    const std::string script =
        "local count, read = tonumber(ARGV[5]), tonumber(ARGV[6]) "
        "for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do local id = ARGV[3] .. i "
        "if i <= read or i > count - read or i * 2 == count then "
        "redis.call('HSET', ARGV[4] .. id, 'head', '1800000000000:3:job', 'data', 'x') end " +
        put + " end";
    const auto any = job_key(name, "x1");
    const auto keys = any.substr(0, any.size() - 2);
    constexpr int kChunk = 10'000;
    for (int from = 1; from <= count; from += kChunk)
      ASSERT_FALSE(redis({"EVAL", script, "1", key_of(where), std::to_string(from),
                          std::to_string(std::min(count, from + kChunk - 1)), prefix, keys,
                          std::to_string(count), std::to_string(read)})
                       .is_error());
  }
  void look(const std::function<void()>& at) {
    const auto begin = std::chrono::steady_clock::now();
    at();
    times_.push_back(
        std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin));
  }
  // From one end, so many pages.
  std::size_t walk(JobState state, PageOrder order, int most) {
    PageOptions how{.order = order, .limit = kMaxPageJobs};
    std::size_t seen = 0;
    for (int page = 0; page < most; ++page) {
      look([&] {
        const auto found = queue.jobs(state, how).value();
        seen += found.jobs.size();
        how.cursor = found.next;
      });
      if (how.cursor.empty()) break;
    }
    return seen;
  }
  microseconds percentile95() {
    std::sort(times_.begin(), times_.end());
    return times_.at(times_.size() * 95 / 100);
  }

  std::vector<microseconds> times_;
};

TEST_F(LargeQueue, P14_IsLookedAtInAFifthOfASecondAndBlocksNobody) {
  ASSERT_TRUE(queue.open());
  fill("redis.call('ZADD', KEYS[1], 1.8e12 + i, id)", Structure::completed, "c", kCompleted, kRead);
  fill("redis.call('RPUSH', KEYS[1], id)", Structure::wait, "w", kWaiting, kWaiting);
  fill("redis.call('ZADD', KEYS[1], (1 + i % 10) * 4294967296 + i, id)", Structure::prioritized,
       "p", kPrioritized, kPrioritized);
  redis({"CONFIG", "SET", "slowlog-log-slower-than", "50000"});
  redis({"SLOWLOG", "RESET"});
  for (int round = 0; round < 20; ++round) {
    look([&] {
      const auto now = counts();
      EXPECT_EQ(now.completed, kCompleted);
      EXPECT_EQ(now.waiting, kWaiting);
      EXPECT_EQ(now.prioritized, kPrioritized);
    });
    look([&] { EXPECT_EQ(queue.counts_by_priority().value().at(7), kPrioritized / 10); });
    look([&] { EXPECT_TRUE(queue.workers().value().empty()); });
    look([&] { EXPECT_EQ(info("c" + std::to_string(kCompleted / 2)).state, JobState::completed); });
  }
  for (const auto order : {PageOrder::ascending, PageOrder::descending}) {
    for (const auto state : {JobState::completed, JobState::prioritized})
      EXPECT_EQ(walk(state, order, kPages), kPages * kMaxPageJobs) << echomq::name(state);
    // All of the line, since what is in the middle is the farthest from both its ends.
    EXPECT_EQ(walk(JobState::waiting, order, kWaiting), static_cast<std::size_t>(kWaiting));
  }
  RecordProperty("p95_us", std::to_string(percentile95().count()));
  EXPECT_LT(percentile95(), 200ms);
  EXPECT_EQ(redis({"SLOWLOG", "LEN"}).integer, 0) << show(redis({"SLOWLOG", "GET", "1"}));
}

}  // namespace
}  // namespace echomq::test
