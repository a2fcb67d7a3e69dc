// SPDX-License-Identifier: MIT
// job/claim: who gets which job, under which lease, and when the next idle worker is woken.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobClaim : public ScriptTest {
 protected:
  // A job that a dead process left: claimed, its lease run out, recovered.
  void add_crashed(const std::string& id) {
    q.add({{.id = id, .lifo = true}});
    ASSERT_EQ(q.claim(1, {.lease_ms = 1'000, .take_crashed = false}).ids(), id);
    q.now += 10'000;
    ASSERT_EQ(statuses(q.recover({{id, q.score(q.keys.active, id)}}, 100)), "ok");
  }
};

TEST_F(JobClaim, MovesReadyJobsUnderOneLeaseAndTouchesNoHash) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const auto hash = dump()[q.job("a")];
  const auto claimed = q.claim(2);
  EXPECT_EQ(claimed.ids(), "a b");
  EXPECT_EQ(claimed.gate(), "open");
  EXPECT_EQ(claimed.left(), 1);
  EXPECT_EQ(q.score(q.keys.active, "a"), std::to_string(claimed.lease.score()));
  EXPECT_EQ(q.score(q.keys.active, "b"), std::to_string(claimed.lease.score()));
  EXPECT_EQ(list(q.keys.wait), "c");
  EXPECT_EQ(dump()[q.job("a")], hash);
}

TEST_F(JobClaim, OfAnEmptyQueueChangesNothing) {
  const auto before = dump();
  const auto claimed = q.claim(10);
  EXPECT_EQ(show(claimed.reply), "[open 0 0 0 0 0 ]");
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(JobClaim, WakesTheNextWorkerOnlyWhileWorkIsLeft) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "p", .priority = 1}});
  redis({"DEL", q.keys.marker});
  q.claim(1);
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(q.claim(2).ids(), "b p");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
}

TEST_F(JobClaim, OfNothingReportsWhatIsThereAndPassesTheWakeOn) {
  q.add({{.id = "a"}, {.id = "p", .priority = 1}});
  redis({"DEL", q.keys.marker});
  const auto claimed = q.claim(0);
  EXPECT_EQ(claimed.ids(), "");
  EXPECT_EQ(claimed.left(), 2);
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
}

TEST_F(JobClaim, APausedQueueGivesNothingAndWakesNobody) {
  q.add({{.id = "a"}});
  add_crashed("c");
  redis({"HSET", q.keys.meta, "pause", "1"});
  redis({"DEL", q.keys.marker});
  const auto before = dump();
  const auto claimed = q.claim(5);
  EXPECT_EQ(claimed.gate(), "paused");
  EXPECT_EQ(claimed.ids(), "");
  EXPECT_EQ(claimed.left(), 1);
  EXPECT_EQ(claimed.crashed_left(), 1);
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(JobClaim, TellsTheNextTimerAndTheOldestLeaseWhenItComesBackShort) {
  q.add(
      {{.id = "a"}, {.id = "b"}, {.id = "late", .delay = 9'000}, {.id = "later", .delay = 20'000}});
  const auto first = q.claim(1);
  EXPECT_EQ(first.due() + " " + first.oldest_lease(), "0 0");  // full: not looked up
  q.now += 5'000;
  const auto second = q.claim(5);
  EXPECT_EQ(second.ids(), "b");
  EXPECT_EQ(second.due(), "1800000009000");
  EXPECT_EQ(second.oldest_lease(), std::to_string(first.lease.score()));
}

// So that of 200 jobs that went down with one aborting job only that one is blamed again.
TEST_F(JobClaim, TakesAtMostOneCrashedJobAndTakesItFirst) {
  add_crashed("x");
  add_crashed("y");
  q.add({{.id = "a"}, {.id = "b"}});
  EXPECT_EQ(list(q.keys.crashed), "x y");
  const auto claimed = q.claim(10);
  EXPECT_EQ(claimed.ids(), "x a b");
  EXPECT_EQ(claimed.crashed_left(), 1);
  EXPECT_EQ(q.claim(10).ids(), "y");
}

TEST_F(JobClaim, TakesNoCrashedJobWhileTheCallerRunsOne) {
  add_crashed("x");
  q.add({{.id = "a"}});
  const auto claimed = q.claim(10, {.take_crashed = false});
  EXPECT_EQ(claimed.ids(), "a");
  EXPECT_EQ(claimed.crashed_left(), 1);
  EXPECT_EQ(list(q.keys.crashed), "x");
}

// A crashed job is work for others, not for a caller that may not take it.
TEST_F(JobClaim, ACrashedJobLeftWakesOnlyThroughAClaimThatCouldTakeIt) {
  add_crashed("x");
  add_crashed("y");
  redis({"DEL", q.keys.marker});
  q.claim(1, {.take_crashed = false});
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
  EXPECT_EQ(q.claim(1).ids(), "x");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
}

TEST_F(JobClaim, AnIdThatIsActiveAlreadyIsDroppedAndNotRunTwice) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto first = q.claim(1);
  redis({"LPUSH", q.keys.wait, "a"});  // an entry too many
  EXPECT_EQ(q.claim(2).ids(), "b");
  EXPECT_EQ(q.score(q.keys.active, "a"), std::to_string(first.lease.score()));
  EXPECT_EQ(list(q.keys.wait), "");
}

TEST_F(JobClaim, AnIdThatWaitsTwiceIsGivenOnce) {
  q.add({{.id = "a"}, {.id = "b"}});
  redis({"RPUSH", q.keys.wait, "a"});
  EXPECT_EQ(q.claim(3).ids(), "a b");
}

TEST_F(JobClaim, TakesTheGreatestBatch) {
  std::vector<JobToAdd> jobs;
  for (int i = 0; i < 256; ++i) jobs.push_back({.id = "j" + std::to_string(i)});
  q.add(jobs);
  EXPECT_EQ(q.claim(256).runs.size(), 256U);
  EXPECT_EQ(q.active(), 256);
}

}  // namespace
}  // namespace echomq::test
