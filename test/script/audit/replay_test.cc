// SPDX-License-Identifier: MIT
// INV4: a script is a function of its keys, its arguments and the stored data. So the calls of one
// server, sent again to an empty one, at another time, leave the same content there.
// INV7 over the same random lives: whatever happens, every job is in exactly one state.
#include <gtest/gtest.h>

#include <string>

#include "support/dump.h"
#include "support/server.h"
#include "support/workload.h"

namespace echomq::test {
namespace {

void replay(RawClient& redis, const Journal& journal) {
  for (const auto& call : journal) {
    redis.send(call);
    const auto reply = redis.receive();
    ASSERT_FALSE(reply.is_error()) << reply.text;
  }
}

class Replay : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Replay, INV4_RecordedCallsGiveTheSameContentOnAnEmptyServer) {
  TestServer first;
  TestServer second;
  auto one = first.connect();
  auto two = second.connect();
  Journal journal;
  ScriptQueue q(one, "replay");
  q.journal = &journal;
  lease_node(one, {.owner = "a"}, &journal);
  Workload(q, GetParam()).run(600);
  lease_node(one, {.now = q.now, .until = q.now + 30'000, .owner = "b"}, &journal);
  replay(two, journal);
  EXPECT_GT(dump_all(one).size(), 20U);
  EXPECT_EQ(difference(dump_all(one), dump_all(two)), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, Replay, testing::Values(11U, 12U));

// The comparison can fail: a script that reads the clock is found.
TEST(ReplayCanFail, AnImpureScriptDiffers) {
  TestServer first;
  TestServer second;
  auto one = first.connect();
  auto two = second.connect();
  Journal journal;
  ScriptQueue q(one, "replay");
  q.journal = &journal;
  q.open();
  q.add({{.id = "a"}});
  std::string impure;
  wire::append_command(impure, {"EVAL",
                                "return redis.call('HSET', KEYS[1], 'at', "
                                "table.concat(redis.call('TIME'), '.'))",
                                "1", q.keys.meta});
  one.send(impure);
  ASSERT_FALSE(one.receive().is_error());
  journal.push_back(impure);
  replay(two, journal);
  const auto different = difference(dump_all(one), dump_all(two));
  EXPECT_EQ(different.substr(0, q.keys.meta.size()), q.keys.meta) << different;
}

class RandomLives : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomLives, INV7_EveryJobIsInExactlyOneState) {
  auto redis = shared_server().connect();
  ScriptQueue q(redis, unique_queue("life"));
  Workload workload(q, GetParam());
  for (int round = 0; round < 20; ++round) {
    workload.run(50);
    for (const auto& wrong : jobs_out_of_state(q))
      ADD_FAILURE() << "round " << round << ": " << wrong;
    if (HasFailure()) return;
  }
  delete_queue(redis, q.name());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLives, testing::Range(100U, 110U));

// The look can fail: each kind of wrong is found.
TEST(RandomLivesCanFail, JobsOutOfStateAreFound) {
  auto redis = shared_server().connect();
  ScriptQueue q(redis, unique_queue("life"));
  q.open();
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  EXPECT_TRUE(jobs_out_of_state(q).empty());
  redis({"ZADD", q.keys.delayed, "1", "a"});
  redis({"LREM", q.keys.wait, "1", "b"});
  redis({"DEL", q.job("c")});
  EXPECT_EQ(jobs_out_of_state(q),
            (std::vector<std::string>{"a is in wait delayed", "c is in wait and has no hash",
                                      "b is in no state"}));
  delete_queue(redis, q.name());
}

}  // namespace
}  // namespace echomq::test
