// SPDX-License-Identifier: MIT
// job/release: unstarted jobs go back to where they were taken from, at the price of nothing.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobRelease : public ScriptTest {
 protected:
  static std::vector<Release> all(const std::vector<JobRun>& runs) {
    std::vector<Release> items;
    for (const auto& run : runs) items.push_back({.run = run});
    return items;
  }
};

// P26: a shutdown costs no attempt, and what was fetched ahead keeps its order.
TEST_F(JobRelease, P26_RestoresTheOrderAndTheHash) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}});
  q.add({{.id = "q2", .priority = 2}, {.id = "q1", .priority = 1}, {.id = "r1", .priority = 1}});
  const auto before = dump();
  const auto runs = q.claim(6).runs;
  ASSERT_EQ(runs.size(), 6U);
  EXPECT_EQ(statuses(q.release(all(runs))), "ok ok ok ok ok ok");
  auto after = dump();
  EXPECT_NE(after[q.keys.events], before.at(q.keys.events));  // released
  EXPECT_NE(after[q.keys.meta], before.at(q.keys.meta));      // the number of the event
  for (const auto& key : {q.keys.events, q.keys.meta}) after[key] = before.at(key);
  EXPECT_EQ(difference(before, after), "");
  EXPECT_EQ(q.claim(7).ids(), "a b c d q1 r1 q2");
}

TEST_F(JobRelease, GoesInFrontOfWhatWaitsMeanwhile) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const auto runs = q.claim(2).runs;
  q.add({{.id = "d"}});
  q.release(all(runs));
  EXPECT_EQ(q.claim(4).ids(), "a b c d");
}

TEST_F(JobRelease, RecordsAStartOnlyWhereThereWasOne) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  q.release({{.run = runs.at(0), .ats = 3}, {.run = runs.at(1)}});
  EXPECT_EQ(q.run("a"), "3:0:0:0:0::");
  EXPECT_EQ(q.run("b"), "(nil)");
}

TEST_F(JobRelease, SeveralThatCrashedGoBackInTheOrderInWhichTheyWereTaken) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  q.claim(3);
  q.now += 60'000;
  q.recover(q.peek_expired(), 5);
  std::vector<JobRun> runs;
  for (int i = 0; i < 2; ++i) runs.push_back(q.claim(1).runs.at(0));
  EXPECT_EQ(statuses(q.release(all(runs))), "ok ok");
  EXPECT_EQ(list(q.keys.crashed), "c a b");
}

TEST_F(JobRelease, ACrashedJobGoesBackToItsLane) {
  q.add({{.id = "a"}});
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired(), 5);
  const auto runs = q.claim(1).runs;
  EXPECT_EQ(statuses(q.release(all(runs))), "ok");
  EXPECT_EQ(list(q.keys.crashed), "a");
}

TEST_F(JobRelease, AnswersPerItem) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const auto runs = q.claim(3).runs;
  q.finish({{.run = runs.at(0)}});
  redis({"DEL", q.job("b")});
  EXPECT_EQ(statuses(q.release(all(runs))), "stale gone ok");
  EXPECT_EQ(list(q.keys.wait), "c");
  EXPECT_FALSE(dump().contains(q.job("b")));
  EXPECT_EQ(q.active(), 0);
  expect_unchanged("stale gone stale", [&] { return q.release(all(runs)); });
}

TEST_F(JobRelease, AKeyOfAnotherTypeInTheHashesPlaceIsGone) {
  q.add({{.id = "a"}});
  const auto runs = q.claim(1).runs;
  redis({"DEL", q.job("a")});
  redis({"SET", q.job("a"), "foreign"});
  EXPECT_EQ(statuses(q.release({{.run = runs.at(0), .ats = 1}})), "gone");
  EXPECT_EQ(redis({"GET", q.job("a")}).text, "foreign");
  EXPECT_EQ(list(q.keys.wait), "");
}

TEST_F(JobRelease, WakesAWorkerUnlessPaused) {
  q.add({{.id = "a"}});
  auto runs = q.claim(1).runs;
  q.release(all(runs));
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  runs = q.claim(1).runs;
  redis({"DEL", q.keys.marker});
  redis({"HSET", q.keys.meta, "pause", "1"});
  q.release(all(runs));
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
}

}  // namespace
}  // namespace echomq::test
