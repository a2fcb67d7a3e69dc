// SPDX-License-Identifier: MIT
// job/progress: what a handler reports is stored only while its run holds the job.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobProgress : public ScriptTest {};

TEST_F(JobProgress, IsStoredAndTold) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  EXPECT_EQ(statuses(q.progress({{.run = runs.at(1), .value = "10"},
                                 {.run = runs.at(0), .value = "{\"done\":1}"}})),
            "ok ok");
  EXPECT_EQ(q.field("a", "progress"), "{\"done\":1}");
  EXPECT_EQ(q.field("b", "progress"), "10");
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000000000 progress b a]]]");
}

TEST_F(JobProgress, OfARunThatEndedIsStale) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(0)}});
  EXPECT_EQ(statuses(q.progress({{.run = runs.at(0)}, {.run = runs.at(1)}})), "stale ok");
  EXPECT_EQ(q.field("a", "progress"), "(nil)");
  expect_unchanged("stale", [&] { return q.progress({{.run = runs.at(0)}}); });
}

TEST_F(JobProgress, MakesNoPartialHash) {
  q.add({{.id = "a"}, {.id = "b"}});
  const auto runs = q.claim(2).runs;
  redis({"DEL", q.job("a"), q.job("b")});
  redis({"SET", q.job("b"), "foreign"});
  expect_unchanged("gone gone gone", [&] {
    return q.progress({{.run = runs.at(0)}, {.run = runs.at(1)}, {.run = {"never", 1}}});
  });
}

}  // namespace
}  // namespace echomq::test
