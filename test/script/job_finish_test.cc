// SPDX-License-Identifier: MIT
// job/finish: how a run ends, how often it may be told so, and what retention takes away.
#include <gtest/gtest.h>

#include "support/script_test.h"
#include "wire/reply_form.h"

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
            "hash 'data={}' 'head=1800000000000:3:job' 'returnvalue=42' "
            "'run=3:2:0:1800000002000:1800000002000:" +
                std::to_string(run.token) + ":worker-1'");
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
  EXPECT_TRUE(q.run("j0").starts_with("1:1:0:")) << q.run("j0");
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

// Whatever order they end in, and where an extension is unknown to who ends them.
TEST_F(JobFinish, JobsOfSeveralClaimsEndInOneCall) {
  std::vector<JobToAdd> jobs;
  for (int i = 0; i < 9; ++i) jobs.push_back({.id = "j" + std::to_string(i)});
  q.add(jobs);
  const auto first = q.claim(4).runs;
  const auto second_claim = q.claim(4).runs;
  const auto third = q.claim(1).runs;
  q.now += 5'000;
  ASSERT_EQ(statuses(q.extend({first.at(1), third.at(0)})), "ok ok");
  auto foreign = second_claim.at(1);
  foreign.token = first.at(0).token;
  EXPECT_EQ(statuses(q.finish({{.run = first.at(3)},
                               {.run = second_claim.at(0)},
                               {.run = first.at(1)},
                               {.run = foreign},
                               {.run = third.at(0)},
                               {.run = first.at(3)},
                               {.run = first.at(0)}})),
            "ok ok ok stale ok done ok");
  EXPECT_EQ(q.active(), 4);
  EXPECT_EQ(statuses(q.finish({{.run = second_claim.at(1)}, {.run = second_claim.at(2)}})),
            "ok ok");
  EXPECT_EQ(statuses(q.finish({{.run = second_claim.at(3)}, {.run = second_claim.at(3)}})),
            "ok done");
}

TEST_F(JobFinish, EndsThatTellOfFewerJobsAreRefused) {
  const auto runs = claim_new(2);
  for (const char* const ends : {"", "1:7:1:1:0:5:0:", "2:7:1:1:0:5:", "two"})
    expect_unchanged("EMQARG ends tells of fewer jobs than there are", [&] {
      return q.finish({{.run = runs.at(0)}, {.run = runs.at(1)}}, {.ends = ends});
    });
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
  EXPECT_EQ(q.field("j0", "head"),
            "1800000000000:3:job");  // its keys are still to be deleted, by job/evict
}

// What the caller saw as the oldest and declared is deleted at once, and told of by its number.
TEST_F(JobFinish, DeclaredOldestAreDeletedAtOnce) {
  q.keep_completed = {.count = 3};
  const auto runs = claim_new(10);
  for (std::size_t i = 0; i < 4; ++i) {
    q.now += 1'000;
    q.finish({{.run = runs.at(i)}}, {.peek = 2});
  }
  // j0 went to trash: nobody had seen it.
  EXPECT_EQ(show(redis({"SMEMBERS", q.keys.trash})), "[j0]");
  q.now += 1'000;
  const auto reply =
      q.finish({{.run = runs.at(4)}, {.run = runs.at(5)}}, {.oldest = {"j1", "j2"}, .peek = 2});
  EXPECT_EQ(show(reply), "[[ok ok]  [] j3 j4 2]");
  EXPECT_EQ(texts(redis({"ZRANGE", q.keys.completed, "0", "-1"})),
            (std::vector<std::string>{"j3", "j4", "j5"}));
  EXPECT_FALSE(dump().contains(q.job("j1")));
  EXPECT_FALSE(dump().contains(q.job("j2")));
  EXPECT_EQ(redis({"SCARD", q.keys.trash}).integer, 1);
  // More end than were seen: the others go to trash.
  q.now += 1'000;
  EXPECT_EQ(show(q.finish({{.run = runs.at(6)}, {.run = runs.at(7)}}, {.oldest = {"j3"}})),
            "[[ok ok] j4 []  1]");
  EXPECT_FALSE(dump().contains(q.job("j3")));
  EXPECT_TRUE(dump().contains(q.job("j4")));
}

TEST_F(JobFinish, DeclaredOldestThatAreNoneStay) {
  q.keep_completed = {.count = 2};
  auto runs = claim_new(6);
  for (std::size_t i = 0; i < 2; ++i) {
    q.now += 1'000;
    q.finish({{.run = runs.at(i)}});
  }
  // j0 ran once more since it was seen, so j1 is the oldest.
  ASSERT_EQ(statuses(q.retry_finished({"j0"})), "ok");
  q.now += 1'000;
  ASSERT_EQ(statuses(q.finish({{.run = q.claim(1).runs.at(0)}})), "ok");
  q.now += 1'000;
  EXPECT_EQ(show(q.finish({{.run = runs.at(2)}}, {.oldest = {"j0"}, .peek = 1})),
            "[[ok] j1 [] j0 0]");
  EXPECT_EQ(q.score(q.keys.completed, "j0"), "1800000003000");
  EXPECT_TRUE(dump().contains(q.job("j0")));
  // Nothing is over: nothing goes.
  q.keep_completed = {.count = 5};
  EXPECT_EQ(show(q.finish({{.run = runs.at(3)}}, {.oldest = {"j0"}, .peek = 1})), "[[ok]  []  0]");
  EXPECT_TRUE(dump().contains(q.job("j0")));
  // One that has sub-keys goes the way through trash, where they are declared.
  q.keep_completed = {.count = 3};
  redis({"SADD", q.keys.subkeys, "j0"});
  EXPECT_EQ(show(q.finish({{.run = runs.at(4)}}, {.oldest = {"j0"}, .peek = 1})),
            "[[ok] j0 [j0] j2 0]");
  EXPECT_TRUE(dump().contains(q.job("j0")));
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

TEST_F(JobFinish, RetentionByBytesTakesTheOldest) {
  q.keep_completed = {.bytes = 100};
  const auto end = [&](const std::string& id, std::size_t bytes) {
    q.add({{.id = id, .data = std::string(bytes, 'd')}});
    return second(q.finish({{.run = q.claim(1).runs.at(0), .value = "0123456789"}}));
  };
  const auto sizes = [&] { return dump()[q.keys.sizes_completed]; };
  EXPECT_EQ(end("a", 40), "");
  EXPECT_EQ(end("b", 40), "");
  EXPECT_EQ(sizes(), "hash '=100' 'a=50' 'b=50'");
  EXPECT_EQ(end("c", 30), "a");
  EXPECT_EQ(sizes(), "hash '=90' 'b=50' 'c=40'");
  EXPECT_EQ(end("large", 200), "b c large") << "it is larger than all that is kept";
  EXPECT_EQ(sizes(), "");
  // What ended under another rule is of no known size, and counts as nothing.
  q.keep_completed = {};
  EXPECT_EQ(end("d", 900), "");
  EXPECT_EQ(sizes(), "");
  q.keep_completed = {.bytes = 100};
  EXPECT_EQ(end("e", 90), "");
  EXPECT_EQ(end("f", 80), "d e") << "the oldest go first, whatever they weigh";
  EXPECT_EQ(sizes(), "hash '=90' 'f=90'");
}

TEST_F(JobFinish, SizesGoWithTheirJobs) {
  q.keep_completed = q.keep_failed = {.bytes = 1'000};
  const auto runs = claim_new(5);
  q.finish({{.run = runs.at(0)}, {.run = runs.at(1)}, {.run = runs.at(2)}});
  q.finish({{.run = runs.at(3), .completed = false, .value = "no"},
            {.run = runs.at(4), .completed = false, .value = "no"}});
  const auto sizes = [&] {
    auto all = dump();
    return all[q.keys.sizes_completed] + "|" + all[q.keys.sizes_failed];
  };
  EXPECT_EQ(sizes(), "hash '=9' 'j0=3' 'j1=3' 'j2=3'|hash '=8' 'j3=4' 'j4=4'");
  q.remove({"j0", "j3"}, {});
  EXPECT_EQ(sizes(), "hash '=6' 'j1=3' 'j2=3'|hash '=4' 'j4=4'");
  EXPECT_EQ(statuses(q.retry_finished({"j1", "j4"})), "ok ok");
  EXPECT_EQ(sizes(), "hash '=3' 'j2=3'|");
  q.now += 10'000;
  q.keep_completed = {.age_ms = 5'000};
  EXPECT_EQ(second(q.evict({})), "j2");
  EXPECT_EQ(sizes(), "|");
}

TEST_F(JobFinish, ASumOfSizesThatIsNoNumberTearsNothing) {
  q.keep_completed = {.bytes = 1'000};
  const auto runs = claim_new(3);
  q.finish({{.run = runs.at(0)}, {.run = runs.at(1)}});
  redis({"HSET", q.keys.sizes_completed, "", "many"});
  EXPECT_EQ(statuses(q.finish({{.run = runs.at(2)}})), "ok");
  EXPECT_NE(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})).find("completed j2"),
            std::string::npos)
      << "and what comes after it is done";
  EXPECT_FALSE(dump().contains(q.keys.sizes_completed)) << "the account begins anew";
  redis({"HSET", q.keys.sizes_completed, "", "many", "j0", "3"});
  EXPECT_EQ(statuses(q.remove({"j0"}, {})), "ok");
  EXPECT_FALSE(dump().contains(q.keys.sizes_completed));
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
  ASSERT_EQ(reply.items.size(), 5U);
  EXPECT_EQ(wire::ids_of(reply.items[1]).size(), 512U);
  EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 2'001 - 512);
  EXPECT_EQ(redis({"SCARD", q.keys.trash}).integer, 512);
}

}  // namespace
}  // namespace echomq::test
