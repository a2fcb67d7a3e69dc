// SPDX-License-Identifier: MIT
// INV2 and INV3, as the server sees them: every key that a command inside a script touches was
// among the KEYS of the call, and is a key of a queue or of the deployment.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/model/life.h"
#include "support/monitor.h"
#include "support/scene.h"

namespace echomq::test {
namespace {

class DeclaredKeys : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<TestServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  // The calls of a random life.
  void live(std::uint32_t seed, int steps) {
    SideBySide both(*server_, Life::kClients);
    Life life(both.model, seed);
    for (int i = 0; i < steps; ++i) EXPECT_EQ(both.run(life.next()), "");
  }
  Audit take() { return audit(redis, monitor_.take(redis)); }

  static void expect_none(const Audit& audit) {
    for (const auto& violation : audit.violations) ADD_FAILURE() << violation;
  }

  static inline std::unique_ptr<TestServer> server_;
  RawClient redis = server_->connect();

 private:
  Monitor monitor_{*server_};
};

// Every script, on each of its ways.
TEST_F(DeclaredKeys, INV2_P22_EveryKeyTouchedInAScriptWasDeclared) {
  for (const auto& exercise : exercises()) {
    ScriptQueue q(redis, unique_queue("audit"));
    Scene scene(q);
    exercise.call(scene);
  }
  lease_node(redis, {});
  const auto seen = take();
  expect_none(seen);
  EXPECT_GT(seen.commands, 5 * seen.scripts) << "MONITOR showed too little";
  for (const auto* const script : scripts::all())
    EXPECT_TRUE(seen.programs.contains(std::string(script->sha1))) << script->name;
}

TEST_F(DeclaredKeys, INV2_HoldsOverARandomLife) {
  live(1, 300);
  const auto seen = take();
  expect_none(seen);
  EXPECT_GT(seen.scripts, 250U);
}

TEST_F(DeclaredKeys, INV3_AllKeysOfAQueueCarryItsHashtag) {
  live(2, 400);
  lease_node(redis, {});
  const auto keys = texts(redis({"KEYS", "*"}));
  EXPECT_GT(keys.size(), 20U);
  const std::string own = "emq:{model}:";
  for (const auto& key : keys) {
    EXPECT_TRUE(key.substr(0, own.size()) == own || key.substr(0, 6) == "{emq}:") << key;
    EXPECT_EQ(slot(key), slot(key.substr(0, 6) == "{emq}:" ? "{emq}" : own)) << key;
  }
}

// The auditor can see: scripts that break the rule are caught by it.
TEST_F(DeclaredKeys, AnUndeclaredKeyIsCaught) {
  const std::string declared = "emq:{audit-bad}:meta";
  const std::string undeclared = "emq:{audit-bad}:wait";
  ASSERT_FALSE(
      redis({"EVAL", "return redis.call('RPUSH', ARGV[1], 'x')", "1", declared, undeclared})
          .is_error());
  const auto seen = take();
  ASSERT_EQ(seen.violations.size(), 1U);
  EXPECT_NE(seen.violations[0].find("touches " + undeclared + " by RPUSH"), std::string::npos)
      << seen.violations[0];
}

// Also in a command with several keys of which one was declared, and when the key is only read.
TEST_F(DeclaredKeys, AnUndeclaredKeyBesideADeclaredOneIsCaught) {
  const std::string declared = "emq:{audit-bad}:meta";
  const std::string undeclared = "emq:{audit-bad}:17";
  redis({"EVAL", "return redis.call('EXISTS', KEYS[1], ARGV[1])", "1", declared, undeclared});
  EXPECT_EQ(take().violations.size(), 1U);
}

TEST_F(DeclaredKeys, AForeignKeyIsCaughtEvenWhenItIsDeclared) {
  redis({"EVAL", "return redis.call('GET', KEYS[1])", "1", "bull:audit-bad:id"});
  EXPECT_EQ(take().violations.size(), 1U);
}

TEST(MonitorLines, AreReadWithTheirEscapes) {
  const auto line = parse_monitor_line(
      R"(1700000000.5 [0 lua] "HSET" "a key" "quote \" back \\ tab \t end \r\n byte \xff\x00")");
  EXPECT_TRUE(line.in_script);
  ASSERT_EQ(line.words.size(), 3U);
  EXPECT_EQ(line.words[1], "a key");
  std::string expected = "quote \" back \\ tab \t end \r\n byte \xff";
  expected += '\0';
  EXPECT_EQ(line.words[2], expected);
  EXPECT_FALSE(parse_monitor_line(R"(1.5 [0 unix:/tmp/a b.sock] "PING")").in_script);
}

}  // namespace
}  // namespace echomq::test
