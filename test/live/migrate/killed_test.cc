// SPDX-License-Identifier: MIT
// A migration is killed behind every step of run, abort and finish, and goes on from there when it
// is said again; and a chunk whose answer was lost counts once.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/migration_test.h"

namespace echomq::test {
namespace {

// More than any of them has with this deployment.
constexpr int kMostSteps = 400;

class KilledMigration : public MigrationTest, public testing::WithParamInterface<const char*> {
 protected:
  // Kills a process that does that behind its n-th step. False: it had ended before.
  bool killed(const std::string& act, int step) {
    std::vector<std::string> words{server.url(), v1.prefix(), act, std::to_string(step)};
    for (const auto& moved : options_of(v1).queues) words.push_back(moved.from + "=" + moved.to);
    ChildProcess process("migration_process", words);
    const auto code = process.wait();
    EXPECT_TRUE(code == 0 || code == 128 + SIGKILL) << act << " " << step << process.output();
    return code != 0;
  }
  // In one process, which stops where the other one is killed: nothing is done behind that step.
  bool stopped(const std::string& act, int step) {
    auto options = options_of(v1);
    options.on_progress = stops_behind(step);
    Migration migration(client, options);
    const auto report = act == "run"     ? migration.run()
                        : act == "abort" ? migration.abort()
                                         : migration.finish();
    if (!report) {
      EXPECT_EQ(report.error().code, ErrorCode::closed) << report.error().message();
    }
    return !report;
  }

  [[nodiscard]] int queues() const { return static_cast<int>(v1.queues().size()); }

  // A finish does nothing twice: one that is stopped behind its first step, again and again, is
  // stopped behind each.
  void expect_finish_to_end() {
    const auto whole = dump_targets();
    auto migration = migration_of(v1);
    int steps = 0;
    for (; steps < kMostSteps && stopped("finish", 1); ++steps)
      EXPECT_EQ(error_of(migration.abort()).code, ErrorCode::wrong_state);
    // Of each queue: it is entered, opened, deleted and finished; and what some have.
    EXPECT_GT(steps, 6 * queues());
    EXPECT_LT(steps, kMostSteps);
    EXPECT_EQ(v1.dump().size(), 3U * v1.queues().size()) << "three tombstones a queue";
    // But for the versions and marks nothing of the targets has changed.
    const auto now = dump_targets();
    for (const auto& [key, content] : whole)
      if (!key.ends_with(":meta")) {
        EXPECT_EQ(now.contains(key) ? now.at(key) : "nothing", content) << key;
      }
    for (const auto& moved : v1.queues()) EXPECT_TRUE(queue_of(moved).counts()) << moved;
  }

  V1Fixture v1{redis, GetParam()};
};

TEST_P(KilledMigration, BehindEachStepOfRunAndOfAbort) {
  auto migration = migration_of(v1);
  const auto before = v1.dump();
  ASSERT_TRUE(migration.run());
  auto whole = dump_targets();
  ASSERT_TRUE(migration.abort());
  // When it began is all that differs from one run to the next.
  const auto ageless = [this](Dump targets) {
    for (const auto& moved : v1.queues()) {
      targets.erase(key(named(moved), Structure::de_due));
      auto& meta = targets[key(named(moved), Structure::meta)];
      const auto created = meta.find("'created=");
      if (created != std::string::npos) meta.erase(created, meta.find(' ', created) - created + 1);
    }
    return targets;
  };
  whole = ageless(whole);
  int steps = 1;
  for (; steps < kMostSteps && stopped("run", steps); ++steps) {
    const auto report = migration.run();
    ASSERT_TRUE(report) << steps << ": " << report.error().message();
    ASSERT_EQ(difference(whole, ageless(dump_targets())), "") << "killed behind step " << steps;
    // The abort is interrupted at another place each time.
    stopped("abort", steps);
    if (!dump_targets().empty()) {
      const auto back = migration.abort();
      ASSERT_TRUE(back) << steps << ": " << back.error().message();
    }
    ASSERT_EQ(difference(before, v1.dump()), "") << steps;
    ASSERT_EQ(difference({}, dump_targets()), "") << steps;
  }
  EXPECT_GT(steps, 12 * queues());
  EXPECT_LT(steps, kMostSteps);
}

TEST_P(KilledMigration, BehindEachStepOfFinish) {
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  ASSERT_TRUE(migration.verify());
  expect_finish_to_end();
}

// A finish that has to compare first is stopped behind each step of that too.
TEST_P(KilledMigration, BehindEachStepOfAFinishThatCompares) {
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  const auto whole = dump_targets();
  const auto is_verified = [&migration] {
    const auto all = migration.status().value();
    return std::all_of(all.begin(), all.end(),
                       [](const auto& status) { return status.phase == MigrationPhase::verified; });
  };
  int steps = 0;
  while (!is_verified() && steps < kMostSteps) {
    ASSERT_TRUE(stopped("finish", ++steps));
    ASSERT_EQ(difference(whole, dump_targets()), "") << steps;
  }
  EXPECT_GT(steps, 3 * queues()) << "chunks of each queue, and each of them is verified";
  expect_finish_to_end();
}

TEST_P(KilledMigration, ByTheSystemAtSomeSteps) {
  if (std::string(GetParam()) != "measured") GTEST_SKIP() << "a process for each kill: one will do";
  const auto before = v1.dump();
  auto migration = migration_of(v1);
  for (const int step : {1, 5, 12, 20, 33, 47, 60}) {
    ASSERT_TRUE(killed("run", step)) << step;
    ASSERT_TRUE(migration.run()) << step;
    EXPECT_EQ(migration.verify().value().found, 0) << step;
    ASSERT_TRUE(killed("abort", step % 9 + 1)) << step;
    ASSERT_TRUE(migration.abort()) << step;
    ASSERT_EQ(difference(before, v1.dump()), "") << step;
  }
  ASSERT_TRUE(migration.run());
  for (const int step : {1, 4, 9, 15}) ASSERT_TRUE(killed("finish", step)) << step;
  ASSERT_TRUE(migration.verify());
  for (int times = 0; times < 6; ++times) ASSERT_TRUE(killed("finish", 3)) << times;
  ASSERT_TRUE(migration.finish());
  EXPECT_EQ(v1.dump().size(), 15U);
}

INSTANTIATE_TEST_SUITE_P(EachDeployment, KilledMigration,
                         testing::Values("measured", "oldest", "newest", "failed_children"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace echomq::test
