// SPDX-License-Identifier: MIT
// job/extend: the deadline moves, the token stays.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobExtend : public ScriptTest {};

TEST_F(JobExtend, MovesTheDeadlineAndKeepsTheToken) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto claimed = q.claim(2);
  q.now += 20'000;
  EXPECT_EQ(statuses(q.extend({claimed.runs.at(0)})), "ok");
  const auto lease = Lease::from_score(std::stoull(q.score(q.keys.active, "a")));
  EXPECT_EQ(lease.deadline_s, claimed.lease.deadline_s + 20);
  EXPECT_EQ(lease.token(), claimed.lease.token());
  EXPECT_EQ(q.score(q.keys.active, "b"), std::to_string(claimed.lease.score()));
}

TEST_F(JobExtend, ThenFinishWithTheTokenOfTheClaim) {
  q.add({{.id = "a"}});
  const auto run = q.claim(1).runs.at(0);
  q.now += 20'000;
  EXPECT_EQ(statuses(q.extend({run})), "ok");
  EXPECT_EQ(statuses(q.extend({run})), "ok");  // a repeat is harmless
  EXPECT_EQ(statuses(q.finish({{.run = run}})), "ok");
}

TEST_F(JobExtend, AnswersPerItem) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(1)}});
  q.now += 5'000;
  EXPECT_EQ(statuses(q.extend({{"never", 7}, runs.at(0), runs.at(1)})), "stale ok stale");
  EXPECT_EQ(q.active(), 1);
}

TEST_F(JobExtend, ALeaseOfAnotherRunIsStale) {
  q.add({{.id = "a"}});
  const auto old_run = q.claim(1, {.lease_ms = 1'000}).runs.at(0);
  q.now += 10'000;
  q.recover(q.peek_expired(), 5);
  const auto new_run = q.claim(1, {.node = 2}).runs.at(0);
  expect_unchanged("stale", [&] { return q.extend({old_run}); });
  EXPECT_EQ(statuses(q.extend({new_run})), "ok");
}

}  // namespace
}  // namespace echomq::test
