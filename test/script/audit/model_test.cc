// SPDX-License-Identifier: MIT
// The scripts against a model of them that is a few maps and lists in memory, and always tells the
// truth (support/model/queue_model.h): random calls of several clients, all answers compared, and
// after each of them all that stands on the server. The calls of each run, sent again to an empty
// server, leave the same there (INV4); every job is in exactly one state at any time (INV7).
//
// A failure prints the seed and the few steps that it takes. For a long hunt:
//   ECHOMQ_MODEL_SEEDS=1000:2000 ECHOMQ_MODEL_STEPS=1500 script_tests --gtest_filter='*Model*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/model/life.h"
#include "support/model/side_by_side.h"
#include "support/server.h"
#include "wire/command.h"

namespace echomq::test {
namespace {

struct Played {
  std::vector<Step> steps;
  std::string different;
};

// Runs a life of so many steps, or until something differs.
Played play(SideBySide& both, Life& life, std::size_t count) {
  Played played;
  while (played.steps.size() < count && played.different.empty()) {
    played.steps.push_back(life.next());
    played.different = both.run(played.steps.back());
  }
  return played;
}

std::size_t steps_or(std::size_t otherwise) {
  const char* const text = std::getenv("ECHOMQ_MODEL_STEPS");
  return text == nullptr ? otherwise : std::stoul(text);
}

std::vector<std::uint32_t> seeds() {
  std::uint32_t first = 1;
  std::uint32_t end = 8;
  if (const char* const text = std::getenv("ECHOMQ_MODEL_SEEDS")) {
    const std::string range = text;
    const auto colon = range.find(':');
    first = static_cast<std::uint32_t>(std::stoul(range));
    end = colon == std::string::npos
              ? first + 1
              : static_cast<std::uint32_t>(std::stoul(range.substr(colon + 1)));
  }
  std::vector<std::uint32_t> all;
  for (auto seed = first; seed < end; ++seed) all.push_back(seed);
  return all;
}

// Two servers of their own: one for the calls, one for their repetition.
class OnTwoServers {
 protected:
  static void start() {
    first_ = std::make_unique<TestServer>();
    second_ = std::make_unique<TestServer>();
  }
  static void end() {
    first_.reset();
    second_.reset();
  }
  static const TestServer& server() { return *first_; }

  // What differs when the calls are made again on an empty server.
  static std::string difference_of_replay(SideBySide& both) {
    auto redis = second_->connect();
    redis({"FLUSHALL"});
    replay(redis, both.journal);
    return difference(dump_all(both.redis()), dump_all(redis));
  }

 private:
  static inline std::unique_ptr<TestServer> first_;
  static inline std::unique_ptr<TestServer> second_;
};

class Model : public testing::TestWithParam<std::uint32_t>, protected OnTwoServers {
 protected:
  static void SetUpTestSuite() { start(); }
  static void TearDownTestSuite() { end(); }
};

TEST_P(Model, INV4_INV7_TheScriptsAnswerAndKeepWhatItSaysAndReplayToTheSame) {
  const auto seed = GetParam();
  const bool is_long = seed % 7 == 0;  // some with a line in which ghosts are left
  SideBySide both(server(), Life::kClients);
  Life life(both.model, seed, is_long);
  const auto played = play(both, life, steps_or(is_long ? 70 : 400));
  if (!played.different.empty()) {
    auto few = shrunk(server(), Life::kClients, played.steps);
    const auto different = difference_after(server(), Life::kClients, few);
    FAIL() << "seed " << seed << ", after " << played.steps.size() << " steps; these are enough:\n"
           << texts_of(few) << "(model -> server) " << different;
  }
  EXPECT_EQ(difference_of_replay(both), "") << "seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Seeds, Model, testing::ValuesIn(seeds()));

// The comparisons can fail.
class ModelCanFail : public testing::Test, protected OnTwoServers {
 protected:
  static void SetUpTestSuite() { start(); }
  static void TearDownTestSuite() { end(); }

  SideBySide both{server(), Life::kClients};
  Life life{both.model, 1};
};

// A rule that is not so: an add wakes nobody while a priority is used. It is found, and what it
// takes is an open queue and one such add.
TEST_F(ModelCanFail, AWrongRuleIsFoundAndShrunkToTheCallsThatItTakes) {
  Played played;
  while (played.steps.size() < 400 && played.different.empty()) {
    auto step = life.next();
    if (step.text.starts_with("add ")) {
      step.of_model = [right = step.of_model](QueueModel& model) {
        auto answer = right(model);
        if (!model.prioritized.empty()) model.marker.erase("0");
        return answer;
      };
    }
    played.steps.push_back(step);
    played.different = both.run(played.steps.back());
  }
  ASSERT_NE(played.different.find(both.model.keys.marker + ": "), std::string::npos)
      << played.different;
  auto few = shrunk(server(), Life::kClients, played.steps);
  EXPECT_LE(few.size(), 3U) << texts_of(few);
  EXPECT_NE(difference_after(server(), Life::kClients, few), "");
}

TEST_F(ModelCanFail, AWrongAnswerIsFound) {
  both.run(life.next());
  Step step = life.next();
  const std::string right = both.run(step);
  step.of_model = [](QueueModel&) { return "[another]"; };
  EXPECT_EQ(right, "");
  EXPECT_EQ(both.run(step).substr(0, 21), "answered: [another] -");
}

// Each kind of key, changed behind the scripts' back.
TEST_F(ModelCanFail, AChangedKeyIsFound) {
  ASSERT_EQ(play(both, life, 300).different, "");
  const auto& k = both.model.keys;
  const auto job = "emq:{model}:" + both.model.jobs.begin()->first;
  const std::vector<std::vector<std::string>> changes{{"HSET", job, "progress", "odd"},
                                                      {"RPUSH", k.wait, "odd"},
                                                      {"ZADD", k.delayed, "1", "odd"},
                                                      {"ZADD", k.active, "1", "odd"},
                                                      {"SADD", k.trash, "odd"},
                                                      {"HSET", k.producers, "odd", "1:1:"},
                                                      {"SET", k.id, "1"},
                                                      {"XTRIM", k.events, "MAXLEN", "0"},
                                                      {"RPUSH", job + ":logs", "odd"},
                                                      {"SET", "emq:{model}:odd", "1"}};
  ASSERT_EQ(both.difference(), "");
  for (const auto& change : changes) {
    const auto saved = both.redis()({"DUMP", change[1]}).text;
    both.redis()(change);
    EXPECT_EQ(both.difference().substr(0, change[1].size() + 2), change[1] + ": ");
    both.redis()({"DEL", change[1]});
    if (!saved.empty()) both.redis()({"RESTORE", change[1], "0", saved});
    ASSERT_EQ(both.difference(), "") << change[1];
  }
}

TEST_F(ModelCanFail, JobsOutOfStateAreFound) {
  QueueModel model("life");
  model.open();
  model.add({{.id = "a"}, {.id = "b"}, {.id = "c"}}, {.number = 1});
  EXPECT_EQ(jobs_out_of_state(model), Ids());
  model.delayed["a"] = 1;
  std::erase(model.wait, "b");
  model.jobs.erase("c");
  EXPECT_EQ(jobs_out_of_state(model),
            (Ids{"a is in wait delayed", "c is in wait and has no hash", "b is in no state"}));
}

// A script that reads the clock leaves something else when it is called again.
TEST_F(ModelCanFail, AnImpureScriptDiffersWhenItIsReplayed) {
  ASSERT_EQ(play(both, life, 50).different, "");
  ASSERT_EQ(difference_of_replay(both), "");
  const auto& meta = both.model.keys.meta;
  std::string impure;
  wire::append_command(impure, {"EVAL",
                                "return redis.call('HSET', KEYS[1], 'at', "
                                "table.concat(redis.call('TIME'), '.'))",
                                "1", meta});
  both.redis().send(impure);
  ASSERT_FALSE(both.redis().receive().is_error());
  both.journal.push_back(impure);
  const auto different = difference_of_replay(both);
  EXPECT_EQ(different.substr(0, meta.size()), meta) << different;
}

}  // namespace
}  // namespace echomq::test
