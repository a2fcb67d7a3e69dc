// SPDX-License-Identifier: MIT
// The verb migrate: its steps in order, what they print, and the exit codes that scripts go by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/emq_run.h"
#include "support/v1_fixture.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class MigrateVerb : public EmqTest {
 protected:
  void SetUp() override {
    if (least_privilege_wanted())
      GTEST_SKIP() << "a migration needs more rights than `emq acl` gives";
  }
  ~MigrateVerb() override {
    for (const auto& moved : v1.queues()) {
      delete_queue(redis, name + "." + moved);
      redis({"DEL", migration_key(name + "." + moved)});
      redis({"ZREM", reserve_key(Reserve::queues), name + "." + moved});
    }
  }
  EmqRun step(const std::string& verb, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"migrate", verb, "--prefix", v1.prefix()};
    for (const auto& moved : v1.queues()) {
      words.emplace_back("--rename");
      words.push_back(moved + "=" + name + "." + moved);
    }
    words.insert(words.end(), more.begin(), more.end());
    return emq(words);
  }

  V1Fixture v1{redis, "measured"};
};

TEST_F(MigrateVerb, StepByStep) {
  const auto plan = step("plan");
  EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("nothing blocks"));
  EXPECT_THAT(plan.out, HasSubstr("will be called v1."));
  EXPECT_EQ(step("plan", {"--json"}).json().at("blocked"), false);
  EXPECT_EQ(step("verify").code, 1);
  const auto run = step("run", {"--json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json().at("left"), 0);
  EXPECT_GT(run.json().at("jobs"), 50);
  const auto status = step("status", {"--json"}).json();
  EXPECT_EQ(status.at("queues").at(0).at("phase"), "copied");
  EXPECT_THAT(step("status").out, HasSubstr("copied"));
  const auto verify = step("verify");
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr(", 0 differences"));
  EXPECT_EQ(emq({"status", name + ".orders"}).code, 4) << "it is not open yet";
  const auto finish = step("finish");
  EXPECT_EQ(finish.code, 0) << finish.err;
  EXPECT_THAT(finish.out, HasSubstr("jobs deleted from the source"));
  EXPECT_EQ(emq({"status", name + ".orders"}).code, 0);
  EXPECT_EQ(step("abort").code, 1);
}

TEST_F(MigrateVerb, AbortAndRunAgain) {
  ASSERT_EQ(step("run", {"--rate", "100000"}).code, 0);
  redis({"HSET", job_key(name + ".orders", "1"), "data", "another"});
  const auto verify = step("verify", {"--json"});
  EXPECT_EQ(verify.code, 1);
  EXPECT_EQ(verify.json().at("found"), 1);
  EXPECT_EQ(verify.json().at("differences").at(0).at("job"), "1");
  const auto finish = step("finish", {"--json"});
  EXPECT_EQ(finish.code, 1);
  EXPECT_EQ(finish.error().at("code"), "wrong_state");
  ASSERT_EQ(step("abort").code, 0);
  EXPECT_EQ(step("status", {"--json"}).json().at("queues").at(0).at("phase"), "none");
  ASSERT_EQ(step("run").code, 0);
  ASSERT_EQ(step("abort").code, 0);
}

TEST_F(MigrateVerb, WhatBlocksIsAnExitCode) {
  redis({"LPUSH", v1.key("orders", "active"), "1"});
  const auto plan = step("plan");
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out, HasSubstr("blocks  orders: 1 jobs are active"));
  EXPECT_THAT(plan.out, HasSubstr("something blocks"));
  const auto run = step("run", {"--drain-timeout", "1ms", "--json"});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.error().at("code"), "wrong_state");
}

TEST_F(MigrateVerb, BadInputIsRefused) {
  EXPECT_EQ(emq({"migrate"}).code, 2);
  EXPECT_EQ(emq({"migrate", "plan"}).code, 2);
  EXPECT_EQ(emq({"migrate", "plan", "--rename", "orders"}).code, 2);
  EXPECT_EQ(emq({"migrate", "plan", "orders", "--rate", "0"}).code, 2);
  EXPECT_EQ(emq({"migrate", "plan", "an odd name"}).code, 2);
  EXPECT_EQ(emq({"migrate", "plan", "orders", "--source", "redis://127.0.0.1:1"}).code, 3);
  EXPECT_EQ(emq({"migrate", "plan", unique_queue("never")}).code, 1) << "there is nothing";
}

}  // namespace
}  // namespace echomq::test
