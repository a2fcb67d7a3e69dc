// SPDX-License-Identifier: MIT
// job/add: what an added job looks like, where it waits, and which ids are refused.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobAdd : public ScriptTest {};

TEST_F(JobAdd, StoresTheJobAndPutsItInWait) {
  EXPECT_EQ(
      statuses(q.add({{.id = "a", .name = "mail", .data = "hello", .opts = R"({"attempts":3})"}})),
      "ok");
  EXPECT_EQ(dump()[q.job("a")], R"(hash 'data=hello' 'head=1800000000000:4:mail{"attempts":3}')");
  EXPECT_EQ(list(q.keys.wait), "a");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
}

TEST_F(JobAdd, DataIsBytes) {
  const std::string bytes("\0\r\n$-1\r\n\xff\xfe ' \"", 14);
  q.add({{.id = "a", .data = bytes}});
  EXPECT_EQ(redis({"HGET", q.job("a"), "data"}).text, bytes);
}

TEST_F(JobAdd, IsFirstInFirstOut) {
  q.add({{.id = "c"}, {.id = "a"}});
  q.add({{.id = "b"}});
  EXPECT_EQ(q.claim(3).ids(), "c a b");
}

TEST_F(JobAdd, LifoGoesFirstAndTheLastOneFirstOfAll) {
  q.add({{.id = "a"}, {.id = "b"}});
  q.add({{.id = "x", .lifo = true}, {.id = "c"}, {.id = "y", .lifo = true}});
  EXPECT_EQ(q.field("x", "lifo"), "1");
  EXPECT_EQ(q.claim(5).ids(), "y x a b c");
}

TEST_F(JobAdd, PrioritiesComeAfterWaitInTheirOrder) {
  q.add({{.id = "low", .priority = 5}, {.id = "high", .priority = 1}, {.id = "none"}});
  q.add({{.id = "low2", .priority = 5}, {.id = "high2", .priority = 1}});
  EXPECT_EQ(q.field("low", "priority"), "5");
  EXPECT_EQ(q.field("low", "place"), q.score(q.keys.prioritized, "low"));
  EXPECT_EQ(q.claim(5).ids(), "none high high2 low low2");
}

TEST_F(JobAdd, ADelayedJobIsDueLaterAndSetsTheTimer) {
  q.add({{.id = "later", .delay = 60'000}, {.id = "soon", .delay = 1'000, .priority = 7}});
  EXPECT_EQ(q.score(q.keys.delayed, "later"), "1800000060000");
  EXPECT_EQ(q.score(q.keys.delayed, "soon"), "1800000001000");
  EXPECT_EQ(q.field("later", "delay"), "60000");
  EXPECT_EQ(q.field("soon", "place"), "(nil)");  // it gets one when it is ready
  EXPECT_EQ(q.score(q.keys.marker, "1"), "1800000001000");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");  // nothing is ready
  EXPECT_EQ(q.claim(2).ids(), "");
}

// B18: both markers stand side by side, and a later timer does not replace an earlier one.
TEST_F(JobAdd, B18_AReadyJobAfterADelayedOneStillWakes) {
  q.add({{.id = "soon", .delay = 1'000}});
  q.add({{.id = "later", .delay = 3'600'000}});
  q.add({{.id = "now"}});
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(q.score(q.keys.marker, "1"), "1800000001000");
}

TEST_F(JobAdd, APausedQueueTakesJobsAndWakesNobody) {
  redis({"HSET", q.keys.meta, "pause", "1"});
  EXPECT_EQ(statuses(q.add({{.id = "a"}})), "ok");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
  EXPECT_EQ(list(q.keys.wait), "a");
}

TEST_F(JobAdd, TellsOneEventForTheWholeBatch) {
  q.add({{.id = "a"}, {.id = "b", .delay = 5}});
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "-", "+"})),
            "[[1-0 [at 1800000000000 added a b delayed b]]]");
  q.add({{.id = "c"}});
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})), "[[2-0 [at 1800000000000 added c]]]");
}

TEST_F(JobAdd, TheEventStreamIsCapped) {
  redis({"HSET", q.keys.meta, "event_cap", "100"});
  for (int i = 0; i < 1'000; ++i) q.add({{.id = "j" + std::to_string(i)}});
  // Approximate by design: whole nodes of 100 entries (the server's default) are dropped.
  EXPECT_LE(redis({"XLEN", q.keys.events}).integer, 200);
  EXPECT_EQ(q.field("j999", "head"), "1800000000000:3:job");
}

TEST_F(JobAdd, AnExistingCustomIdIsADuplicateAndStaysAsItIs) {
  q.add({{.id = "a", .data = "first"}});
  EXPECT_EQ(statuses(q.add({{.id = "a", .data = "second"}, {.id = "b"}})), "dup ok");
  EXPECT_EQ(q.field("a", "data"), "first");
  EXPECT_EQ(list(q.keys.wait), "a b");
}

TEST_F(JobAdd, ADuplicateWithinOneBatchIsStoredOnce) {
  EXPECT_EQ(
      statuses(q.add({{.id = "a", .data = "first"}, {.id = "a", .data = "second"}, {.id = "b"}})),
      "ok dup ok");
  EXPECT_EQ(q.field("a", "data"), "first");
  EXPECT_EQ(list(q.keys.wait), "a b");
}

TEST_F(JobAdd, ADuplicateIsOneWhateverStateTheJobIsIn) {
  q.add({{.id = "runs"}, {.id = "ended"}, {.id = "later", .delay = 1'000}});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(1)}});
  EXPECT_EQ(statuses(q.add({{.id = "runs"}, {.id = "ended"}, {.id = "later"}})), "dup dup dup");
  EXPECT_EQ(list(q.keys.wait), "");
}

// Two processes that mint under one node id: neither may believe that its job is stored.
TEST_F(JobAdd, AMintedIdThatExistsIsACollision) {
  const std::string id = "274557032793636864";
  EXPECT_EQ(statuses(q.add({{.id = id, .custom = false, .data = "first"}})), "ok");
  EXPECT_EQ(statuses(q.add({{.id = id, .custom = false, .data = "second"},
                            {.id = "274557032793636865", .custom = false}})),
            "state ok");
  EXPECT_EQ(q.field(id, "data"), "first");
}

TEST_F(JobAdd, AForeignKeyInTheJobsPlaceIsNotOverwritten) {
  redis({"SET", q.job("a"), "foreign"});
  redis({"SET", q.job("1"), "foreign"});
  EXPECT_EQ(statuses(q.add({{.id = "a"}, {.id = "1", .custom = false}})), "dup state");
  EXPECT_EQ(redis({"GET", q.job("a")}).text, "foreign");
  EXPECT_EQ(redis({"GET", q.job("1")}).text, "foreign");
}

// The trash holds finished jobs whose keys are not deleted yet. An add of such an id starts over:
// it takes the id out, so that the sweep cannot delete the new job, and inherits nothing.
TEST_F(JobAdd, TakesAnIdBackFromTheTrash) {
  q.keep_completed = {.count = 0};
  q.add({{.id = "a", .data = "old"}});
  redis({"RPUSH", q.job("a") + ":logs", "a line"});
  redis({"HSET", q.job("a") + ":checkpoint", "step", "7"});
  const auto finished = q.finish({{.run = q.claim(1).runs.at(0)}});
  EXPECT_EQ(second(finished), "a");
  EXPECT_EQ(statuses(q.add({{.id = "a", .data = "new"}, {.id = "a", .data = "newer"}})), "ok dup");
  EXPECT_EQ(dump()[q.job("a")], "hash 'data=new' 'head=1800000000000:3:job'");
  EXPECT_FALSE(dump().contains(q.job("a") + ":logs"));
  EXPECT_FALSE(dump().contains(q.job("a") + ":checkpoint"));
  // The sweep that comes too late.
  EXPECT_EQ(statuses(q.evict({"a"})), "moved");
  EXPECT_EQ(q.claim(1).ids(), "a");
}

TEST_F(JobAdd, B48_BeyondTheLengthOfTheQueueEachJobIsRefused) {
  q.limit({.length = "3"});
  q.add({{.id = "a"}, {.id = "b", .delay = 1'000}});
  EXPECT_EQ(statuses(q.add({{.id = "c", .priority = 1}, {.id = "d"}, {.id = "a"}},
                           {.lane = "1.1", .number = 7})),
            "ok full dup");
  const auto before = dump();
  EXPECT_EQ(statuses(q.add({{.id = "c", .priority = 1}, {.id = "d"}, {.id = "a"}},
                           {.lane = "1.1", .number = 7})),
            "ok full dup");
  EXPECT_EQ(statuses(q.add({{.id = "274557032793636864", .custom = false}},
                           {.lane = "1.1", .number = 8})),
            "full");
  EXPECT_FALSE(dump().contains(q.job("d")));
  EXPECT_EQ(before.size(), dump().size());
  // What runs does not count, nor do the empty entries that removed jobs leave.
  q.claim(1);
  EXPECT_EQ(statuses(q.add({{.id = "d"}, {.id = "e"}})), "ok full");
  redis({"RPUSH", q.keys.wait, ""});
  redis({"HSET", q.keys.ghosts, "wait", "1"});
  q.claim(1);
  EXPECT_EQ(statuses(q.add({{.id = "e"}})), "ok");
  q.limit({.length = "0"});
  EXPECT_EQ(statuses(q.add({{.id = "f"}})), "ok");
}

TEST_F(JobAdd, ABatchOfTheGreatestSizeIsStored) {
  std::vector<JobToAdd> jobs;
  for (int i = 0; i < 256; ++i) jobs.push_back({.id = "j" + std::to_string(i), .priority = 1});
  const auto reply = q.add(jobs);
  ASSERT_EQ(reply.items.size(), 256U);
  for (const auto& status : reply.items) EXPECT_EQ(status.text, "ok");
  EXPECT_EQ(redis({"ZCARD", q.keys.prioritized}).integer, 256);
}

}  // namespace
}  // namespace echomq::test
