// SPDX-License-Identifier: MIT
// Who owns a deduplication id: job/add_deduplicated and deduplication/*, and what the scripts that
// end or remove jobs do about it.
#include <gtest/gtest.h>

#include <string>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class ScriptDeduplication : public ScriptTest {
 protected:
  // The statuses of an add and whom it told of.
  std::string add(const std::vector<JobToAdd>& jobs, const Flush& flush = {}) {
    const auto reply = q.add_deduplicated(jobs, flush);
    if (reply.is_error()) return reply.text;
    std::string all;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto owner = show(reply.items.at(1).items.at(i));
      all += (all.empty() ? "" : ", ") + show(reply.items.at(0).items.at(i)) +
             (owner.empty() ? "" : " " + owner);
    }
    return all;
  }
  std::string owner(const std::string& de) {
    const auto told = q.read_deduplication(de, q.owned(de).owner);
    return statuses(told) == "gone" ? "nobody" : show(told.items.at(1));
  }
  JobRun start(const std::string& id) {
    const auto claimed = q.claim(1, {.lease_ms = 600'000});
    EXPECT_EQ(claimed.ids(), id);
    return claimed.runs.at(0);
  }
  std::string end(const std::string& de) { return statuses(q.end_deduplication({q.owned(de)})); }
  bool is_clean() {
    return redis({"EXISTS", q.keys.de, q.keys.de_due, q.keys.de_next}).integer == 0;
  }
};

TEST_F(ScriptDeduplication, SimpleIsOwnedUntilTheOwnerHasEnded) {
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "owned a");
  const auto run = start("a");
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "owned a");
  q.retry({{.run = run}});
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "owned a");
  q.finish({{.run = start("a"), .completed = false}});
  EXPECT_EQ(owner("D"), "nobody");
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok");
  EXPECT_EQ(owner("D"), "b");
  q.finish({{.run = start("b"), .drop = true}});
  EXPECT_EQ(owner("D"), "nobody");
  EXPECT_EQ(end("D"), "ok");
  EXPECT_TRUE(is_clean());
}

TEST_F(ScriptDeduplication, B48_BeyondTheLengthOfTheQueueNothingIsStored) {
  q.limit({.length = "1"});
  EXPECT_EQ(add({{.id = "a", .delay = 1'000, .de = "D"}, {.id = "b", .de = "E"}, {.id = "c"}}),
            "ok, full, full");
  EXPECT_EQ(owner("E"), "nobody");
  EXPECT_EQ(add({{.id = "d", .de = "D"}}), "owned a");
  EXPECT_EQ(add({{.id = "e", .delay = 1'000, .de = "D", .how = "r"}}), "ok")
      << "it takes the place of the one that it replaces";
  EXPECT_EQ(owner("D"), "e");
}

TEST_F(ScriptDeduplication, AThrottleHoldsForItsTimeWhateverBecomesOfTheOwner) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .ttl = 1'000}}), "ok");
  q.hold_deduplication({{"D", "a"}});
  q.finish({{.run = start("a"), .drop = true}});
  EXPECT_EQ(add({{.id = "b", .de = "D", .ttl = 1'000}}), "owned a");
  EXPECT_EQ(end("D"), "lock");
  q.now += 999;
  EXPECT_EQ(add({{.id = "b", .de = "D", .ttl = 1'000}}), "owned a");
  q.now += 1;
  EXPECT_EQ(owner("D"), "nobody");
  EXPECT_EQ(add({{.id = "b", .de = "D", .ttl = 1'000}}), "ok");
  q.now += 1'000;
  EXPECT_EQ(add({{.id = "c", .de = "D"}}), "ok") << "the one before runs on";
}

TEST_F(ScriptDeduplication, AnExtensionBeginsTheTimeAnew) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .ttl = 1'000}}), "ok");
  q.now += 900;
  EXPECT_EQ(add({{.id = "b", .de = "D", .how = "e", .ttl = 500}}), "owned a");
  q.now += 499;
  EXPECT_EQ(owner("D"), "a");
  EXPECT_EQ(q.score(q.keys.de_due, "D"), std::to_string(q.now + 1));
  q.now += 1;
  EXPECT_EQ(owner("D"), "nobody");
}

TEST_F(ScriptDeduplication, ADelayedOwnerIsReplaced) {
  EXPECT_EQ(add({{.id = "a", .delay = 500, .data = "1", .de = "D", .how = "er", .ttl = 500}}),
            "ok");
  redis({"SADD", q.keys.subkeys, "a"});
  q.now += 400;
  EXPECT_EQ(add({{.id = "b", .delay = 500, .data = "2", .de = "D", .how = "er", .ttl = 500}}),
            "ok");
  EXPECT_EQ(q.score(q.keys.delayed, "a"), "(nil)");
  EXPECT_EQ(q.peek_trash(), std::vector<std::string>{"a"}) << "it has sub-keys";
  q.now += 400;
  EXPECT_EQ(add({{.id = "b", .delay = 500, .data = "3", .de = "D", .how = "er", .ttl = 500}}), "ok")
      << "under its own id";
  EXPECT_EQ(q.field("b", "data"), "3");
  EXPECT_EQ(add({{.id = "7", .custom = false, .delay = 500, .data = "4", .de = "D", .how = "r"}}),
            "ok");
  EXPECT_EQ(redis({"EXISTS", q.job("b")}).integer, 0);
  q.now += 500;
  EXPECT_EQ(owner("D"), "nobody") << "without extend the time stays";
  q.promote(q.peek_due());
  EXPECT_EQ(add({{.id = "c", .de = "D", .how = "r"}}), "ok");
  EXPECT_EQ(add({{.id = "d", .de = "D", .how = "r"}}), "owned c") << "it waits, it is not delayed";
}

TEST_F(ScriptDeduplication, TwoOfOneCallAreOneJob) {
  EXPECT_EQ(add({{.id = "a", .de = "D"},
                 {.id = "p"},
                 {.id = "b", .de = "D"},
                 {.id = "x", .delay = 9, .de = "E", .how = "r"},
                 {.id = "y", .delay = 9, .de = "E", .how = "r"},
                 {.id = "y", .delay = 8, .de = "E", .how = "r"}}),
            "ok, ok, owned a, ok, ok, ok");
  EXPECT_EQ(redis({"EXISTS", q.job("b"), q.job("x")}).integer, 0);
  EXPECT_EQ(q.field("y", "delay"), "8");
  EXPECT_EQ(redis({"ZCARD", q.keys.delayed}).integer, 1);
  EXPECT_EQ(redis({"LLEN", q.keys.wait}).integer, 2);
}

// B35
// One call adds what replaces a job, and then a job of the id that is free by that.
TEST_F(ScriptDeduplication, TheIdOfAJobThatIsReplacedIsFreeInTheSameCall) {
  add({{.id = "old", .delay = 60'000, .de = "D"}});
  q.log({{.id = "old"}});
  EXPECT_EQ(add({{.id = "new", .de = "D", .how = "r"}, {.id = "old", .data = "again"}}), "ok, ok");
  EXPECT_EQ(owner("D"), "new");
  EXPECT_EQ(q.field("old", "data"), "again");
  EXPECT_EQ(list(q.keys.wait), "new old");
  EXPECT_EQ(redis({"EXISTS", q.keys.trash, q.keys.subkeys}).integer, 0);
}

TEST_F(ScriptDeduplication, B35_AnOldOwnerReleasesNothing) {
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  q.finish({{.run = start("a")}});
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok");
  EXPECT_EQ(statuses(q.remove({"a"})), "ok");
  EXPECT_EQ(owner("D"), "b");
  EXPECT_EQ(statuses(q.end_deduplication({{"D", "a"}})), "moved");
  EXPECT_EQ(add({{.id = "c", .de = "D"}}), "owned b");
  EXPECT_EQ(statuses(q.remove({"b"})), "ok");
  EXPECT_EQ(owner("D"), "nobody");
  EXPECT_TRUE(is_clean());
}

TEST_F(ScriptDeduplication, AStaleOwnerSwallowsNothing) {
  for (const std::int64_t ttl : {0, 600'000}) {
    EXPECT_EQ(add({{.id = "a", .de = "D", .ttl = ttl}}), "ok");
    redis({"DEL", q.job("a")});
    EXPECT_EQ(owner("D"), "nobody");
    EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok") << ttl;
    EXPECT_EQ(statuses(q.remove({"b"})), "ok");
    redis({"DEL", q.keys.wait});
  }
  // Another job of its id is no owner.
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  redis({"DEL", q.job("a"), q.keys.wait});
  q.add({{.id = "a"}});
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok");
}

TEST_F(ScriptDeduplication, AnEvictedOwnerOwnsNothing) {
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  q.keep_completed = {.count = 0};
  q.finish({{.run = start("a")}});
  EXPECT_EQ(q.peek_trash(), std::vector<std::string>{"a"});
  EXPECT_EQ(owner("D"), "nobody");
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok");
}

TEST_F(ScriptDeduplication, AnOwnerThatCrashedTooOftenOwnsNothing) {
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  q.claim(1, {.lease_ms = 1'000});
  q.now += 10'000;
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "owned a");
  const auto reply = q.recover(q.peek_expired(), 0);
  EXPECT_EQ(statuses(reply), "done");
  EXPECT_EQ(texts(reply.items.at(3)), (std::vector<std::string>{"D", "a"}));
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok");
}

TEST_F(ScriptDeduplication, RemovingTheOwnerOfAThrottleReleasesIt) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .ttl = 600'000}}), "ok");
  q.hold_deduplication({{"D", "a"}});
  q.finish({{.run = start("a")}});
  EXPECT_EQ(owner("D"), "a");
  EXPECT_EQ(statuses(q.remove({"a"})), "ok");
  EXPECT_EQ(owner("D"), "nobody");
}

TEST_F(ScriptDeduplication, AJobThatIsRetriedByHandOwnsNothing) {
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  q.finish({{.run = start("a")}});
  EXPECT_EQ(statuses(q.retry_finished({"a"})), "ok");
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok");
}

TEST_F(ScriptDeduplication, WhoKnewAnotherOwnerIsToldAndLeftAlone) {
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  EXPECT_EQ(add({{.id = "b", .de = "D", .seen = ""}}), "moved a");
  EXPECT_EQ(add({{.id = "b", .de = "D", .seen = "z"}, {.id = "c", .de = "E", .seen = "z"}}),
            "moved a, ok");
  EXPECT_EQ(redis({"EXISTS", q.job("b")}).integer, 0);
  EXPECT_EQ(statuses(q.read_deduplication("D", "z")), "moved");
}

// B37, as the scripts tell it.
TEST_F(ScriptDeduplication, B37_TheLastAddIsKeptForTheEndOfTheOwner) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .how = "k"}}), "ok");
  EXPECT_EQ(add({{.id = "b", .de = "D", .how = "k"}}), "owned a");
  EXPECT_EQ(q.owned("D").kept, "") << "it does not run yet";
  auto run = start("a");
  for (const char* const data : {"1", "2", "3", "4"})
    EXPECT_EQ(add({{.id = std::string("b") + data, .data = data, .de = "D", .how = "k"}}),
              "owned a");
  q.retry({{.run = run}});
  EXPECT_EQ(end("D"), "lock");
  EXPECT_EQ(add({{.id = "b5",
                  .priority = 4,
                  .name = "n",
                  .data = "5",
                  .opts = "{}",
                  .de = "D",
                  .how = "k"}}),
            "owned a")
      << "between two attempts the newest goes on to be the newest";
  run = start("a");
  EXPECT_EQ(end("D"), "lock");
  q.finish({{.run = run}});
  EXPECT_EQ(end("D"), "ok");
  EXPECT_EQ(owner("D"), "b5");
  EXPECT_EQ(q.field("b5", "data"), "5");
  EXPECT_EQ(q.field("b5", "head"), std::to_string(q.now) + ":1:n{}");
  EXPECT_EQ(q.field("b5", "priority"), "4");
  EXPECT_EQ(add({{.id = "c", .de = "D", .how = "k"}}), "owned b5");
  EXPECT_EQ(redis({"HLEN", q.keys.de_next}).integer, 0);
  q.finish({{.run = start("b5")}});
  EXPECT_EQ(end("D"), "ok");
  EXPECT_TRUE(is_clean());
}

TEST_F(ScriptDeduplication, B37_TheTimeOfTheOwnerIsForgottenForAKeptAdd) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .ttl = 100}}), "ok");
  const auto run = start("a");
  EXPECT_EQ(add({{.id = "b", .de = "D", .how = "k"}}), "owned a");
  q.now += 1'000;
  EXPECT_EQ(add({{.id = "c", .de = "D", .how = "k"}}), "owned a");
  q.hold_deduplication({{"D", "a"}});
  q.finish({{.run = run}});
  EXPECT_EQ(end("D"), "ok");
  EXPECT_EQ(owner("D"), "c");
}

TEST_F(ScriptDeduplication, B37_AKeptAddMayHaveTheIdOfItsOwner) {
  EXPECT_EQ(add({{.id = "same", .data = "1", .de = "D", .how = "k"}}), "ok");
  const auto run = start("same");
  EXPECT_EQ(add({{.id = "same", .data = "2", .de = "D", .how = "k"}}), "owned same");
  q.log({{.id = "same"}});
  q.finish({{.run = run}});
  EXPECT_EQ(end("D"), "ok");
  EXPECT_EQ(q.field("same", "data"), "2");
  EXPECT_EQ(q.field("same", "finishedOn"), "(nil)");
  EXPECT_EQ(redis({"EXISTS", q.job("same") + ":logs"}).integer, 0);
  EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 0);
  start("same");
}

TEST_F(ScriptDeduplication, AKeptAddWhoseIdWasTakenIsADuplicate) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .how = "k"}}), "ok");
  const auto run = start("a");
  EXPECT_EQ(add({{.id = "b", .data = "kept", .de = "D", .how = "k"}}), "owned a");
  q.add({{.id = "b", .data = "other"}});
  q.finish({{.run = run}});
  EXPECT_EQ(end("D"), "dup");
  EXPECT_EQ(q.field("b", "data"), "other");
  EXPECT_TRUE(is_clean());
}

TEST_F(ScriptDeduplication, WhatIsKeptIsAddedInCallsOfABoundedSize) {
  std::vector<OwnedSeen> ids;
  for (const char* const de : {"A", "B", "C"}) {
    const auto first = std::string("own-") + de;
    EXPECT_EQ(add({{.id = first, .de = de, .how = "k"}}), "ok");
    const auto run = start(first);
    EXPECT_EQ(add({{.id = std::string("kept-") + de,
                    .data = std::string(200'000, 'd'),
                    .de = de,
                    .how = "k"}}),
              "owned " + first);
    q.finish({{.run = run}});
    ids.push_back(q.owned(de));
  }
  const auto reply = q.end_deduplication(ids);
  EXPECT_EQ(statuses(reply), "ok moved moved");
  EXPECT_EQ(texts(reply.items.at(1)),
            (std::vector<std::string>{"", "", "own-B", "kept-B", "own-C", "kept-C"}));
  EXPECT_EQ(statuses(q.end_deduplication({ids.at(1)})), "ok");
  EXPECT_EQ(owner("B"), "kept-B");
}

TEST_F(ScriptDeduplication, AnAddAfterTheEndGoesBeforeTheKeptOne) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .how = "k"}}), "ok");
  const auto run = start("a");
  EXPECT_EQ(add({{.id = "b", .de = "D", .how = "k"}}), "owned a");
  const auto seen = q.owned("D");
  q.finish({{.run = run}});
  EXPECT_EQ(add({{.id = "c", .de = "D", .how = "k"}}), "ok") << "it is newer than what was kept";
  EXPECT_EQ(statuses(q.end_deduplication({seen})), "moved");
  EXPECT_EQ(redis({"HLEN", q.keys.de_next}).integer, 0);
  EXPECT_EQ(redis({"EXISTS", q.job("b")}).integer, 0);
}

TEST_F(ScriptDeduplication, RemovingAnOwnerTellsOfTheKeptAdd) {
  EXPECT_EQ(add({{.id = "a", .de = "D", .how = "k"}}), "ok");
  start("a");
  EXPECT_EQ(add({{.id = "b", .de = "D", .how = "k"}}), "owned a");
  const auto reply = q.remove({"a"}, {.state = "active"});
  EXPECT_EQ(second(reply), "D a b");
  EXPECT_EQ(end("D"), "ok");
  EXPECT_EQ(owner("D"), "b");
}

TEST_F(ScriptDeduplication, ARepeatedFlushIsToldTheSameAndIsNotItsOwnDuplicate) {
  EXPECT_EQ(add({{.id = "o", .de = "E"}}), "ok");
  const std::vector<JobToAdd> jobs{{.id = "a", .de = "D"},
                                   {.id = "b", .de = "D"},
                                   {.id = "o", .de = "F"},
                                   {.id = "c", .de = "E", .seen = ""},
                                   {.id = "d", .de = "E"}};
  const auto first = add(jobs, {.number = 50});
  EXPECT_EQ(first, "ok, owned a, dup, moved o, owned o");
  EXPECT_EQ(add(jobs, {.number = 50}), first);
  q.finish({{.run = q.claim(2).runs.at(1), .drop = true}});
  EXPECT_EQ(add(jobs, {.number = 50}), first) << "though the job is gone";
  EXPECT_EQ(add(jobs, {.number = 49}), "done, done, done, done, done");
  EXPECT_EQ(add(jobs, {.grant = 0}), "EMQARG the node id is held by a newer process");
  redis({"HSET", q.keys.producers, "1.0", "what is this"});
  EXPECT_EQ(add(jobs), "EMQARG producers holds an entry of an unknown form");
}

TEST_F(ScriptDeduplication, AMintedIdThatExistsIsACollision) {
  EXPECT_EQ(add({{.id = "7", .custom = false, .de = "D"}}), "ok");
  EXPECT_EQ(add({{.id = "7", .custom = false, .de = "E"}}), "state");
}

TEST_F(ScriptDeduplication, EventsTellOfEachOnce) {
  add({{.id = "a", .delay = 9, .de = "D", .how = "r"}});
  add({{.id = "b", .delay = 9, .de = "D", .how = "r"}, {.id = "c", .de = "D"}});
  std::string all;
  for (const auto& entry : redis({"XRANGE", q.keys.events, "-", "+"}).items)
    for (std::size_t i = 2; i < entry.items.at(1).items.size(); ++i)
      all += show(entry.items.at(1).items.at(i)) + " ";
  EXPECT_EQ(all, "added a delayed a added b delayed b deduplicated b replaced a ");
}

TEST_F(ScriptDeduplication, AReleaseByForceLeavesTheOwnerAlone) {
  EXPECT_EQ(add({{.id = "a", .de = "D"}}), "ok");
  EXPECT_EQ(statuses(q.end_deduplication({{"D", "a"}}, /*force=*/true)), "ok");
  EXPECT_EQ(statuses(q.end_deduplication({{"D", "a"}, {"never", "a"}})), "gone gone");
  EXPECT_EQ(add({{.id = "b", .de = "D"}}), "ok");
  EXPECT_EQ(q.claim(2).ids(), "a b");
}

TEST_F(ScriptDeduplication, AnOddEntryOwnsNothing) {
  redis({"HSET", q.keys.de, "D", "what is this"});
  EXPECT_EQ(owner("D"), "nobody");
  EXPECT_EQ(add({{.id = "a", .de = "D", .how = "k"}}), "ok");
  const auto run = start("a");
  add({{.id = "b", .de = "D", .how = "k"}});
  redis({"HSET", q.keys.de_next, "D", "nor this"});
  q.finish({{.run = run}});
  EXPECT_EQ(end("D"), "ok");
  EXPECT_TRUE(is_clean());
}

}  // namespace
}  // namespace echomq::test
