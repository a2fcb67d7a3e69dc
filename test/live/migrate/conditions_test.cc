// SPDX-License-Identifier: MIT
// Migrations under other conditions: from another server, to a full one, of large jobs, beside
// producers that go on and beside another migration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/migration_test.h"

namespace echomq::test {
namespace {

using ::testing::HasSubstr;

class MigrationConditions : public MigrationTest {
 protected:
  // One v1 queue, `one`, with a waiting job for each of these.
  std::string v1_queue(RawClient& on, const std::vector<std::string>& data) {
    return v1_queue(on, data, "{" + unique_queue("v1") + "}");
  }
  std::string v1_queue(RawClient& on, const std::vector<std::string>& data,
                       const std::string& prefix) {
    const auto base = prefix + ":one:";
    on({"HSET", base + "meta", "version", "bullmq:5.65.1"});
    int id = 0;
    for (const auto& bytes : data) {
      ++id;
      on({"HSET", base + std::to_string(id), "name", "n", "data", bytes, "opts", "{}", "timestamp",
          "1700000000000"});
      on({"LPUSH", base + "wait", std::to_string(id)});
    }
    on({"SET", base + "id", std::to_string(id)});
    return prefix;
  }
  MigrationOptions one(const std::string& prefix) {
    words_ = {"one"};
    MigrationOptions options;
    options.prefix = prefix;
    options.queues = {{"one", named("one")}};
    options.watch = std::chrono::milliseconds(0);
    return options;
  }
  void forget(RawClient& on, const std::string& prefix) {
    for (const auto& [key, content] : dump_all(on))
      if (key.starts_with(prefix)) on({"DEL", key});
  }
};

TEST_F(MigrationConditions, FromAnotherServerWhichIsLeftWithoutATrace) {
  TestServer other;
  auto there = other.connect();
  V1Fixture v1(there, "measured");
  auto options = options_of(v1);
  options.source_url = other.url();
  Migration migration(client, options);
  const auto before = dump_all(there);
  ASSERT_FALSE(migration.plan().value().blocked());
  EXPECT_EQ(difference(before, dump_all(there)), "");
  const auto report = migration.run();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->jobs, v1.jobs());
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.abort());
  EXPECT_EQ(difference(before, dump_all(there)), "");
  ASSERT_TRUE(migration.run());
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(dump_all(there).size(), 15U) << "three tombstones a queue";
  EXPECT_EQ(counts_of("mail").waiting, 4);
}

TEST_F(MigrationConditions, LargeJobsGoAlone) {
  std::string large;
  while (large.size() < (std::size_t{1} << 20)) large += "Grüße, 世界 ";
  const auto prefix = v1_queue(redis, {"small", large, "small", large, std::string(300'000, 'x')});
  Migration migration(client, one(prefix));
  ASSERT_TRUE(migration.run());
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(job_of("one", "2").data, large);
  EXPECT_EQ(counts_of("one").waiting, 5);
  forget(redis, prefix);
}

TEST_F(MigrationConditions, JobsOfLargeProgressAndTracesGoAloneToo) {
  const auto prefix = v1_queue(redis, std::vector<std::string>(12, "small"));
  for (int id = 1; id <= 12; ++id)
    redis({"HSET", prefix + ":one:" + std::to_string(id), id % 2 == 0 ? "progress" : "stacktrace",
           std::string(200'000, 'x'), "failedReason", std::string(100'000, 'y')});
  auto options = one(prefix);
  int chunks = 0;
  options.on_progress = [&chunks](const MigrationProgress& now) {
    chunks += now.step == "paused" ? now.done > 0 : 0;
    return true;
  };
  Migration migration(client, options);
  ASSERT_TRUE(migration.run());
  EXPECT_EQ(chunks, 12);
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.abort());
  forget(redis, prefix);
}

TEST_F(MigrationConditions, PagesOfLogsAreAsShortAsTheirLinesAreLong) {
  TestServer other;
  auto there = other.connect();
  const auto prefix = v1_queue(there, {"a", "b"});
  std::vector<std::string> lines;
  for (int i = 0; i < 60; ++i) {
    lines.push_back(std::to_string(i) + std::string(100'000, 'x'));
    there({"RPUSH", prefix + ":one:1:logs", lines.back()});
  }
  for (int i = 0; i < 1'000; ++i) there({"RPUSH", prefix + ":one:2:logs", std::to_string(i)});
  auto options = one(prefix);
  options.source_url = other.url();
  Migration migration(client, options);
  there({"CONFIG", "RESETSTAT"});
  ASSERT_TRUE(migration.run());
  const auto stats = there({"INFO", "commandstats"}).text;
  const auto at = stats.find("cmdstat_lrange:calls=");
  ASSERT_NE(at, std::string::npos);
  const auto pages = std::stoi(stats.substr(at + 21));
  // The look before the copy reads them as well.
  EXPECT_GT(pages, 2 * 60 / 3) << "of two lines each";
  EXPECT_LT(pages, 2 * (60 / 2 + 1'000 / 200 + 15));
  EXPECT_EQ(migration.verify().value().found, 0);
  EXPECT_EQ(texts(redis({"LRANGE", job_key(named("one"), "1", Sub::logs), "0", "-1"})), lines);
  ASSERT_TRUE(migration.abort());
}

// Versions before 5 left markers in their lists, and a job may be gone whose id is there still.
TEST_F(MigrationConditions, OldMarkersAndMissingJobsAreNoJobs) {
  const auto prefix = v1_queue(redis, {"a", "b"});
  redis({"RPUSH", prefix + ":one:wait", "0:0", "0:1700000000000"});
  redis({"LPUSH", prefix + ":one:wait", "missing"});
  redis({"HSET", prefix + ":one:1", "attemptsMade", "2"});
  Migration migration(client, one(prefix));
  const auto report = migration.run().value();
  EXPECT_EQ(report.jobs, 2);
  EXPECT_EQ(report.left, 0);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(report.findings[0].text, HasSubstr("is no job any more"));
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(job_of("one", "1").attempts_made, 2U);
  EXPECT_EQ(counts_of("one").waiting, 2);
  forget(redis, prefix);
}

TEST_F(MigrationConditions, ManyJobsKeepTheirOrderOverAllChunks) {
  std::vector<std::string> data;
  for (int i = 1; i <= 1'000; ++i) data.push_back(std::to_string(i));
  const auto prefix = v1_queue(redis, data);
  auto options = one(prefix);
  int chunks = 0;
  options.on_progress = [&chunks](const MigrationProgress& now) {
    chunks += now.step == "wait" || now.step == "paused" ? 1 : 0;
    return true;
  };
  Migration migration(client, options);
  ASSERT_TRUE(migration.run());
  EXPECT_EQ(chunks, 4) << "of at most 256 jobs";
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(texts(redis({"LRANGE", key(named("one"), Structure::wait), "0", "-1"})), data);
  forget(redis, prefix);
}

// Six hundred jobs that wait, and as many that were due in one millisecond, whose order follows
// from the one before: stopped behind each step, a run goes on in the middle of a list.
TEST_F(MigrationConditions, AListIsGoneOnWithInItsMiddle) {
  constexpr std::int64_t kDue = 1'900'000'000'000;
  const auto prefix = v1_queue(redis, std::vector<std::string>(600, "x"));
  std::vector<std::string> later;
  for (int i = 1; i <= 600; ++i) {
    later.push_back("d" + std::to_string(i));
    redis({"HSET", prefix + ":one:" + later.back(), "name", "n", "data", "y", "delay", "5"});
    redis({"ZADD", prefix + ":one:delayed", std::to_string(kDue * 4'096 + i), later.back()});
  }
  const auto delayed = key(named("one"), Structure::delayed);
  int step = 1;
  for (bool stopped = true; stopped; ++step) {
    auto options = one(prefix);
    options.on_progress = stops_behind(step);
    stopped = !Migration(client, options).run();
    Migration migration(client, one(prefix));
    ASSERT_TRUE(migration.run()) << step;
    ASSERT_EQ(migration.verify().value().found, 0) << step;
    ASSERT_EQ(texts(redis({"ZRANGE", delayed, "0", "-1"})), later) << step;
    ASSERT_TRUE(migration.abort()) << step;
  }
  EXPECT_GT(step, 10);
  forget(redis, prefix);
}

TEST_F(MigrationConditions, ProducersThatGoOnAreSeenAndShutOut) {
  const auto prefix = v1_queue(redis, {"a", "b"});
  auto options = one(prefix);
  options.on_progress = [&](const MigrationProgress&) {
    redis({"INCR", prefix + ":one:id"});
    return true;
  };
  const auto plan = Migration(client, options).plan().value();
  EXPECT_THAT(blocking(plan.findings), HasSubstr("jobs are being added"));
  // What is added between the pause and the tombstones is moved too.
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "pausing") {
      redis({"HSET", prefix + ":one:late", "name", "n", "data", "late", "opts", "{}"});
      redis({"LPUSH", prefix + ":one:paused", "late"});
      redis({"INCR", prefix + ":one:id"});
    }
    return true;
  };
  Migration migration(client, options);
  const auto id = redis({"GET", prefix + ":one:id"}).text;
  EXPECT_EQ(migration.run().value().jobs, 3);
  EXPECT_TRUE(redis({"INCR", prefix + ":one:id"}).is_error()) << "a tombstone stands there";
  ASSERT_TRUE(migration.abort());
  EXPECT_EQ(redis({"GET", prefix + ":one:id"}).text, std::to_string(std::stoi(id) + 1));
  EXPECT_EQ(texts(redis({"LRANGE", prefix + ":one:wait", "0", "-1"})),
            (std::vector<std::string>{"late", "2", "1"}));
  forget(redis, prefix);
}

TEST_F(MigrationConditions, AJobThatBecomesActiveAtTheLastMomentPutsAllBack) {
  const auto prefix = v1_queue(redis, {"a", "b"});
  const auto before = dump_all(redis);
  auto options = one(prefix);
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "tombstones") redis({"LPUSH", prefix + ":one:active", "1"});
    return true;
  };
  const auto error = error_of(Migration(client, options).run());
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_THAT(error.detail, HasSubstr("Everything was put back"));
  redis({"DEL", prefix + ":one:active"});
  auto after = dump_all(redis);
  for (const auto& [key, content] : before)
    if (key.starts_with(prefix)) {
      EXPECT_EQ(after[key], content) << key;
    }
  EXPECT_EQ(redis({"EXISTS", migration_key(named("one"))}).integer, 0);
  forget(redis, prefix);
}

TEST_F(MigrationConditions, TwoAtATimeAreNoticed) {
  const auto prefix = v1_queue(redis, {"a", "b"});
  auto options = one(prefix);
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "paused" && now.done > 0)
      redis({"HSET", key(named("one"), Structure::meta), "cursor", "0:1:0:"});
    return true;
  };
  redis({"LPUSH", prefix + ":one:wait", "gone"});
  redis({"LREM", prefix + ":one:wait", "1", "1"});
  redis({"ZADD", prefix + ":one:failed", "5", "1"});
  const auto error = error_of(Migration(client, options).run());
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_THAT(error.detail, HasSubstr("another one is at work"));
  ASSERT_TRUE(Migration(client, one(prefix)).abort());
  forget(redis, prefix);
}

TEST_F(MigrationConditions, ANewQueueOfV1AfterAFinishedMigrationIsOneToMigrate) {
  const auto prefix = v1_queue(redis, {"a", "b", "c"});
  Migration migration(client, one(prefix));
  ASSERT_TRUE(migration.run());
  ASSERT_TRUE(migration.finish());
  for (const auto* const word : {"meta", "id", "repeat"}) redis({"DEL", prefix + ":one:" + word});
  EXPECT_EQ(migration.status().value().front().phase, MigrationPhase::finished);
  EXPECT_EQ(migration.run().value().jobs, 0) << "there is nothing";
  v1_queue(redis, {"d", "e"}, prefix);
  EXPECT_EQ(migration.status().value().front().phase, MigrationPhase::none);
  EXPECT_THAT(blocking(migration.plan().value().findings),
              HasSubstr("there is a queue \"" + named("one") + "\" already"));
  EXPECT_EQ(error_of(migration.run()).code, ErrorCode::wrong_state);
  EXPECT_EQ(error_of(migration.finish()).code, ErrorCode::wrong_state);
  ASSERT_TRUE(queue_of("one").obliterate({.all = true}));
  const auto plan = migration.plan().value();
  EXPECT_FALSE(plan.blocked()) << blocking(plan.findings);
  ASSERT_EQ(plan.queues.size(), 1U);
  EXPECT_EQ(plan.queues[0].waiting, 2);
  EXPECT_EQ(migration.run().value().jobs, 2);
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(counts_of("one").waiting, 2);
  EXPECT_FALSE(redis({"EXISTS", prefix + ":one:1"}).integer);
  forget(redis, prefix);
}

TEST_F(MigrationConditions, AFullTargetStopsItUntilThereIsRoom) {
  TestServer full;
  auto there = full.connect();
  auto to = connect(full.url(), options()).value();
  const auto prefix = v1_queue(redis, {"a", "b", "c"});
  auto how = one(prefix);
  how.source_url = server.url();
  how.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "target") there({"CONFIG", "SET", "maxmemory", "1"});
    return true;
  };
  const auto error = error_of(Migration(to, how).run());
  EXPECT_EQ(error.code, ErrorCode::full) << error.message();
  there({"CONFIG", "SET", "maxmemory", "0"});
  how.on_progress = {};
  Migration migration(to, how);
  EXPECT_EQ(migration.run().value().jobs, 3);
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.finish());
  forget(redis, prefix);
}

}  // namespace
}  // namespace echomq::test
