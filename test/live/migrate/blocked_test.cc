// SPDX-License-Identifier: MIT
// What a migration must not move by half or leave behind without a word: it is found before v1 is
// touched, each with a line of its own, and a run is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "support/migration_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class BlockedMigration : public MigrationTest {
 protected:
  std::string plan_of_it() {
    const auto plan = migration_of(v1).plan();
    return plan ? blocking(plan->findings) : plan.error().message();
  }
  // The run is refused, and everything is as it was.
  Error refused(MigrationOptions options) {
    const auto before = v1.dump();
    auto error = error_of(Migration(client, std::move(options)).run());
    EXPECT_EQ(error.code, ErrorCode::wrong_state) << error.message();
    EXPECT_EQ(difference(before, v1.dump()), "");
    EXPECT_EQ(difference({}, dump_targets()), "");
    return error;
  }
  void waiting_job(const std::string& moved, const std::string& id) {
    redis({"HSET", v1.key(moved, id), "name", "n", "data", "{}", "opts", "{}", "timestamp", "1"});
    redis({"LPUSH", v1.key(moved, "wait"), id});
  }

  V1Fixture v1{redis, "measured"};
};

TEST_F(BlockedMigration, HalfAFlowIsRefusedBeforeV1IsTouched) {
  auto options = options_of(v1);
  std::erase_if(options.queues, [](const auto& moved) { return moved.from == "parts"; });
  const auto error = refused(options);
  EXPECT_THAT(error.detail,
              AllOf(HasSubstr("something blocks"), HasSubstr("parent-1"), HasSubstr("its child")));
}

TEST_F(BlockedMigration, AJobInTwoPlacesIsFound) {
  redis({"ZADD", v1.key("parts", "failed"), "5", "part-0"});
  redis({"LPUSH", v1.key("early", "wait"), "early-2"});
  redis({"LPUSH", v1.key("parts", "active"), "part-1"});
  const auto text = plan_of_it();
  EXPECT_THAT(text, HasSubstr("parts part-0: stands in `wait` and once more in `failed`"));
  EXPECT_THAT(text, HasSubstr("early early-2: stands in `wait` and once more in `wait`"));
  EXPECT_THAT(text, Not(HasSubstr("part-1"))) << "one that runs is waited for";
  redis({"DEL", v1.key("parts", "active")});
  const auto error = refused(options_of(v1));
  EXPECT_THAT(error.detail, AllOf(HasSubstr("part-0"), HasSubstr("once more in")));
}

TEST_F(BlockedMigration, AnIdThatAnotherJobHasIsFound) {
  for (const auto* const id : {"repeat:x:1700000000000", "x.1700000000000"}) {
    redis({"HSET", v1.key("parts", id), "name", "n", "data", "{}", "opts", "{}"});
    redis({"ZADD", v1.key("parts", "completed"), "5", id});
  }
  EXPECT_THAT(plan_of_it(), HasSubstr("parts repeat:x:1700000000000: would be called "
                                      "x.1700000000000, as another job is"));
  refused(options_of(v1));
}

TEST_F(BlockedMigration, JobsThatRanAreLookedAtBeforeTheTombstones) {
  redis({"LREM", v1.key("orders", "wait"), "0", "1"});
  redis({"HSET", v1.key("orders", "1"), "priority", "one"});
  const auto before = v1.dump();
  redis({"LPUSH", v1.key("orders", "active"), "1"});
  auto options = options_of(v1);
  options.drain_timeout = 20s;
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "waiting for active jobs") {
      redis({"DEL", v1.key("orders", "active")});
      redis({"ZADD", v1.key("orders", "failed"), "5", "1"});
    }
    return true;
  };
  const auto error = error_of(Migration(client, options).run());
  EXPECT_THAT(error.detail, HasSubstr("job 1: its priority is no number"));
  redis({"ZREM", v1.key("orders", "failed"), "1"});
  EXPECT_EQ(difference(before, v1.dump()), "");
  EXPECT_EQ(difference({}, dump_targets()), "");
}

TEST_F(BlockedMigration, AQueueThatWasMovedBeforeStaysMovedWhereTheNextIsRefused) {
  auto options = options_of(v1);
  std::erase_if(options.queues, [](const auto& moved) { return moved.from != "images"; });
  Migration first(client, options);
  ASSERT_TRUE(first.run());
  redis({"LPUSH", v1.key("orders", "active"), "1"});
  auto all = migration_of(v1);
  EXPECT_THAT(error_of(all.run()).detail, HasSubstr("1 active jobs"));
  EXPECT_EQ(first.status().value().front().phase, MigrationPhase::copied);
  EXPECT_EQ(first.verify().value().found, 0);
  redis({"LREM", v1.key("orders", "active"), "0", "1"});
  ASSERT_TRUE(all.run());
  ASSERT_TRUE(all.abort());
}

TEST_F(BlockedMigration, ThousandsOfNotesHideNothingThatBlocks) {
  for (int i = 0; i < 1'300; ++i) {
    const auto id = "repeat:tick:" + std::to_string(1'700'000'000'000 + i);
    redis({"HSET", v1.key("orders", id), "name", "n", "data", "{}", "opts", "{}"});
    redis({"ZADD", v1.key("orders", "completed"), std::to_string(i + 1), id});
  }
  for (const auto* const id : {"heavy", "odd"}) {
    redis({"HSET", v1.key("orders", id), "name", "n", "data", "{}", "opts", "{}"});
    redis({"ZADD", v1.key("orders", "failed"), "5", id});
  }
  redis({"HSET", v1.key("orders", "heavy"), "priority", "2097152"});
  redis({"HSET", v1.key("orders", "odd"), "opts", "{"});
  const auto plan = migration_of(v1).plan().value();
  EXPECT_EQ(plan.blocking, 2);
  ASSERT_GT(plan.findings.size(), 1'000U);
  EXPECT_TRUE(plan.findings[0].blocks && plan.findings[1].blocks) << "what blocks comes first";
  EXPECT_THAT(blocking(plan.findings),
              AllOf(HasSubstr("heavy: its priority is 2097152"), HasSubstr("odd: its opts")));
  EXPECT_THAT(plan.findings.back().text, HasSubstr("more notes"));
  EXPECT_THAT(refused(options_of(v1)).detail, HasSubstr("and 1 more that block"));
}

TEST_F(BlockedMigration, MoreThanAThousandThatBlockAreCounted) {
  for (int i = 0; i < 1'100; ++i) redis({"SET", v1.key("parts", "x" + std::to_string(i)), "1"});
  const auto plan = migration_of(v1).plan().value();
  EXPECT_EQ(plan.blocking, 1'100);
  EXPECT_TRUE(plan.blocked());
  EXPECT_THAT(blocking(plan.findings), HasSubstr("100 more that block"));
}

TEST_F(BlockedMigration, ARunThatIsSaidAgainTellsAgainWhatWasLeft) {
  auto options = options_of(v1);
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "pausing") redis({"HSET", v1.key("orders", "1"), "priority", "one"});
    return true;
  };
  EXPECT_EQ(Migration(client, options).run().value().left, 1);
  auto migration = migration_of(v1);
  const auto again = migration.run().value();
  EXPECT_EQ(again.left, 1);
  EXPECT_THAT(blocking(again.findings), HasSubstr("orders 1: its priority is no number"));
  ASSERT_TRUE(migration.abort());
  redis({"HDEL", v1.key("orders", "1"), "priority"});
  EXPECT_EQ(migration.run().value().left, 0);
  ASSERT_TRUE(migration.abort());
}

TEST_F(BlockedMigration, KeysOfNobodyAndJobsInNoListBlock) {
  redis({"SET", v1.key("parts", "weird"), "1"});
  redis({"SADD", v1.key("parts", "strange"), "1"});
  redis({"RPUSH", v1.key("parts", "77"), "1"});
  redis({"SET", v1.key("parts", "repeat:zzz"), "1"});
  redis({"HSET", v1.key("parts", "de:hash"), "a", "1"});
  redis({"HSET", v1.key("parts", "lost"), "name", "x", "data", "{}"});
  redis({"HSET", v1.key("parts", "repeat:lost:1700000000000"), "name", "x"});
  redis({"HSET", v1.key("parts", "torn"), "stc", "1"});
  redis({"RPUSH", v1.key("parts", "gone:logs"), "a line"});
  redis({"HSET", v1.key("parts", "dn:k"), "name", "x", "data", "{}"});
  redis({"SET", v1.key("parts", "gone:lock"), "runs out by itself"});
  const auto text = plan_of_it();
  for (const auto* const word : {"weird", "strange", "77", "repeat:zzz", "de:hash", "torn"})
    EXPECT_THAT(text, HasSubstr("nobody knows what \"" + v1.key("parts", word) + "\"")) << word;
  EXPECT_THAT(text, HasSubstr("parts lost: is a job that stands in no list"));
  EXPECT_THAT(text, HasSubstr("parts repeat:lost:1700000000000: is a job or scheduler"));
  EXPECT_THAT(text, HasSubstr("nobody knows whose \"" + v1.key("parts", "gone:logs") + "\""));
  EXPECT_THAT(text, HasSubstr("dn:k\" keeps an add"));
  EXPECT_THAT(text, Not(HasSubstr("gone:lock")));
  EXPECT_THAT(refused(options_of(v1)).detail, HasSubstr("9 more that block"));
}

TEST_F(BlockedMigration, AKeyOfNobodyKeepsItFromBeingFinished) {
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  ASSERT_EQ(migration.verify().value().found, 0);
  redis({"SET", v1.key("parts", "weird"), "1"});
  const auto error = error_of(migration.finish());
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_THAT(error.detail, AllOf(HasSubstr("holds what nobody has moved"), HasSubstr("weird")));
  EXPECT_THAT(lines(migration.verify().value()), HasSubstr("nobody knows what"));
  redis({"DEL", v1.key("parts", "weird")});
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(v1.dump().size(), 15U) << "three tombstones a queue";
}

TEST_F(BlockedMigration, AnIdWithColonsDoesNotBlock) {
  waiting_job("parts", "a:b:c");
  waiting_job("parts", "a:b:logs");
  waiting_job("parts", "de:a");
  redis({"RPUSH", v1.key("parts", "a:b:c:logs"), "a line"});
  EXPECT_EQ(plan_of_it(), "");
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  EXPECT_EQ(lines(migration.verify().value()), "");
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(v1.dump().size(), 15U) << "three tombstones a queue";
}

TEST_F(BlockedMigration, JobsInBothWaitAndPausedBlockAndNothingStaysPaused) {
  redis({"RPUSH", v1.key("early", "paused"), "early-2"});
  EXPECT_THAT(plan_of_it(), HasSubstr("early : both wait and paused hold jobs"));
  refused(options_of(v1));
  // The same where it becomes so once the plan is made.
  redis({"DEL", v1.key("early", "paused")});
  const auto before = v1.dump();
  auto options = options_of(v1);
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "pausing") redis({"RPUSH", v1.key("early", "paused"), "early-2"});
    return true;
  };
  EXPECT_FALSE(Migration(client, options).run());
  redis({"DEL", v1.key("early", "paused")});
  EXPECT_EQ(difference(before, v1.dump()), "") << "those before it are not paused any more";
  EXPECT_EQ(difference({}, dump_targets()), "");
}

TEST_F(BlockedMigration, AProducerOfTwentyJobsASecondIsSeen) {
  std::atomic<bool> enough{false};
  std::thread producer([&] {
    auto connection = server.connect();
    while (!enough) {
      connection({"INCR", v1.key("orders", "id")});
      std::this_thread::sleep_for(50ms);
    }
  });
  auto options = options_of(v1);
  options.watch = MigrationOptions{}.watch;
  const auto plan = Migration(client, options).plan();
  enough = true;
  producer.join();
  EXPECT_THAT(blocking(plan.value().findings), HasSubstr("orders : jobs are being added"));
}

TEST_F(BlockedMigration, AnAddOfALittleWhileAgoIsNoted) {
  redis({"XADD", v1.key("parts", "events"), "*", "event", "added", "jobId", "part-0"});
  redis({"XADD", v1.key("parts", "events"), "*", "event", "waiting", "jobId", "part-0"});
  const auto plan = migration_of(v1).plan().value();
  EXPECT_FALSE(plan.blocked()) << blocking(plan.findings);
  std::string notes;
  for (const auto& finding : plan.findings) notes += finding.queue + ": " + finding.text + "\n";
  EXPECT_THAT(notes, ContainsRegex("parts: its last job was added [0-9] s ago"));
}

TEST_F(BlockedMigration, AKeyOfTheWrongTypeIsNamed) {
  redis({"DEL", v1.key("orders", "1")});
  redis({"SET", v1.key("orders", "1"), "no job"});
  redis({"DEL", v1.key("images", "1:logs")});
  redis({"SET", v1.key("images", "1:logs"), "no lines"});
  const auto text = plan_of_it();
  EXPECT_THAT(text, HasSubstr("orders 1: its key \"" + v1.key("orders", "1") +
                              "\" holds a string, and not a hash"));
  EXPECT_THAT(text, HasSubstr("images 1: its key \"" + v1.key("images", "1:logs") +
                              "\" holds a string, and not a list"));
  EXPECT_THAT(refused(options_of(v1)).detail, HasSubstr("holds a string"));
}

TEST_F(BlockedMigration, AV1QueueUnderOurOwnNamesIsToBeRenamed) {
  words_ = {"one", "two"};
  const auto base = "emq:{" + named("one") + "}:";
  redis({"HSET", base + "meta", "version", "bullmq:5.65.1"});
  redis({"HSET", base + "1", "name", "n", "data", "{}", "opts", "{}", "timestamp", "1"});
  redis({"LPUSH", base + "wait", "1"});
  auto options = options_of(v1);
  options.prefix = "emq";
  options.queues = {{"{" + named("one") + "}", named("one")}};
  const auto plan = Migration(client, options).plan().value();
  EXPECT_THAT(blocking(plan.findings), AllOf(HasSubstr("--rename"), Not(HasSubstr("obliterate"))));
  EXPECT_EQ(error_of(Migration(client, options).run()).code, ErrorCode::wrong_state);
  options.queues.front().to = named("two");
  Migration migration(client, options);
  EXPECT_EQ(blocking(migration.plan().value().findings), "");
  EXPECT_EQ(migration.run().value().jobs, 1);
  ASSERT_TRUE(migration.abort());
  for (const auto* const word : {"meta", "1", "wait"})
    EXPECT_EQ(redis({"DEL", base + word}).integer, 1) << word;
}

}  // namespace
}  // namespace echomq::test
