// SPDX-License-Identifier: MIT
// A deployment that a v1 client makes now, not one of a file: it is moved, the client is shut out
// from the tombstones on, and let in again by an abort.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/child_process.h"
#include "support/migration_test.h"
#include "support/v1_client.h"

namespace echomq::test {
namespace {

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
  ASSERT_EQ(made.wait(std::chrono::seconds(60)), 0) << made.output();
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

}  // namespace
}  // namespace echomq::test
