// SPDX-License-Identifier: MIT
// A deployment that a v1 client makes now, not one of a file: it is moved, the client is shut out
// from the tombstones on, and let in again by an abort.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "support/child_process.h"
#include "support/migration_test.h"
#include "support/sanitizer.h"
#include "support/v1_client.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class MigrationBesideV1 : public MigrationTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    MigrationTest::SetUp();
    if (const auto why = v1_clients_missing()) GTEST_SKIP() << *why;
  }
  // Whether a stock client was refused an add and a fetch.
  bool refused(const V1Fixture& v1) {
    auto client_of_v1 = v1_script("try_add.mjs", {server.url(), v1.prefix(), "orders"});
    return client_of_v1.wait() == 0;
  }
};

TEST_P(MigrationBesideV1, IsMovedAndShutOut) {
  const auto prefix = "{" + unique_queue("v1") + "}";
  auto made = v1_script("make_deployment.mjs", {server.url(), prefix, GetParam(), "1200"});
  ASSERT_EQ(made.wait(60s), 0) << made.output();
  V1Fixture v1(redis, prefix, {"orders", "mail", "images", "parts", "early"});
  auto migration = migration_of(v1);
  const auto jobs = v1.jobs();
  EXPECT_GT(jobs, 1'200);
  const auto plan = migration.plan().value();
  ASSERT_FALSE(plan.blocked()) << blocking(plan.findings);
  ASSERT_EQ(migration.run().value().jobs, jobs);
  EXPECT_EQ(migration.verify().value().found, 0);
  const auto fenced = v1.dump();
  EXPECT_TRUE(refused(v1));
  auto after = v1.dump();
  after.erase(v1.key("orders", "stalled-check"));
  auto before = fenced;
  before.erase(v1.key("orders", "stalled-check"));
  EXPECT_EQ(difference(before, after), "") << "it has changed nothing";
  ASSERT_TRUE(migration.abort());
  // The clients of all versions are alike in what follows.
  if (std::string(GetParam()) != "measured") return;
  EXPECT_FALSE(refused(v1)) << "it works as before";
  ASSERT_TRUE(migration.run());
  ASSERT_TRUE(migration.finish());
  EXPECT_TRUE(refused(v1));
}

INSTANTIATE_TEST_SUITE_P(EachVersion, MigrationBesideV1,
                         testing::Values("measured", "oldest", "newest"),
                         [](const auto& which) { return which.param; });

class LargeMigration : public MigrationTest {
 protected:
  void SetUp() override {
    MigrationTest::SetUp();
    if (const auto why = v1_clients_missing()) GTEST_SKIP() << *why;
    if (kSanitized) GTEST_SKIP() << "the same with fewer jobs is MigrationBesideV1";
    if (!plain_servers_wanted()) GTEST_SKIP() << kServersOfItsOwn;
  }
};

TEST_F(LargeMigration, AHundredThousandJobsOfANodeDeploymentAreWorkedToTheirEnd) {
  constexpr int kJobs = 100'000;
  const auto prefix = "{" + unique_queue("v1") + "}";
  auto made =
      v1_script("make_deployment.mjs", {server.url(), prefix, "measured", std::to_string(kJobs)});
  ASSERT_EQ(made.wait(120s), 0) << made.output();
  V1Fixture v1(redis, prefix, {"orders", "mail", "images", "parts", "early"});
  auto migration = migration_of(v1);
  const auto jobs = v1.jobs();
  ASSERT_GT(jobs, kJobs);
  const auto report = migration.run().value();
  EXPECT_EQ(report.jobs, jobs);
  EXPECT_EQ(report.left, 0) << blocking(report.findings);
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.finish());
  std::printf("%lld jobs moved in %lld ms, slowest answer of the source %lld ms\n",
              static_cast<long long>(jobs), static_cast<long long>(report.took.count()),
              static_cast<long long>(report.longest_call.count()));
  EXPECT_LT(report.took, 60s) << "it takes a tenth of that on a machine at rest";

  Runs done;
  ASSERT_TRUE(queue_of("mail").resume());
  for (const auto& moved : v1.queues()) {
    ASSERT_TRUE(queue_of(moved).promote_all());
    work(
        moved,
        [&done, moved](Job<>& job) {
          done.note(moved + " " + job.id());
          return Outcome::done();
        },
        quick(100));
  }
  EXPECT_TRUE(eventually(
      [&] {
        std::int64_t open = 0;
        for (const auto& moved : v1.queues()) {
          const auto now = counts_of(moved);
          open += now.waiting + now.prioritized + now.active + now.waiting_children;
        }
        return open == 0;
      },
      60s))
      << log.text();
  stop_workers();
  EXPECT_GT(done.size(), static_cast<std::size_t>(kJobs));
  for (const auto& [job, times] : done.times()) EXPECT_EQ(times, 1) << job;
  EXPECT_EQ(job_of("mail", "parent-1").state, JobState::completed);
}

}  // namespace
}  // namespace echomq::test
