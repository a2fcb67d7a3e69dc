// SPDX-License-Identifier: MIT
// Deployments of real v1 clients, of three versions, are moved here: all of it, in its order, and
// afterwards it works as it would have there. Until finish() all of it can be put back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/client_core.h"
#include "echomq/fence.h"
#include "migrate/names.h"
#include "protocol/v1_names.h"
#include "support/migration_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class MigratedDeployment : public MigrationTest, public testing::WithParamInterface<const char*> {
 protected:
  std::vector<std::string> v1_list(const std::string& moved, const std::string& suffix) {
    const auto key = v1.key(moved, suffix);
    return texts(redis({"TYPE", key}).text == "list" ? redis({"LRANGE", key, "0", "-1"})
                                                     : redis({"ZRANGE", key, "0", "-1"}));
  }
  std::vector<std::string> mapped(std::vector<std::string> ids) {
    for (auto& id : ids) id = migrate::map_id(id);
    return ids;
  }
  std::vector<std::string> here(const std::string& moved, Structure place) {
    const auto where = key(named(moved), place);
    return texts(place == Structure::wait ? redis({"LRANGE", where, "0", "-1"})
                                          : redis({"ZRANGE", where, "0", "-1"}));
  }

  static std::map<std::string, std::string> read_map(const Reply& reply) {
    const auto flat = texts(reply);
    std::map<std::string, std::string> map;
    for (std::size_t i = 0; i + 1 < flat.size(); i += 2) map[flat[i]] = flat[i + 1];
    return map;
  }

  V1Fixture v1{redis, GetParam()};
};

TEST_P(MigratedDeployment, IsMovedWholeAndWorks) {
  auto migration = migration_of(v1);
  const auto jobs = v1.jobs();
  const auto before = v1.dump();
  const auto plan = migration.plan().value();
  EXPECT_FALSE(plan.blocked()) << blocking(plan.findings);
  EXPECT_EQ(plan.queues.size(), 5U);
  EXPECT_EQ(difference(before, v1.dump()), "") << "a plan reads only";
  EXPECT_TRUE(dump_targets().empty());

  const auto report = migration.run();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->jobs, jobs);
  EXPECT_EQ(report->left, 0) << blocking(report->findings);
  const auto compared = migration.verify();
  ASSERT_TRUE(compared) << compared.error().message();
  EXPECT_EQ(compared->jobs, jobs);
  EXPECT_EQ(compared->found, 0) << lines(*compared);
  for (const auto& status : migration.status().value())
    EXPECT_EQ(status.phase, MigrationPhase::verified);
  EXPECT_EQ(error_of(queue_of("orders").counts()).code, ErrorCode::fence);
  EXPECT_EQ(error_of(queue_of("orders").add("x")).code, ErrorCode::fence);

  const auto again = migration.run();
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->jobs, 0) << "once it is done it changes nothing";

  ASSERT_TRUE(migration.finish());
  for (const auto& [key, content] : v1.dump())
    EXPECT_THAT(content, HasSubstr("string echomq:2.0.0 migrated to emq:{")) << key;
  EXPECT_EQ(v1.dump().size(), 15U) << "three tombstones a queue";
  EXPECT_EQ(jobs_here(), jobs);
  EXPECT_TRUE(migration.finish()) << "again, without harm";

  std::set<std::string> pending;
  Runs done;
  for (const auto& moved : v1.queues())
    for (const auto place :
         {Structure::wait, Structure::prioritized, Structure::delayed, Structure::waiting_children})
      for (const auto& id : here(moved, place)) pending.insert(moved + " " + id);
  ASSERT_TRUE(queue_of("mail").resume());
  for (const auto& moved : v1.queues()) {
    ASSERT_TRUE(queue_of(moved).promote_all());
    work(moved, [&done, moved](Job<>& job) {
      done.note(moved + " " + job.id());
      return Outcome::done("ok");
    });
  }
  for (const auto& job : pending) {
    const auto blank = job.find(' ');
    EXPECT_TRUE(reaches(job.substr(0, blank), job.substr(blank + 1), JobState::completed)) << job;
    EXPECT_EQ(done.times(job), 1) << job;
  }
  stop_workers();
  EXPECT_EQ(job_of("mail", "parent-1").state, JobState::completed);
}

TEST_P(MigratedDeployment, KeepsTheOrderOfEveryListAndAmongEquals) {
  auto migration = migration_of(v1);
  std::map<std::string, std::vector<std::string>> expected;
  for (const auto& moved : v1.queues()) {
    auto wait = v1_list(moved, "paused");
    if (wait.empty()) wait = v1_list(moved, "wait");
    std::reverse(wait.begin(), wait.end());
    expected[moved + " wait"] = mapped(wait);
    for (const auto* const set : {"prioritized", "delayed", "completed", "failed"})
      expected[moved + " " + set] = mapped(v1_list(moved, set));
  }
  EXPECT_GT(expected.at("orders wait").size(), 5U);
  EXPECT_GT(expected.at("orders prioritized").size(), 5U);
  EXPECT_GT(expected.at("orders delayed").size(), 10U);
  ASSERT_TRUE(migration.run());
  for (const auto& [name_of_list, ids] : expected) {
    const auto blank = name_of_list.find(' ');
    const auto list = name_of_list.substr(blank + 1);
    const auto place = list == "wait"          ? Structure::wait
                       : list == "prioritized" ? Structure::prioritized
                       : list == "delayed"     ? Structure::delayed
                       : list == "completed"   ? Structure::completed
                                               : Structure::failed;
    EXPECT_EQ(here(name_of_list.substr(0, blank), place), ids) << name_of_list;
  }
  // A child that has ended is known to its parent by its new name, with its result.
  const auto ended =
      read_map(redis({"HGETALL", job_key(named("mail"), "parent-2", Sub::processed)}));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended.begin()->first.starts_with(named("early") + ":early-")) << ended.begin()->first;
  EXPECT_EQ(ended.begin()->second, R"(1:+{"early":true})");
  ASSERT_TRUE(migration.abort());
}

TEST_P(MigratedDeployment, AbortPutsBackExactlyWhatWasThere) {
  auto migration = migration_of(v1);
  const auto before = v1.dump();
  ASSERT_TRUE(migration.run());
  EXPECT_NE(difference(before, v1.dump()), "");
  const auto report = migration.abort();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(difference(before, v1.dump()), "");
  EXPECT_EQ(difference({}, dump_targets()), "");
  EXPECT_EQ(error_of(migration.abort()).code, ErrorCode::wrong_state);
  // And it can be begun anew.
  ASSERT_TRUE(migration.run());
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.abort());
  EXPECT_EQ(difference(before, v1.dump()), "");
}

TEST_P(MigratedDeployment, SettingsSchedulersAndOwnersComeWithIt) {
  auto migration = migration_of(v1);
  std::map<std::string, std::int64_t> ticks;
  const auto listed = texts(redis({"ZRANGE", v1.key("orders", "repeat"), "0", "-1", "WITHSCORES"}));
  for (std::size_t i = 0; i + 1 < listed.size(); i += 2)
    ticks[listed[i]] = std::stoll(listed[i + 1]);
  ASSERT_GE(ticks.size(), 2U);
  ASSERT_TRUE(migration.run());
  ASSERT_TRUE(migration.finish());
  EXPECT_TRUE(counts_of("mail").paused);
  EXPECT_FALSE(counts_of("orders").paused);
  auto orders = queue_of("orders");
  Schedulers schedulers{orders};
  const auto page = schedulers.list().value();
  EXPECT_EQ(page.schedulers.size(), ticks.size());
  std::multiset<std::int64_t> expected;
  std::multiset<std::int64_t> found;
  for (const auto& [member, tick] : ticks) expected.insert(tick);
  for (const auto& scheduler : page.schedulers) {
    found.insert(scheduler.next_ms);
    // The job of its next tick came with it, under the id that the tick's job has here.
    const auto job = orders.job(scheduler.id + "." + std::to_string(scheduler.next_ms));
    EXPECT_TRUE(job) << scheduler.id;
  }
  EXPECT_EQ(found, expected);
  if (std::string(GetParam()) == "oldest") return;  // it has no deduplication and no limits
  EXPECT_EQ(orders.limits().value().concurrency, 50U);
  const auto owner = orders.deduplication_owner("throttle").value();
  ASSERT_TRUE(owner);
  EXPECT_GT(owner->until_ms, client.server_time_ms());
  const auto added = orders.add("x", {.deduplication = Deduplication::simple("simple")}).value();
  EXPECT_TRUE(added.deduplicated) << "its owner waits still";
  const auto metrics =
      read_map(redis({"HGETALL", named_key(named("images"), "metrics", "completed")}));
  EXPECT_TRUE(metrics.contains("from"));
  EXPECT_EQ(metrics.size(), 2U) << "the four that ended minutes before the last one";
}

INSTANTIATE_TEST_SUITE_P(EachVersion, MigratedDeployment,
                         testing::Values("measured", "oldest", "newest"),
                         [](const auto& which) { return which.param; });

class RefusedMigration : public MigrationTest {
 protected:
  std::string plan_of_it() {
    auto migration = migration_of(v1);
    const auto plan = migration.plan();
    return plan ? blocking(plan->findings) : plan.error().message();
  }
  // The run is refused, and nothing is left of it.
  Error run_is_refused() {
    const auto before = v1.dump();
    auto migration = migration_of(v1);
    auto error = error_of(migration.run());
    EXPECT_EQ(difference(before, v1.dump()), "");
    EXPECT_EQ(difference({}, dump_targets()), "");
    return error;
  }

  V1Fixture v1{redis, "measured"};
};

TEST_F(RefusedMigration, WhileAJobRuns) {
  redis({"LPUSH", v1.key("parts", "active"), "part-0"});
  EXPECT_THAT(plan_of_it(), HasSubstr("1 jobs are active"));
  const auto error = run_is_refused();
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_THAT(error.detail, HasSubstr("1 active jobs"));
}

TEST_F(RefusedMigration, WhereTheTargetIsAQueueAlready) {
  ASSERT_TRUE(queue_of("mail").add("x"));
  EXPECT_THAT(plan_of_it(), HasSubstr("there is a queue \"" + named("mail") + "\" already"));
  const auto before = v1.dump();
  EXPECT_EQ(error_of(migration_of(v1).run()).code, ErrorCode::wrong_state);
  EXPECT_EQ(difference(before, v1.dump()), "") << "those before it were left alone too";
  EXPECT_EQ(counts_of("mail").waiting, 1);
}

TEST_F(RefusedMigration, WhatPlanFindsBlocks) {
  redis({"HSET", v1.key("orders", "1"), "priority", "2097152"});
  redis({"HSET", v1.key("orders", "2"), "opts", "{"});
  redis({"HSET", v1.key("mail", "dn:mine"), "name", "x"});
  redis({"LPUSH", v1.key("parts", "wait"), "stalled"});
  redis({"HSET", v1.key("parts", "stalled"), "name", "x"});
  const auto text = plan_of_it();
  EXPECT_THAT(text, HasSubstr("orders 1: its priority is 2097152"));
  EXPECT_THAT(text, HasSubstr("orders 2: its opts are no JSON object"));
  EXPECT_THAT(text, HasSubstr("dn:mine\" keeps an add"));
  EXPECT_THAT(text, HasSubstr("stalled is a hash, and not a set"));
}

TEST_F(RefusedMigration, OfHalfAFlow) {
  auto options = options_of(v1);
  std::erase_if(options.queues, [](const auto& moved) { return moved.from == "parts"; });
  Migration migration(client, options);
  const auto plan = migration.plan().value();
  EXPECT_TRUE(plan.blocked());
  EXPECT_THAT(blocking(plan.findings), HasSubstr("mail parent-1: its child"));
}

TEST_F(RefusedMigration, WhatWasLeftOutKeepsItFromBeingFinished) {
  auto options = options_of(v1);
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step == "pausing") redis({"HSET", v1.key("orders", "1"), "priority", "one"});
    return true;
  };
  const auto report = Migration(client, options).run().value();
  auto migration = migration_of(v1);
  EXPECT_EQ(report.left, 1);
  EXPECT_THAT(blocking(report.findings), HasSubstr("orders 1: its priority is no number"));
  const auto compared = migration.verify().value();
  EXPECT_EQ(compared.found, 1) << lines(compared);
  const auto error = error_of(migration.finish());
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_THAT(error.detail, HasSubstr("job 1 was left out"));
  ASSERT_TRUE(migration.abort());
}

TEST_F(RefusedMigration, DifferencesAreFoundWhereverTheyAre) {
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  const auto orders = [this](Structure place) { return key(named("orders"), place); };
  redis({"HSET", job_key(named("orders"), "1"), "data", "another"});
  redis({"HDEL", job_key(named("orders"), "2"), "head"});
  redis({"HSET", job_key(named("orders"), "3"), "more", "x"});
  redis({"LMOVE", orders(Structure::wait), orders(Structure::wait), "LEFT", "RIGHT"});
  redis({"RPUSH", job_key(named("images"), "1", Sub::logs), "a line"});
  redis({"LSET", job_key(named("images"), "1", Sub::logs), "0", "another"});
  redis(
      {"HDEL", job_key(named("mail"), "parent-1", Sub::dependencies), named("parts") + ":part-1"});
  redis({"ZADD", orders(Structure::completed), "5", "stray"});
  redis({"HSET", orders(Structure::meta), "event_cap", "1"});
  const auto text = lines(migration.verify().value());
  EXPECT_THAT(text, HasSubstr("1: its field data is \"another\""));
  EXPECT_THAT(text, HasSubstr("2: its field head is missing"));
  EXPECT_THAT(text, HasSubstr("3: has a field more"));
  EXPECT_THAT(text, HasSubstr("stands not at place 0 of wait"));
  EXPECT_THAT(text, HasSubstr(":logs holds \"another\""));
  EXPECT_THAT(text, HasSubstr("parent-1:dependencies holds \"\""));
  EXPECT_THAT(text, HasSubstr("completed holds 1, the source 0"));
  EXPECT_THAT(text, HasSubstr("its setting event_cap"));
  ASSERT_TRUE(migration.abort());
}

TEST_F(RefusedMigration, BadOptionsAndTheWrongMoment) {
  EXPECT_EQ(error_of(Migration(client, {}).plan()).code, ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(Migration(client, {.queues = {{"a:b", "a"}}}).plan()).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(Migration(client, {.queues = {{"a b", ""}}}).plan()).code,
            ErrorCode::invalid_name);
  EXPECT_EQ(error_of(Migration(client, {.queues = {{"a", "x"}, {"b", "x"}}}).run()).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(
      error_of(
          Migration(client, {.queues = {{"a", "x"}}, .source_url = "redis://127.0.0.1:1"}).plan())
          .code,
      ErrorCode::unavailable);
  auto migration = migration_of(v1);
  EXPECT_EQ(error_of(migration.verify()).code, ErrorCode::wrong_state);
  EXPECT_EQ(error_of(migration.finish()).code, ErrorCode::wrong_state);
  EXPECT_EQ(error_of(migration.abort()).code, ErrorCode::wrong_state);
}

TEST_F(RefusedMigration, ASecondOneToTheSameTarget) {
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  auto options = options_of(v1);
  options.prefix = "another";
  const auto error = error_of(Migration(client, options).run());
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_THAT(error.detail, HasSubstr("goes already"));
  ASSERT_TRUE(migration.abort());
}

// A v1 client that names the target's keys was constructed while it is filled.
class OverwrittenTarget : public MigrationTest {
 protected:
  void overwrite(const std::string& moved) {
    redis({"HSET", key(named(moved), Structure::meta), "version", "bullmq:5.65.1",
           "opts.maxLenEvents", "10000"});
  }
  // As its pause does; it moves what waits as well.
  void pause(const std::string& moved) {
    redis({"HSET", key(named(moved), Structure::meta), "paused", "1"});
    redis({"RENAME", key(named(moved), Structure::wait), v1_word_key(named(moved), "paused")});
  }
  MigrationPhase phase_of(Migration& migration) { return migration.status().value().front().phase; }

  V1Fixture v1{redis, "measured"};
};

TEST_F(OverwrittenTarget, IsMarkedAgainAndComparedAnew) {
  auto migration = migration_of(v1);
  const auto jobs = v1.jobs();
  auto options = options_of(v1);
  options.on_progress = stops_behind(30);
  ASSERT_EQ(error_of(Migration(client, options).run()).code, ErrorCode::closed);
  overwrite("orders");
  EXPECT_EQ(inspect_fence(client, named("orders")).value().state, FenceState::being_migrated);
  EXPECT_EQ(error_of(repair_fence(client, named("orders"))).code, ErrorCode::fence);
  ASSERT_TRUE(migration.run());
  EXPECT_EQ(migration.verify().value().found, 0);
  EXPECT_EQ(phase_of(migration), MigrationPhase::verified);
  overwrite("orders");
  const auto finished = migration.finish();
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_EQ(jobs_here(), jobs);
}

TEST_F(OverwrittenTarget, WhoseJobsV1HasMovedIsNotFinishedAndTakenAwayWhole) {
  auto migration = migration_of(v1);
  const auto before = v1.dump();
  ASSERT_TRUE(migration.run());
  ASSERT_EQ(migration.verify().value().found, 0);
  pause("orders");
  const auto error = error_of(migration.finish());
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_THAT(error.detail, HasSubstr("differ"));
  overwrite("orders");
  const auto back = migration.abort();
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(difference(before, v1.dump()), "");
  EXPECT_EQ(difference({}, dump_targets()), "");
}

TEST_F(OverwrittenTarget, WhileItIsTakenAwayIsTakenAwayAllTheSame) {
  const auto before = v1.dump();
  ASSERT_TRUE(migration_of(v1).run());
  auto options = options_of(v1);
  options.on_progress = stops_behind(9);
  ASSERT_EQ(error_of(Migration(client, options).abort()).code, ErrorCode::closed);
  for (const auto& moved : v1.queues())
    if (redis({"EXISTS", key(named(moved), Structure::meta)}).integer > 0) overwrite(moved);
  auto migration = migration_of(v1);
  const auto back = migration.abort();
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(difference(before, v1.dump()), "");
  EXPECT_EQ(difference({}, dump_targets()), "");
}

// As bullmq 5.1 leaves `repeat: {every, key}`: the set names it by the long key, its jobs by the
// id.
TEST_F(RefusedMigration, ARepeatableJobWithAnIdOfItsOwnIsNotRefused) {
  const std::string tick = "1900000800000";
  const auto id = "repeat:mine:" + tick;
  redis({"ZADD", v1.key("orders", "repeat"), tick, "own::::7200000"});
  redis({"HSET", v1.key("orders", id), "name", "own", "data", R"({"n":1})", "opts",
         R"({"prevMillis":1900000800000,"repeat":{"every":7200000,"key":"mine","count":1}})",
         "timestamp", "1700000000000", "delay", "5", "rjk", "own::::7200000"});
  redis({"ZADD", v1.key("orders", "delayed"), std::to_string(std::stoll(tick) * 4'096), id});
  EXPECT_EQ(plan_of_it(), "");
  auto migration = migration_of(v1);
  EXPECT_EQ(migration.run().value().left, 0);
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(job_of("orders", "mine." + tick).state, JobState::delayed);
  auto orders = queue_of("orders");
  const auto moved = Schedulers{orders}.get("mine");
  ASSERT_TRUE(moved) << moved.error().message();
  EXPECT_EQ(moved->next_ms, std::stoll(tick));
  EXPECT_EQ(moved->data, R"({"n":1})");
}

class MigratedSchedulers : public MigrationTest {
 protected:
  void set_ahead(std::chrono::milliseconds ahead) {
    const auto core = client.core();
    core->wait_for<bool>([&](Function<void(Result<bool>)> done) {
          core->jump(ahead);
          done(true);
        })
        .value();
  }
};

TEST_F(MigratedSchedulers, TickWhenTheyWouldHaveAndOnce) {
  V1Fixture v1(redis, "measured");
  // The next tick of the one that ticks each hour is ten minutes from now.
  const auto member = v1.key("orders", "repeat");
  const auto was = redis({"ZSCORE", member, "hourly"}).text;
  const auto tick = client.server_time_ms() + 600'000;
  const auto score = std::to_string(tick);
  redis({"ZADD", member, score, "hourly"});
  redis({"RENAME", v1.key("orders", "repeat:hourly:" + was),
         v1.key("orders", "repeat:hourly:" + score)});
  for (const auto* const list : {"wait", "delayed"}) {
    redis({"LREM", v1.key("orders", list), "0", "repeat:hourly:" + was});
    redis({"ZREM", v1.key("orders", list), "repeat:hourly:" + was});
  }
  redis(
      {"ZADD", v1.key("orders", "delayed"), std::to_string(tick * 4096), "repeat:hourly:" + score});
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  ASSERT_TRUE(migration.finish());
  work("orders", [](Job<>&) { return Outcome::done(); });
  const auto first = "hourly." + score;
  const auto second = "hourly." + std::to_string(tick + 3'600'000);
  EXPECT_EQ(job_of("orders", first).state, JobState::delayed);
  set_ahead(11min);
  ASSERT_TRUE(reaches("orders", first, JobState::completed)) << log.text();
  EXPECT_EQ(error_of(queue_of("orders").job(second)).code, ErrorCode::not_found);
  set_ahead(60min);
  ASSERT_TRUE(reaches("orders", second, JobState::completed)) << log.text();
  EXPECT_EQ(runs.times(first), 1);
  EXPECT_EQ(runs.times(second), 1);
}

}  // namespace
}  // namespace echomq::test
