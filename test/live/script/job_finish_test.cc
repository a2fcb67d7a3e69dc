// SPDX-License-Identifier: MIT
// job/finish: how a run ends, how often it may be told so, and what retention takes away.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobFinish : public ScriptTest {
 protected:
  // Adds and claims jobs j0..j<count-1>.
  std::vector<JobRun> claim_new(int count) {
    std::vector<JobToAdd> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back({.id = "j" + std::to_string(i)});
    q.add(jobs);
    return q.claim(jobs.size()).runs;
  }
};

TEST_F(JobFinish, CompletesWithResultAndToken) {
  const auto run = claim_new(1).at(0);
  q.now += 2'000;
  EXPECT_EQ(statuses(q.finish({{.run = run, .value = "42", .ats = 3, .atm = 2}})), "ok");
  EXPECT_EQ(dump()[q.job("j0")],
            "hash 'atm=2' 'ats=3' 'data={}' 'finishedOn=1800000002000' 'name=job' "
            "'pb=worker-1' 'processedOn=1800000002000' 'returnvalue=42' 'timestamp=1800000000000' "
            "'tok=" +
                std::to_string(run.token) + "'");
  EXPECT_EQ(q.score(q.keys.completed, "j0"), "1800000002000");
  EXPECT_EQ(q.active(), 0);
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000002000 completed j0]]]");
}

TEST_F(JobFinish, FailsWithAReason) {
  const auto runs = claim_new(2);
  EXPECT_EQ(statuses(q.finish({{.run = runs.at(0)}})), "ok");
  EXPECT_EQ(statuses(q.finish({{.run = runs.at(1), .completed = false, .value = "no disk"}})),
            "ok");
  EXPECT_EQ(q.field("j1", "failedReason"), "no disk");
  EXPECT_EQ(q.field("j1", "returnvalue"), "(nil)");
  EXPECT_EQ(q.score(q.keys.failed, "j1"), "1800000000000");
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000000000 completed j0]] [3-0 [at 1800000000000 failed j1]]]");
}

TEST_F(JobFinish, AnEmptyResultTakesNoField) {
  EXPECT_EQ(statuses(q.finish({{.run = claim_new(1).at(0), .value = ""}})), "ok");
  EXPECT_EQ(q.field("j0", "returnvalue"), "(nil)");
  EXPECT_EQ(q.field("j0", "atm"), "1");
}

TEST_F(JobFinish, ARepeatIsToldDoneAndChangesNothing) {
  const auto run = claim_new(1).at(0);
  q.finish({{.run = run, .value = "first"}});
  q.now += 1'000;
  expect_unchanged("done", [&] { return q.finish({{.run = run, .value = "second"}}); });
  expect_unchanged("done", [&] { return q.finish({{.run = run, .completed = false}}); });
}

TEST_F(JobFinish, DropDeletesTheJob) {
  const auto runs = claim_new(2);
  EXPECT_EQ(statuses(q.finish({{.run = runs.at(0), .drop = true}})), "ok");
  EXPECT_EQ(statuses(q.finish({{.run = runs.at(1), .completed = false, .drop = true}})), "ok");
  for (const auto& [key, content] : dump()) EXPECT_EQ(key.find(":j"), std::string::npos) << key;
  EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 0);
  EXPECT_EQ(redis({"ZCARD", q.keys.failed}).integer, 0);
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000000000 completed j0]] [3-0 [at 1800000000000 failed j1]]]");
}

// Its sub-keys are not declared, so it goes the way of the trash.
TEST_F(JobFinish, DropOfAJobWithSubKeysLeavesThemToTheTrash) {
  const auto runs = claim_new(2);
  redis({"SADD", q.keys.subkeys, "j1"});
  redis({"RPUSH", q.job("j1") + ":logs", "a line"});
  const auto reply =
      q.finish({{.run = runs.at(0), .drop = true}, {.run = runs.at(1), .drop = true}});
  EXPECT_EQ(statuses(reply), "ok ok");
  EXPECT_EQ(second(reply), "j1");
  EXPECT_EQ(show(reply.items.at(2)), "[j1]");
  EXPECT_FALSE(dump().contains(q.job("j0")));
  EXPECT_EQ(show(q.read("j1")), "[]");
  EXPECT_EQ(statuses(q.evict({"j1"}, {"j1"})), "ok");
  for (const auto& [key, content] : dump()) EXPECT_EQ(key.find(":j"), std::string::npos) << key;
}

TEST_F(JobFinish, ARepeatOfADropIsToldGone) {
  const auto run = claim_new(1).at(0);
  q.finish({{.run = run, .drop = true}});
  expect_unchanged("gone", [&] { return q.finish({{.run = run, .drop = true}}); });
  expect_unchanged("gone", [&] { return q.finish({{.run = run}}); });
}

// A worker that was stopped until its lease ran out and the job went to another.
TEST_F(JobFinish, ALateFinishOfAnEarlierRunIsStale) {
  const auto old_run = claim_new(1).at(0);
  q.now += 60'000;
  ASSERT_EQ(statuses(q.recover(q.peek_expired(), 5)), "ok");
  expect_unchanged("stale", [&] { return q.finish({{.run = old_run, .value = "late"}}); });
  const auto new_run = q.claim(1, {.node = 2}).runs.at(0);
  expect_unchanged("stale", [&] { return q.finish({{.run = old_run, .drop = true}}); });
  EXPECT_EQ(statuses(q.finish({{.run = new_run, .value = "right"}})), "ok");
  expect_unchanged("stale", [&] { return q.finish({{.run = old_run, .value = "late"}}); });
  EXPECT_EQ(q.field("j0", "returnvalue"), "right");
}

TEST_F(JobFinish, AnswersPerItem) {
  for (const bool drop : {false, true}) {
    auto runs = claim_new(4);
    q.finish({{.run = runs.at(1)}});
    redis({"DEL", q.job("j2")});
    JobRun foreign = runs.at(3);
    foreign.token ^= 1;
    EXPECT_EQ(statuses(q.finish({{.run = runs.at(0), .drop = drop},
                                 {.run = runs.at(1), .drop = drop},
                                 {.run = runs.at(2), .drop = drop},
                                 {.run = foreign, .drop = drop},
                                 {.run = runs.at(3), .drop = drop}})),
              "ok done gone stale ok");
    delete_queue(redis, q.name());
    q.open();
  }
}

// B8: a hash deleted by hand while the job runs. The claim ends, and no partial hash appears.
TEST_F(JobFinish, B8_AHashDeletedByHandIsGone) {
  for (const bool drop : {false, true}) {
    const auto run = claim_new(1).at(0);
    redis({"DEL", q.job("j0")});
    EXPECT_EQ(statuses(q.finish({{.run = run, .drop = drop}})), "gone");
    EXPECT_FALSE(dump().contains(q.job("j0")));
    EXPECT_EQ(q.active(), 0);
    EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 0);
  }
}

TEST_F(JobFinish, AKeyOfAnotherTypeInTheHashesPlaceIsGone) {
  for (const bool drop : {false, true}) {
    const auto run = claim_new(1).at(0);
    redis({"DEL", q.job("j0")});
    redis({"SET", q.job("j0"), "foreign"});
    EXPECT_EQ(statuses(q.finish({{.run = run, .drop = drop}})), "gone") << "drop " << drop;
    EXPECT_EQ(show(redis({"GET", q.job("j0")})), "foreign") << "drop " << drop;
    EXPECT_EQ(q.active(), 0);
    EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 0);
    redis({"DEL", q.job("j0")});
  }
}

TEST_F(JobFinish, RetentionByCountTakesTheOldest) {
  q.keep_completed = {.count = 2};
  q.keep_failed = {.count = 1};
  const auto runs = claim_new(6);
  std::string evicted;
  for (std::size_t i = 0; i < 6; ++i) {
    q.now += 1'000;
    evicted += second(q.finish({{.run = runs.at(i), .completed = i % 2 == 0}})) + ";";
  }
  // Completed j0 j2 j4, failed j1 j3 j5.
  EXPECT_EQ(evicted, ";;;j1;j0;j3;");
  EXPECT_EQ(texts(redis({"ZRANGE", q.keys.completed, "0", "-1"})),
            (std::vector<std::string>{"j2", "j4"}));
  EXPECT_EQ(texts(redis({"ZRANGE", q.keys.failed, "0", "-1"})), (std::vector<std::string>{"j5"}));
  EXPECT_EQ(redis({"SCARD", q.keys.trash}).integer, 3);
  EXPECT_EQ(q.field("j0", "name"), "job");  // its keys are still to be deleted, by job/evict
}

TEST_F(JobFinish, RetentionByAgeTakesWhatIsOverIt) {
  q.keep_completed = {.age_ms = 10'000};
  const auto runs = claim_new(3);
  q.finish({{.run = runs.at(0)}});
  q.now += 9'999;
  EXPECT_EQ(second(q.finish({{.run = runs.at(1)}})), "");
  q.now += 1;
  EXPECT_EQ(second(q.finish({{.run = runs.at(2)}})), "j0");
}

TEST_F(JobFinish, RetentionIsBoundedACall) {
  std::vector<std::string> words{"ZADD", q.keys.completed};
  for (int i = 0; i < 2'000; ++i) {
    words.push_back(std::to_string(i));
    words.push_back("old-" + std::to_string(i));
  }
  redis(words);
  q.keep_completed = {.count = 10, .age_ms = 1'000};
  const auto reply = q.finish({{.run = claim_new(1).at(0)}});
  ASSERT_EQ(reply.items.size(), 3U);
  EXPECT_EQ(reply.items[1].items.size(), 512U);
  EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 2'001 - 512);
  EXPECT_EQ(redis({"SCARD", q.keys.trash}).integer, 512);
}

}  // namespace
}  // namespace echomq::test
