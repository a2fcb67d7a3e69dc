// SPDX-License-Identifier: MIT
// job/log, job/read_logs and job/update: what a job holds beside its life.
#include <gtest/gtest.h>

#include <string>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobLog : public ScriptTest {};

TEST_F(JobLog, KeepsTheNewestLines) {
  q.add({{.id = "a"}, {.id = "b"}});
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(statuses(q.log({{.id = "a", .line = std::to_string(i)}, {.id = "b"}}, 3)), "ok ok");
  EXPECT_EQ(show(q.read_logs("a")), "[3 2 3 4]");
  EXPECT_EQ(show(q.read_logs("a", 1, 1)), "[3 3]");
  EXPECT_EQ(show(q.read_logs("a", -2, -1)), "[3 3 4]");
  EXPECT_EQ(redis({"SISMEMBER", q.keys.subkeys, "a"}).integer, 1);
}

TEST_F(JobLog, SeveralLinesOfOneJobInOneCall) {
  q.add({{.id = "a"}});
  EXPECT_EQ(statuses(q.log({{.id = "a", .line = "1"}, {.id = "a", .line = "2"}})), "ok ok");
  EXPECT_EQ(show(q.read_logs("a")), "[2 1 2]");
}

TEST_F(JobLog, ARunThatLostItsLeaseIsStale) {
  q.add({{.id = "a"}});
  const auto run = q.claim(1).runs.at(0);
  const auto token = std::to_string(run.token);
  EXPECT_EQ(statuses(q.log({{.id = "a", .token = token}})), "ok");
  q.finish({{.run = run}});
  expect_unchanged("stale", [&] { return q.log({{.id = "a", .token = token}}); });
  EXPECT_EQ(statuses(q.log({{.id = "a"}})), "ok") << "of no run, so at any time";
}

TEST_F(JobLog, OfNoJobIsGone) {
  q.keep_completed = {.count = 0};
  q.add({{.id = "evicted"}});
  q.finish({{.run = q.claim(1).runs.at(0)}});
  redis({"SET", q.job("foreign"), "x"});
  expect_unchanged("gone gone gone", [&] {
    return q.log({{.id = "evicted"}, {.id = "never"}, {.id = "foreign"}});
  });
  EXPECT_EQ(show(q.read_logs("evicted")), "[]");
  EXPECT_EQ(show(q.read_logs("never")), "[]");
}

TEST_F(JobLog, AJobWithoutLinesHasNone) {
  q.add({{.id = "a"}});
  EXPECT_EQ(show(q.read_logs("a")), "[0]");
}

class JobUpdate : public ScriptTest {};

TEST_F(JobUpdate, ReplacesTheDataInAnyState) {
  q.add({{.id = "a", .data = "old"}, {.id = "d", .delay = 500, .data = "old"}});
  EXPECT_EQ(statuses(q.update("d", "new")), "ok");
  EXPECT_EQ(q.field("d", "data"), "new");
  q.claim(1);
  EXPECT_EQ(statuses(q.update("a", "new")), "ok");
  EXPECT_EQ(q.field("a", "data"), "new");
}

TEST_F(JobUpdate, ARunThatLostItsLeaseIsStale) {
  q.add({{.id = "a", .data = "old"}});
  const auto run = q.claim(1).runs.at(0);
  const auto token = std::to_string(run.token);
  EXPECT_EQ(statuses(q.update("a", "step 2", token)), "ok");
  q.finish({{.run = run}});
  expect_unchanged("stale", [&] { return q.update("a", "step 3", token); });
  EXPECT_EQ(q.field("a", "data"), "step 2");
}

TEST_F(JobUpdate, MakesNoPartialHash) {
  redis({"SET", q.job("foreign"), "x"});
  expect_unchanged("gone", [&] { return q.update("never", "new"); });
  expect_unchanged("gone", [&] { return q.update("foreign", "new"); });
  q.keep_completed = {.count = 0};
  q.add({{.id = "evicted"}});
  q.finish({{.run = q.claim(1).runs.at(0)}});
  expect_unchanged("gone", [&] { return q.update("evicted", "new"); });
}

}  // namespace
}  // namespace echomq::test
