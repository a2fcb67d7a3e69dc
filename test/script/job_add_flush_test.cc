// SPDX-License-Identifier: MIT
// job/add, repeated: a flush whose reply was lost is sent again, possibly after its jobs are long
// gone.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobAddFlush : public ScriptTest {};

TEST_F(JobAddFlush, TheSameFlushTwiceAddsOnce) {
  const auto add = [&] { return q.add({{.id = "a"}, {.id = "b"}}, {.number = 7}); };
  EXPECT_EQ(statuses(add()), "ok ok");
  expect_unchanged("ok ok", add);
}

TEST_F(JobAddFlush, ARepeatGivesTheFirstAnswerAgain) {
  q.add({{.id = "there"}, {.id = "5", .custom = false}});
  const auto add = [&] {
    return q.add({{.id = "new"}, {.id = "there"}, {.id = "5", .custom = false}, {.id = "new"}},
                 {.lane = "1.1", .number = 1});
  };
  EXPECT_EQ(statuses(add()), "ok dup state dup");
  expect_unchanged("ok dup state dup", add);
}

// The case that asking "does it exist" cannot decide: the job was worked and evicted meanwhile.
TEST_F(JobAddFlush, ARepeatAfterTheJobIsGoneDoesNotBringItBack) {
  const auto add = [&] { return q.add({{.id = "1", .custom = false}}, {.number = 7}); };
  add();
  EXPECT_EQ(statuses(q.finish({{.run = q.claim(1).runs.at(0), .drop = true}})), "ok");
  EXPECT_FALSE(dump().contains(q.job("1")));
  expect_unchanged("ok", add);

  q.keep_completed = {.count = 0};
  const auto second_add = [&] { return q.add({{.id = "a"}}, {.number = 8}); };
  second_add();
  q.finish({{.run = q.claim(1).runs.at(0)}});
  EXPECT_EQ(statuses(q.evict({"a"})), "ok");
  EXPECT_FALSE(dump().contains(q.job("a")));
  expect_unchanged("ok", second_add);
}

TEST_F(JobAddFlush, AnOlderFlushOfTheLaneWasAppliedToo) {
  q.add({{.id = "a"}}, {.number = 7});
  q.add({{.id = "b"}}, {.number = 8});
  expect_unchanged("done", [&] { return q.add({{.id = "a"}}, {.number = 7}); });
}

TEST_F(JobAddFlush, LanesAreApart) {
  q.add({{.id = "a"}}, {.lane = "1.0", .number = 7});
  EXPECT_EQ(statuses(q.add({{.id = "b"}}, {.lane = "1.1", .number = 7})), "ok");
  EXPECT_EQ(statuses(q.add({{.id = "c"}}, {.lane = "2.0", .number = 1})), "ok");
  EXPECT_EQ(list(q.keys.wait), "a b c");
}

TEST_F(JobAddFlush, ANewerGrantStartsItsNumbersOver) {
  q.add({{.id = "a"}}, {.grant = 3, .number = 100});
  EXPECT_EQ(statuses(q.add({{.id = "b"}}, {.grant = 4, .number = 1})), "ok");
  EXPECT_EQ(list(q.keys.wait), "a b");
}

// Compared as numbers: 9 is older than 10.
TEST_F(JobAddFlush, NumbersOfDifferentLengthsAreInOrder) {
  q.add({{.id = "a"}}, {.grant = 9, .number = 9});
  EXPECT_EQ(statuses(q.add({{.id = "b"}}, {.grant = 9, .number = 10})), "ok");
  EXPECT_EQ(statuses(q.add({{.id = "c"}}, {.grant = 10, .number = 1})), "ok");
  expect_refused("EMQARG", [&] { return q.add({{.id = "d"}}, {.grant = 9, .number = 11}); });
}

// A process that was paused until its node id went to another: its late adds are refused.
TEST_F(JobAddFlush, AnOlderGrantIsRefused) {
  q.add({{.id = "a"}}, {.grant = 4, .number = 1});
  expect_refused("EMQARG the node id is held by a newer process",
                 [&] { return q.add({{.id = "b"}}, {.grant = 3, .number = 100}); });
}

TEST_F(JobAddFlush, AnUnreadableEntryIsRefused) {
  redis({"HSET", q.keys.producers, "1.0", "what is this"});
  expect_refused("EMQARG producers holds an entry of an unknown form",
                 [&] { return q.add({{.id = "a"}}); });
}

// A flush that was refused was not applied, so the same one again stores its jobs.
TEST_F(JobAddFlush, ARefusedFlushMayBeSentAgain) {
  const auto add = [&] { return q.add({{.id = "a", .priority = 1}}, {.number = 7}); };
  for (const auto& key :
       {q.keys.prioritized, q.keys.wait, q.keys.delayed, q.keys.crashed, q.keys.trash}) {
    redis({"SET", key, "foreign"});
    expect_refused("WRONGTYPE", add);
    redis({"DEL", key});
  }
  EXPECT_EQ(statuses(add()), "ok");
  EXPECT_EQ(q.claim(1).ids(), "a");
}

}  // namespace
}  // namespace echomq::test
