// SPDX-License-Identifier: MIT
// job/recover: claims of dead processes come back, once, and never those of the living.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobRecover : public ScriptTest {};

TEST_F(JobRecover, CountsTheStartAndTheCrashAndQueuesTheJobApart) {
  q.add({{.id = "a"}, {.id = "b"}});
  q.claim(2);
  q.now += 60'000;
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(statuses(q.recover(q.peek_expired())), "ok ok");
  EXPECT_EQ(q.run("a"), "1:0:1:0:0::");
  EXPECT_EQ(list(q.keys.crashed), "a b");
  EXPECT_EQ(q.active(), 0);
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000060000 recovered a b]]]");
}

TEST_F(JobRecover, WhatIsNamedTwiceComesBackOnce) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  auto expired = q.peek_expired();
  expired.push_back(expired.at(0));
  EXPECT_EQ(statuses(q.recover(expired)), "ok moved");
  EXPECT_EQ(q.run("a"), "1:0:1:0:0::");
  EXPECT_EQ(list(q.keys.crashed), "a");
}

TEST_F(JobRecover, ALeaseThatLastsIsLeftAlone) {
  q.add({{.id = "a"}});
  const auto claimed = q.claim(1, {.lease_ms = 30'000});
  const auto score = std::to_string(claimed.lease.score());
  // Its last second, and no earlier than the second after it.
  q.now += 30'999;
  EXPECT_TRUE(q.peek_expired().empty());
  expect_unchanged("moved", [&] { return q.recover({{"a", score}}); });
  q.now += 1;
  EXPECT_EQ(q.peek_expired().size(), 1U);
  EXPECT_EQ(statuses(q.recover({{"a", score}})), "ok");
}

// The caller saw the lease expired, and then the worker was heard of again.
TEST_F(JobRecover, AnExtendedLeaseIsLeftAlone) {
  q.add({{.id = "a"}});
  const auto run = q.claim(1, {.lease_ms = 1'000}).runs.at(0);
  q.now += 10'000;
  const auto seen = q.peek_expired();
  ASSERT_EQ(seen.size(), 1U);
  ASSERT_EQ(statuses(q.extend({run}, 1'000)), "ok");
  expect_unchanged("moved", [&] { return q.recover(seen); });
  q.now += 10'000;  // expired again, but under another score than was seen
  expect_unchanged("moved", [&] { return q.recover(seen); });
  EXPECT_EQ(statuses(q.recover(q.peek_expired())), "ok");
}

TEST_F(JobRecover, ASecondRecoveryFindsNothing) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  const auto seen = q.peek_expired();
  EXPECT_EQ(statuses(q.recover(seen)), "ok");
  expect_unchanged("moved", [&] { return q.recover(seen); });
}

TEST_F(JobRecover, OverMaxCrashesTheJobEndsInFailed) {
  q.add({{.id = "a"}, {.id = "b"}});
  for (int crash = 1; crash <= 3; ++crash) {
    ASSERT_EQ(q.claim(1).ids(), "a");
    q.now += 60'000;
    EXPECT_EQ(statuses(q.recover(q.peek_expired(), 2)), crash <= 2 ? "ok" : "done");
    EXPECT_EQ(list(q.keys.crashed), crash <= 2 ? "a" : "");
  }
  EXPECT_EQ(q.run("a"), "3:0:3:0:1800000180000::");
  EXPECT_EQ(q.field("a", "failedReason"),
            "lease expired 3 times: the process died or lost the server while the job ran");
  EXPECT_EQ(q.score(q.keys.failed, "a"), "1800000180000");
  EXPECT_EQ(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})),
            "[[4-0 [at 1800000180000 failed a]]]");
  EXPECT_EQ(q.claim(5).ids(), "b");
}

TEST_F(JobRecover, WhatEndsInFailedCountsForRetentionByBytes) {
  q.keep_failed = {.bytes = 50};
  q.add({{.id = "a", .data = std::string(40, 'd')}, {.id = "b", .data = std::string(30, 'd')}});
  q.claim(2);
  q.now += 60'000;
  const auto seen = q.peek_expired();
  EXPECT_EQ(second(q.recover({seen.at(0)}, 0)), "");
  EXPECT_EQ(dump()[q.keys.sizes_failed], "hash '=40' 'a=40'");
  EXPECT_EQ(second(q.recover({seen.at(1)}, 0)), "a");
  EXPECT_EQ(dump()[q.keys.sizes_failed], "hash '=30' 'b=30'");
}

// The process was not dead after all: its late results change nothing, wherever the job is now.
TEST_F(JobRecover, TheRunThatWasTakenBackIsStaleForGood) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  q.now += 60'000;
  const auto seen = q.peek_expired();
  ASSERT_EQ(statuses(q.recover({seen.at(0)}, 0)), "done");
  ASSERT_EQ(statuses(q.recover({seen.at(1)}, 1)), "ok");
  expect_unchanged("stale stale", [&] {
    return q.finish({{.run = runs.at(0)}, {.run = runs.at(1)}});
  });
  expect_unchanged("stale stale", [&] {
    return q.retry({{.run = runs.at(0)}, {.run = runs.at(1)}});
  });
  expect_unchanged("stale stale", [&] {
    return q.release({{.run = runs.at(0)}, {.run = runs.at(1)}});
  });
  expect_unchanged("stale stale", [&] {
    return q.progress({{.run = runs.at(0)}, {.run = runs.at(1)}});
  });
  expect_unchanged("stale stale", [&] { return q.extend(runs); });
}

TEST_F(JobRecover, AppliesTheRetentionOfFailed) {
  q.keep_failed = {.count = 1};
  q.add({{.id = "a"}, {.id = "b"}});
  q.claim(2);
  q.now += 60'000;
  const auto reply = q.recover(q.peek_expired(), 0);
  EXPECT_EQ(statuses(reply), "done done");
  EXPECT_EQ(second(reply), "a");
  EXPECT_EQ(texts(redis({"SMEMBERS", q.keys.trash})), (std::vector<std::string>{"a"}));
  EXPECT_EQ(texts(redis({"ZRANGE", q.keys.failed, "0", "-1"})), (std::vector<std::string>{"b"}));
}

TEST_F(JobRecover, WhatIsNotKeptGoesAndTakesNoOtherWithIt) {
  q.add({{.id = "a"}, {.id = "b"}});
  q.claim(1);
  q.now += 60'000;
  q.keep_failed = {.count = -1};
  EXPECT_EQ(statuses(q.recover(q.peek_expired(), 0)), "done");
  q.claim(1);
  q.now += 60'000;
  q.keep_failed = {.count = 0};
  const auto reply = q.recover(q.peek_expired(), 0);
  EXPECT_EQ(statuses(reply), "done");
  EXPECT_EQ(second(reply), "b");
  EXPECT_EQ(texts(redis({"SMEMBERS", q.keys.trash})), (std::vector<std::string>{"b"}));
  EXPECT_EQ(texts(redis({"ZRANGE", q.keys.failed, "0", "-1"})), (std::vector<std::string>{"a"}));
}

// B8: no partial hash, and no hash made of counters alone.
TEST_F(JobRecover, B8_AJobWithoutItsHashIsGone) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  q.claim(3);
  redis({"DEL", q.job("a"), q.job("b")});
  redis({"SET", q.job("b"), "foreign"});
  q.now += 60'000;
  EXPECT_EQ(statuses(q.recover(q.peek_expired())), "gone gone ok");
  EXPECT_FALSE(dump().contains(q.job("a")));
  EXPECT_EQ(redis({"GET", q.job("b")}).text, "foreign");
  EXPECT_EQ(list(q.keys.crashed), "c");
  EXPECT_EQ(q.active(), 0);
}

TEST_F(JobRecover, AnswersPerItem) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const auto first = q.claim(2, {.lease_ms = 1'000});
  const auto second_claim = q.claim(1, {.lease_ms = 90'000});
  q.finish({{.run = first.runs.at(0)}});
  q.now += 60'000;
  const auto score = std::to_string(first.lease.score());
  EXPECT_EQ(statuses(q.recover(
                {{"a", score}, {"b", score}, {"c", std::to_string(second_claim.lease.score())}})),
            "moved ok moved");
}

}  // namespace
}  // namespace echomq::test
