// SPDX-License-Identifier: MIT
// The counters of ended jobs: into which minute they go, how long they are kept, and that none is
// written where nobody asked for them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/script_test.h"

namespace echomq::test {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

class QueueMetrics : public ScriptTest {
 protected:
  // So many jobs end now.
  void end(int count, bool completed = true) {
    std::vector<JobToAdd> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back({.id = "j" + std::to_string(next_++)});
    q.add(jobs);
    std::vector<FinishItem> items;
    for (const auto& run : q.claim(static_cast<std::size_t>(count)).runs)
      items.push_back({.run = run, .completed = completed});
    q.finish(items);
  }
  [[nodiscard]] std::int64_t minute() const { return q.now / kMinuteMs; }
  std::string fields(const std::string& key) {
    std::string all;
    for (const auto& [name, content] : dump())
      if (name == key) all = content;
    return all;
  }

 private:
  int next_ = 0;
};

TEST_F(QueueMetrics, NothingIsCountedUnlessAskedFor) {
  end(3);
  EXPECT_EQ(redis({"EXISTS", q.keys.metrics_completed, q.keys.metrics_failed}).integer, 0);
  EXPECT_EQ(show(q.metrics(true, minute(), 1)), "[0 0]");
}

TEST_F(QueueMetrics, JobsAreCountedIntoTheMinuteOfTheirEnd) {
  EXPECT_EQ(q.keep_metrics(60).integer, 0);
  const auto first = minute();
  end(3);
  end(2);
  end(1, /*completed=*/false);
  q.now += 2 * kMinuteMs;
  end(4);
  EXPECT_EQ(show(q.metrics(true, first - 1, 5)), "[60 0 5 0 4 0]") << "gaps are 0";
  EXPECT_EQ(show(q.metrics(false, first, 3)), "[60 1 0 0]");
}

TEST_F(QueueMetrics, DroppedJobsCountAndRefusedEndsDoNot) {
  q.keep_metrics(60);
  q.add({{.id = "dropped"}, {.id = "late"}});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(0), .drop = true}});
  q.finish({{.run = {"late", 7}}});
  q.finish({{.run = runs.at(1)}});
  q.finish({{.run = runs.at(1)}});
  EXPECT_EQ(show(q.metrics(true, minute(), 1)), "[60 2]");
}

TEST_F(QueueMetrics, AJobThatCrashedTooOftenHasFailed) {
  q.keep_metrics(60);
  q.add({{.id = "a"}});
  q.claim(1, {.lease_ms = 1'000});
  q.now += 10'000;
  EXPECT_EQ(statuses(q.recover(q.peek_expired(), 0)), "done");
  EXPECT_EQ(show(q.metrics(false, minute(), 1)), "[60 1]");
}

TEST_F(QueueMetrics, WhatIsOlderThanIsKeptGoes) {
  q.keep_metrics(2);
  for (int i = 0; i < 5; ++i) {
    end(1);
    q.now += kMinuteMs;
  }
  const auto last = minute() - 1;
  EXPECT_EQ(fields(q.keys.metrics_completed), "hash '" + std::to_string(last - 1) + "=1' '" +
                                                  std::to_string(last) +
                                                  "=1' 'from=" + std::to_string(last - 1) + "'");
}

// 1,000 minutes back there is something left: each new minute takes out 256 at most, until all is
// gone.
TEST_F(QueueMetrics, CatchesUpInStepsAfterALongPause) {
  q.keep_metrics(10);
  end(1);
  const auto old = minute();
  redis({"HSET", q.keys.metrics_completed, std::to_string(old + 900), "7"});
  q.now += 1'000 * kMinuteMs;
  for (int i = 0; i < 3; ++i) {
    end(1);
    q.now += kMinuteMs;
    EXPECT_EQ(redis({"HEXISTS", q.keys.metrics_completed, std::to_string(old)}).integer, 0);
    EXPECT_EQ(redis({"HEXISTS", q.keys.metrics_completed, std::to_string(old + 900)}).integer, 1);
  }
  end(1);
  EXPECT_EQ(redis({"HEXISTS", q.keys.metrics_completed, std::to_string(old + 900)}).integer, 0);
}

TEST_F(QueueMetrics, AClockThatWasSetBackLosesNothingAndLeavesNothing) {
  q.keep_metrics(10);
  end(1);
  const auto later = minute();
  q.now -= 100 * kMinuteMs;
  end(1);
  EXPECT_EQ(show(q.metrics(true, minute(), 1)), "[10 1]");
  EXPECT_EQ(show(q.metrics(true, later, 1)), "[10 1]");
  q.now += 150 * kMinuteMs;
  end(1);
  EXPECT_EQ(redis({"HLEN", q.keys.metrics_completed}).integer, 2) << "this minute, and `from`";
}

TEST_F(QueueMetrics, SwitchedOffTheyAreForgotten) {
  q.keep_metrics(10);
  end(1);
  end(1, /*completed=*/false);
  EXPECT_EQ(q.keep_metrics(0).integer, 10);
  EXPECT_EQ(redis({"EXISTS", q.keys.metrics_completed, q.keys.metrics_failed}).integer, 0);
  end(1);
  EXPECT_EQ(redis({"EXISTS", q.keys.metrics_completed}).integer, 0);
}

TEST_F(QueueMetrics, AKeyOfAForeignTypeTearsNoEnd) {
  q.keep_metrics(10);
  redis({"SET", q.keys.metrics_completed, "foreign"});
  end(1);
  EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 1);
  EXPECT_EQ(redis({"GET", q.keys.metrics_completed}).text, "foreign");
}

}  // namespace
}  // namespace echomq::test
