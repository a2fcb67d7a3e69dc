// SPDX-License-Identifier: MIT
// The verbs clean, drain and obliterate: what they print, what they refuse, and that one that was
// killed half way is gone on with.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

using CleanVerbs = EmqTest;

TEST_F(CleanVerbs, CleanByStateAndAge) {
  const auto ids = add_many(300, {.delay = 1h});
  EXPECT_EQ(emq({"clean", name, "--state", "delayed", "--older-than", "1h"}).out,
            "0 jobs removed\n");
  const auto dry =
      emq({"clean", name, "--state", "delayed", "--older-than", "0s", "--dry-run", "--json"});
  EXPECT_EQ(dry.json(), (json{{"done", 300}, {"skipped", 0}, {"dry_run", true}}));
  EXPECT_EQ(counts().delayed, 300);
  age_add(ids.at(7), 7'200'000);
  EXPECT_EQ(
      emq({"clean", name, "--state", "delayed", "--older-than", "1h", "--json"}).json().at("done"),
      1);
  EXPECT_EQ(error_of(queue.job(ids.at(7))).code, ErrorCode::not_found);
  const std::vector<std::string> some{"clean",        name, "--state", "delayed",
                                      "--older-than", "0s", "--limit", "99"};
  EXPECT_EQ(emq(some).out, "99 jobs removed\n");
  EXPECT_EQ(counts().delayed, 200);
}

TEST_F(CleanVerbs, DrainWithAndWithoutDelayedOnes) {
  add_many(300);
  add_many(20, {.delay = 1h});
  EXPECT_EQ(emq({"drain", name, "--dry-run"}).out, "300 jobs would be removed\n");
  EXPECT_EQ(emq({"drain", name, "--delayed", "--dry-run"}).out, "320 jobs would be removed\n");
  EXPECT_EQ(emq({"drain", name}).out, "300 jobs removed\n");
  EXPECT_EQ(emq({"drain", name, "--delayed", "--json"}).json(),
            (json{{"done", 20}, {"skipped", 0}, {"dry_run", false}}));
}

TEST_F(CleanVerbs, ObliterateWantsAYes) {
  add_many(3);
  for (const auto& line : {std::vector<std::string>{"obliterate", name},
                           std::vector<std::string>{"obliterate", name, "--yes", "--dry-run"}}) {
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_NE(run.err.find("--yes"), std::string::npos) << run.err;
  }
  EXPECT_EQ(emq({"obliterate", name, "--dry-run"}).out, "3 jobs would be removed\n");
  EXPECT_EQ(counts().waiting, 3);
  EXPECT_EQ(emq({"obliterate", name, "--yes"}).out, "3 jobs removed\n");
  EXPECT_EQ(dump_queue(redis, name).size(), 4U);
  EXPECT_EQ(emq({"obliterate", name, "--yes", "--all"}).out, "0 jobs removed\n");
  EXPECT_TRUE(dump_queue(redis, name).empty());
  EXPECT_EQ(emq({"obliterate", name, "--yes"}).code, 5);
}

TEST_F(CleanVerbs, ObliterateWhileAJobRuns) {
  const std::string id = queue.add("x").value();
  redis({"LPOP", key_of(Structure::wait)});
  redis({"ZADD", key_of(Structure::active), "9007199254740991", id});
  const auto run = emq({"obliterate", name, "--yes", "--json"});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.error().at("code"), "wrong_state");
  EXPECT_EQ(run.error().at("value"), "1");
  EXPECT_EQ(emq({"obliterate", name, "--yes", "--force"}).out, "1 jobs removed\n");
}

TEST_F(CleanVerbs, SweepOfTheTrash) {
  ASSERT_TRUE(queue.open());
  for (int i = 0; i < 300; ++i) {
    const auto id = "gone" + std::to_string(i);
    redis({"HSET", job_key(name, id), "head", "1:3:job"});
    redis({"SADD", key_of(Structure::trash), id});
  }
  EXPECT_EQ(emq({"sweep", name, "--dry-run"}).out, "300 jobs would be swept\n");
  EXPECT_EQ(emq({"sweep", name, "--limit", "10"}).out, "10 jobs swept\n");
  EmqHow terminal;
  terminal.terminal = true;
  const auto run = emq({"sweep", name}, terminal);
  EXPECT_NE(run.out.find(" of 290"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("290 jobs swept"), std::string::npos) << run.out;
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::trash), job_key(name, "gone7")}).integer, 0);
  EXPECT_EQ(emq({"sweep", name, "--json"}).json(),
            (json{{"done", 0}, {"skipped", 0}, {"dry_run", false}}));
}

TEST_F(CleanVerbs, BadInputIsRefused) {
  add_many(1);
  const std::vector<std::vector<std::string>> lines{
      {"clean", name},
      {"clean", name, "--state", "failed"},
      {"clean", name, "--state", "active", "--older-than", "1h"},
      {"clean", name, "--state", "broken", "--older-than", "1h"},
      {"clean", name, "--state", "failed", "--older-than", "soon"},
      {"clean", name, "--state", "failed", "--older-than=-1h"},
      {"clean", name, "--state", "failed", "--older-than", "1h", "--limit", "0"},
      {"clean", "two words", "--state", "failed", "--older-than", "1h"},
      {"drain", name, "--limit", "0"},
      {"drain", name, "--limit", "some"},
      {"sweep", name, "--limit", "0"},
      {"sweep", "two words"},
      {"obliterate", "two words", "--yes"}};
  for (const auto& line : lines) {
    const auto run = emq(line);
    EXPECT_EQ(run.code, 2) << line.back() << run.out << run.err;
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(counts().waiting, 1);
  EXPECT_EQ(emq({"drain", "nobody"}).code, 5);
  EXPECT_EQ(emq({"sweep", "nobody"}).code, 5);
  EXPECT_EQ(emq({"clean", "nobody", "--state", "failed", "--older-than", "1h"}).code, 5);
}

TEST_F(CleanVerbs, AProgressBarOnATerminal) {
  add_many(600);
  EmqHow terminal;
  terminal.terminal = true;
  const auto run = emq({"drain", name}, terminal);
  EXPECT_NE(run.out.find("] 256 of 600"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("600 jobs removed"), std::string::npos) << run.out;
}

// Killed between two calls: what is left is a paused queue with fewer jobs, and the same command
// ends it.
TEST_F(CleanVerbs, ObliterateIsGoneOnWithAfterAKill) {
  constexpr std::int64_t kJobs = 20'000;
  add_many(kJobs, {.delay = 1h});
  {
    EmqProcess killed({"obliterate", name, "--yes"}, how());
    ASSERT_TRUE(eventually([&] { return counts().delayed < kJobs; }, 20s));
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait().code, 128 + SIGKILL);
  }
  const auto left = counts();
  EXPECT_TRUE(left.paused);
  EXPECT_GT(left.delayed, 0);
  const auto run = emq({"obliterate", name, "--yes", "--json"});
  EXPECT_EQ(run.json().at("done"), left.delayed) << run.err;
  EXPECT_EQ(dump_queue(redis, name).size(), 4U);
  EXPECT_FALSE(counts().paused);
}

}  // namespace
}  // namespace echomq::test
