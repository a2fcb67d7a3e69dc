// SPDX-License-Identifier: MIT
// job/read and queue/counts: each job in exactly one state, each state counted.
#include <gtest/gtest.h>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class JobRead : public ScriptTest {
 protected:
  // "state score"
  std::string state(const std::string& id) {
    const auto reply = q.read(id);
    if (reply.is_error()) return reply.text;
    if (reply.items.empty()) return "none";
    return show(reply.items.at(0)) + " " + show(reply.items.at(1));
  }
};

TEST_F(JobRead, TellsEachStateWithItsScoreAndTheCounts) {
  q.add({{.id = "ran"}, {.id = "broke"}, {.id = "runs"}});
  const auto claimed = q.claim(3);
  q.finish({{.run = claimed.runs.at(0)}});
  q.finish({{.run = claimed.runs.at(1), .completed = false}});
  q.add({{.id = "waits"}, {.id = "later", .delay = 1'000}, {.id = "p", .priority = 1}});
  redis({"ZADD", q.keys.waiting_children, "5", "parent"});
  redis({"HSET", q.job("parent"), "head", "1:3:job"});

  EXPECT_EQ(state("waits"), "waiting 0");
  EXPECT_EQ(state("p"), "prioritized 4294967297");
  EXPECT_EQ(state("later"), "delayed 1800000001000");
  EXPECT_EQ(state("runs"), "active " + std::to_string(claimed.lease.score()));
  EXPECT_EQ(state("ran"), "completed 1800000000000");
  EXPECT_EQ(state("broke"), "failed 1800000000000");
  EXPECT_EQ(state("parent"), "waiting-children 5");
  EXPECT_EQ(state("never"), "none");
  EXPECT_EQ(show(q.counts()), "[1 1 1 1 1 1 1 0 0 0]");
}

TEST_F(JobRead, GivesTheFieldsOfTheHash) {
  q.add({{.id = "a", .name = "mail", .data = "hello"}});
  EXPECT_EQ(show(q.read("a")), "[waiting 0 head 1800000000000:4:mail data hello]");
}

TEST_F(JobRead, AJobInTrashIsNotThere) {
  q.keep_completed = {.count = 0};
  q.add({{.id = "a"}});
  q.finish({{.run = q.claim(1).runs.at(0)}});
  EXPECT_EQ(state("a"), "none");
  EXPECT_EQ(show(q.counts()), "[0 0 0 0 0 0 0 1 0 0]");
}

TEST_F(JobRead, WritesNothing) {
  q.add({{.id = "a"}});
  const auto before = dump();
  q.read("a");
  q.counts();
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(JobRead, CountsCrashedAsWaitingAndTellsThePause) {
  q.add({{.id = "a"}, {.id = "b"}});
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired());
  redis({"HSET", q.keys.meta, "pause", "1"});
  EXPECT_EQ(show(q.counts()), "[2 0 0 0 0 0 0 0 1 0]");
  EXPECT_EQ(state("a"), "waiting 0");
}

TEST_F(JobRead, AKeyOfAnotherTypeIsAnError) {
  redis({"SET", q.job("a"), "foreign"});
  EXPECT_EQ(state("a").substr(0, 9), "WRONGTYPE");
  redis({"DEL", q.keys.wait});
  redis({"SET", q.keys.wait, "foreign"});
  EXPECT_EQ(statuses(q.counts()).substr(0, 9), "WRONGTYPE");
}

}  // namespace
}  // namespace echomq::test
