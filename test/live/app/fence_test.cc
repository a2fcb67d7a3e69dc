// SPDX-License-Identifier: MIT
// emq fence: the state in words and as JSON, exit codes that scripts branch on, the repair, and the
// rules of the server for both sides.
#include <gtest/gtest.h>

#include <string>

#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using nlohmann::json;

class FenceVerb : public EmqTest {
 protected:
  ~FenceVerb() override { redis({"DEL", v1_key("bull", name, "meta")}); }

  // The exit code, and the state that is told in both forms.
  void expect(int code, const std::string& state) {
    const auto before = dump_queue(redis, name);
    const auto text = emq({"fence", name});
    EXPECT_EQ(text.code, code) << text.err;
    EXPECT_EQ(text.out.substr(0, text.out.find('\n')), name + ": " + state);
    const auto told = emq({"fence", "{" + name + "}", "--json"});
    EXPECT_EQ(told.code, code);
    EXPECT_EQ(told.json().at("queue"), name);
    EXPECT_EQ(told.json().at("state"), state);
    EXPECT_EQ(difference(before, dump_queue(redis, name)), "");
  }
};

TEST_F(FenceVerb, TellsEachStateByItsExitCode) {
  expect(5, "fresh");
  redis({"SET", v1_key("bull", name, "meta"), "echomq:2.0.0 migrated to emq:{" + name + "}"});
  expect(5, "migrated-away");
  redis({"DEL", v1_key("bull", name, "meta")});
  ASSERT_TRUE(queue.open());
  expect(0, "v2");
  redis({"HSET", v1_key("bull", name, "meta"), "version", "bullmq:5.65.1"});
  expect(4, "v1");
  redis({"DEL", v1_key("bull", name, "meta")});
  for (const auto& [version, state] : {std::pair{"bullmq:5.65.1", "damaged"},
                                       {"echomq:2.0.0:migrating", "being-migrated"},
                                       {"echomq:3.0.0", "newer"},
                                       {"somebody:1", "foreign"}}) {
    set_meta("version", version);
    expect(4, state);
  }
}

TEST_F(FenceVerb, SaysInWordsWhatItFound) {
  ASSERT_TRUE(queue.open());
  set_meta("version", "bullmq:5.65.1\x1b[31m");
  const auto text = emq({"fence", name}).out;
  for (const auto* part :
       {"found      bullmq:5.65.1\\x1b[31m at emq:{", "v1 worker  refused: by the types",
        "v2 worker  refused: in every script", "which means", "--repair"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto told = emq({"fence", name, "--json"}).json();
  EXPECT_EQ(told.at("probe"), key_of(Structure::meta));
  EXPECT_EQ(told.at("v1").at("outcome"), "refused");
  EXPECT_EQ(told.at("findings").at(0).at("damage"), true);
  EXPECT_EQ(told.at("repairable"), true);
}

TEST_F(FenceVerb, RepairsOnceAndThenHasNothingToDo) {
  add_many(3);
  set_meta("version", "bullmq:5.65.1");
  set_meta("paused", "1");
  redis({"RENAME", key_of(Structure::wait), "emq:{" + name + "}:paused"});
  const auto done = emq({"fence", name, "--repair"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("the version is ours again"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("3 paused jobs wait again"), std::string::npos) << done.out;
  EXPECT_EQ(counts().waiting, 3);
  EXPECT_EQ(emq({"fence", name}).code, 0);
  const auto again = emq({"fence", name, "--repair", "--json"}).json();
  EXPECT_EQ(again.at("repaired"), false);
  EXPECT_NE(emq({"fence", name, "--repair"}).out.find("nothing to repair"), std::string::npos);
}

TEST_F(FenceVerb, RepairsNothingThatIsNotOurs) {
  EXPECT_EQ(emq({"fence", name, "--repair"}).code, 5);
  redis({"HSET", key_of(Structure::meta), "version", "bullmq:5.65.1"});
  const auto refused = emq({"fence", name, "--repair", "--json"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_EQ(refused.error().at("code"), "fence");
  redis({"DEL", key_of(Structure::meta)});
}

TEST_F(FenceVerb, PrintsTheRulesOfBothSides) {
  const auto told = emq({"fence", "--acl", "--v1-prefixes", "bull,emq", "--user", "a", "--v1-user",
                         "b", "--json"})
                        .json();
  const auto v1 = told.at("v1").at("line").get<std::string>();
  const auto v2 = told.at("v2").at("line").get<std::string>();
  EXPECT_EQ(v1.rfind("user b on resetkeys resetchannels -@all ~bull:* ~emq:[^{]* ", 0), 0U) << v1;
  EXPECT_EQ(v2.rfind("user a on resetkeys resetchannels -@all ~emq:{*}:* ~{emq}:* +", 0), 0U) << v2;
  EXPECT_EQ(
      emq({"fence", "--acl", "--v1-prefixes", "bull,emq", "--user", "a", "--v1-user", "b"}).out,
      v1 + "\n" + v2 + "\n");
  EXPECT_EQ(emq({"fence", "--acl", "--v1-user", "two words"}).code, 2);
}

TEST_F(FenceVerb, IsAMetricOfStatus) {
  ASSERT_TRUE(queue.open());
  const auto line = "echomq_queue_fenced{queue=\"" + name + "\"} ";
  EXPECT_NE(emq({"status", name, "--prometheus"}).out.find(line + "0\n"), std::string::npos);
  set_meta("version", "bullmq:5.65.1");
  const auto fenced = emq({"status", name, "--prometheus"});
  EXPECT_NE(fenced.out.find(line + "1\n"), std::string::npos) << fenced.out;
  EXPECT_EQ(fenced.code, 4);
}

}  // namespace
}  // namespace echomq::test
