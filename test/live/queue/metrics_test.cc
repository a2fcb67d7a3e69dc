// SPDX-License-Identifier: MIT
// Metrics by the library and by `emq metrics`: what ended in each minute.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class MetricsTest : public EmqTest {
 protected:
  // Works all that is ready; those whose data is "bad" fail.
  void work_off() {
    Worker worker{queue, {.concurrency = 20, .stop_when_empty = true}, [](Job<>& job) -> Outcome {
                    if (job.data() == "bad") return Outcome::fail("bad");
                    return Outcome::done();
                  }};
    ASSERT_TRUE(worker.wait(60s));
  }
  std::int64_t sum(JobState state) {
    const auto now = client.server_time_ms();
    const auto metrics = queue.metrics(state, now - 600'000, now).value();
    return std::accumulate(metrics.counts.begin(), metrics.counts.end(), std::int64_t{0});
  }
};

TEST_F(MetricsTest, CountWhatWorkersEnd) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.keep_metrics(24h));
  add({"good", "good", "bad"});
  work_off();
  EXPECT_EQ(sum(JobState::completed), 2);
  EXPECT_EQ(sum(JobState::failed), 1);
  const auto now = client.server_time_ms();
  const auto hour = queue.metrics(JobState::completed, now - 3'600'000, now).value();
  EXPECT_EQ(hour.kept, 24h);
  EXPECT_EQ(hour.counts.size(), 61U);
  EXPECT_EQ(hour.first_ms, (now - 3'600'000) / 60'000 * 60'000);
}

TEST_F(MetricsTest, LongTimesAreReadInSeveralCalls) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.keep_metrics(24h * 14));
  add({"good"});
  work_off();
  const auto now = client.server_time_ms();
  const auto from = now - (static_cast<std::int64_t>(kMaxMetricsMinutes) - 1) * 60'000;
  const auto all = queue.metrics(JobState::completed, from, now).value();
  ASSERT_EQ(all.counts.size(), kMaxMetricsMinutes);
  EXPECT_EQ(std::accumulate(all.counts.begin(), all.counts.end(), std::int64_t{0}), 1);
}

TEST_F(MetricsTest, GoWithAnObliteration) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.keep_metrics(24h));
  add({"good", "bad"});
  work_off();
  ASSERT_TRUE(queue.obliterate());
  EXPECT_EQ(dump_queue(redis, name).size(), 4U);
  EXPECT_EQ(sum(JobState::completed), 0);
}

TEST_F(MetricsTest, BadInputIsRefused) {
  ASSERT_TRUE(queue.open());
  EXPECT_EQ(*error_of(queue.keep_metrics(-1min)).field("value"), "-1");
  EXPECT_EQ(error_of(queue.keep_metrics(kMaxMetricsKept + 1min)).code, ErrorCode::invalid_argument);
  EXPECT_EQ(*error_of(queue.metrics(JobState::waiting, 0, 0)).field("value"), "waiting");
  EXPECT_EQ(*error_of(queue.metrics(JobState::failed, -5, 0)).field("value"), "-5");
  EXPECT_EQ(*error_of(queue.metrics(JobState::failed, 60'000, 59'999)).field("value"), "59999");
  const auto over = static_cast<std::int64_t>(kMaxMetricsMinutes) * 60'000;
  EXPECT_TRUE(queue.metrics(JobState::failed, 0, over - 1));
  EXPECT_EQ(error_of(queue.metrics(JobState::failed, 0, over)).code, ErrorCode::invalid_argument);
  Queue<> nobody(client, unique_queue("nobody"));
  EXPECT_EQ(error_of(nobody.metrics(JobState::failed, 0, 0)).code, ErrorCode::not_found);
}

TEST_F(MetricsTest, ByTheProgram) {
  ASSERT_TRUE(queue.open());
  EXPECT_NE(emq({"metrics", name}).out.find("--keep"), std::string::npos) << "they are off";
  EXPECT_EQ(emq({"metrics", name, "--keep", "14d", "--json"}).json().at("kept_minutes"), 20'160);
  EXPECT_EQ(emq({"metrics", name}).out, "no job ended in that time\n");
  add({"good", "good", "bad"});
  work_off();
  const auto shown = emq({"metrics", name, "--last", "10m", "--json"}).json();
  EXPECT_EQ(shown.at("completed").size(), 10U);
  EXPECT_EQ(shown.at("failed").size(), 10U);
  const auto table = emq({"metrics", name, "--last", "10m"}).out;
  EXPECT_NE(table.find("completed  failed"), std::string::npos) << table;
  EXPECT_EQ(emq({"metrics", name, "--keep", "0"}).code, 0);
  EXPECT_NE(emq({"metrics", name}).out.find("--keep"), std::string::npos);
  for (const auto& options : std::vector<std::vector<std::string>>{{"--last", "0m"},
                                                                   {"--last", "15d"},
                                                                   {"--keep", "soon"},
                                                                   {"--keep", "30s"},
                                                                   {"--keep", "400d"}}) {
    std::vector<std::string> line{"metrics", name};
    line.insert(line.end(), options.begin(), options.end());
    EXPECT_EQ(emq(line).code, 2) << options.back();
  }
  EXPECT_EQ(emq({"metrics", "nobody"}).code, 5);
}

}  // namespace
}  // namespace echomq::test
