// SPDX-License-Identifier: MIT
// What scripts that end children write for their parents, and that it is forgotten once it was
// told.
#include <gtest/gtest.h>

#include "probe/planned.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class FlowOutbox : public ScriptTest {
 protected:
  // Children of "above:p", which is never asked.
  void children(const std::vector<std::string>& ids, std::int64_t delay = 0) {
    std::vector<PlanJob> jobs;
    for (const auto& id : ids) jobs.push_back({.queue = q.name(), .id = id, .delay = delay});
    q.add_flow("above:7", plan_below("above:7", "above", "p", jobs));
  }
  std::string told(const std::string& id) { return q.message(id, "above", "p"); }
  [[nodiscard]] std::string at() const { return std::to_string(q.now); }
};

TEST_F(FlowOutbox, ACompletedChildTellsItsResult) {
  children({"a", "b"});
  const auto runs = q.claim(2).runs;
  const auto reply = q.finish(
      {{.run = runs.at(0), .value = "one"}, {.run = runs.at(1), .value = ""}}, {.parents = true});
  EXPECT_EQ(told("a"), "1:c:" + at() + ":f:+one");
  EXPECT_EQ(told("b"), "1:c:" + at() + ":f:+");
  ASSERT_EQ(reply.items.size(), 6U);
  EXPECT_EQ(show(reply.items.at(5)),
            "[a above:p 1:c:" + at() + ":f:+one b above:p 1:c:" + at() + ":f:+]");
}

TEST_F(FlowOutbox, ALargeResultStaysWithTheChild) {
  children({"a"});
  q.finish({{.run = q.claim(1).runs.at(0), .value = std::string(65'537, 'x')}}, {.parents = true});
  EXPECT_EQ(told("a"), "1:c:" + at() + ":f:>");
  EXPECT_EQ(q.field("a", "returnvalue").size(), 65'537U);
}

TEST_F(FlowOutbox, AJobThatIsDroppedTellsAllTheSame) {
  children({"a", "b"});
  const auto runs = q.claim(2).runs;
  redis({"SADD", q.keys.subkeys, "b"});
  q.finish({{.run = runs.at(0), .drop = true}, {.run = runs.at(1), .drop = true}},
           {.parents = true});
  EXPECT_EQ(redis({"EXISTS", q.job("a")}).integer, 0);
  EXPECT_EQ(told("a"), "1:c:" + at() + ":f:+1");
  EXPECT_EQ(told("b"), "1:c:" + at() + ":f:+1");
}

TEST_F(FlowOutbox, WhatWasRefusedTellsNothing) {
  children({"a"});
  const auto run = q.claim(1).runs.at(0);
  q.finish({{.run = {"a", run.token + 1}}}, {.parents = true});
  EXPECT_EQ(told("a"), "(nil)");
  q.finish({{.run = run}}, {.parents = true});
  redis({"HDEL", q.keys.outbox, "a above:p"});
  EXPECT_EQ(statuses(q.finish({{.run = run}}, {.parents = true})), "done");
  EXPECT_EQ(told("a"), "(nil)") << "it was told of by the first";
}

TEST_F(FlowOutbox, AFailureTellsWhy) {
  children({"a"});
  q.finish({{.run = q.claim(1).runs.at(0), .completed = false, .value = "it broke"}},
           {.parents = true});
  EXPECT_EQ(told("a"), "1:f:" + at() + ":f:it broke");
}

TEST_F(FlowOutbox, ACrashTooManyTells) {
  children({"a"});
  q.claim(1, {.lease_ms = 1'000});
  q.now += 10'000;
  const auto reply = q.recover(q.peek_expired(), 0);
  EXPECT_EQ(statuses(reply), "done");
  EXPECT_EQ(told("a").substr(0, 40), ("1:f:" + at() + ":f:lease expired 1 times").substr(0, 40));
  ASSERT_EQ(reply.items.size(), 5U);
  EXPECT_EQ(show(reply.items.at(4).items.at(0)), "a above:p");
}

TEST_F(FlowOutbox, ARemovalBeforeTheEndTells) {
  children({"a", "b"});
  const auto reply = q.remove({"a"}, {.seen = 0});
  EXPECT_EQ(told("a"), "1:f:" + at() + ":f:removed before its end");
  ASSERT_EQ(reply.items.size(), 3U);
  q.remove({"b"}, {.told_in = 500});
  q.now += 500;
  EXPECT_EQ(told("b"), "1:f:" + at() + ":f:removed before its end");
}

TEST_F(FlowOutbox, ARemovalAfterTheEndTellsNothing) {
  children({"a"});
  q.finish({{.run = q.claim(1).runs.at(0)}}, {.parents = true});
  const auto before = told("a");
  q.remove({"a"});
  EXPECT_EQ(told("a"), before);
}

TEST_F(FlowOutbox, ARetryTakesTheMessageBack) {
  children({"a"});
  q.finish({{.run = q.claim(1).runs.at(0), .completed = false}}, {.parents = true});
  q.now += 1;
  const auto reply = q.retry_finished({"a"});
  EXPECT_EQ(statuses(reply), "ok");
  EXPECT_EQ(second(reply), "a above:p 2:r:" + at() + ":f:");
  EXPECT_EQ(told("a"), "2:r:" + at() + ":f:");
  EXPECT_EQ(q.field("a", "edge"), "2:f:above:p");
}

TEST_F(FlowOutbox, WhatWasDeliveredIsForgottenUnlessItIsNewer) {
  children({"a", "b"});
  const auto runs = q.claim(2).runs;
  q.finish({{.run = runs.at(0)}, {.run = runs.at(1)}}, {.parents = true});
  EXPECT_EQ(statuses(q.delivered({{.field = "a above:p", .seen = "1:c:"}})), "ok");
  EXPECT_EQ(told("a"), "(nil)");
  q.retry_finished({"b"});
  EXPECT_EQ(statuses(q.delivered(
                {{.field = "b above:p", .seen = "1:c:"}, {.field = "a above:p", .seen = "1:c:"}})),
            "moved moved");
  EXPECT_EQ(told("b"), "2:r:" + at() + ":f:");
}

TEST_F(FlowOutbox, WhoeverHasNobodyToTellIsAnOrphan) {
  children({"a"});
  q.finish({{.run = q.claim(1).runs.at(0)}}, {.parents = true});
  q.delivered({{.field = "a above:p", .seen = "1:c:", .orphaned = true}});
  const auto last = show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"}));
  EXPECT_NE(last.find("orphaned a"), std::string::npos) << last;
}

TEST_F(FlowOutbox, AParentKeepsItsPlaceWhenItsPriorityChanges) {
  const auto plan = q.name() + ":8";
  q.add_flow(plan, plan_of(plan, {{.queue = q.name(), .id = "p"},
                                  {.queue = "x", .id = "a", .parent = 0}}));
  EXPECT_EQ(statuses(q.prioritize({"p"}, 5)), "ok");
  EXPECT_NE(q.score(q.keys.waiting_children, "p"), "(nil)");
  q.settle({{.parent = "p", .ref = "x:a"}});
  EXPECT_EQ(redis({"ZCARD", q.keys.prioritized}).integer, 1);
}

TEST_F(FlowOutbox, ObliteratingLeavesNoEntryThatNobodyLookedAt) {
  children({"a"});
  q.remove({"a"}, {.seen = 0});
  EXPECT_EQ(show(q.obliterate()), "2") << "a message, and how far the flow was added here";
  EXPECT_EQ(show(q.obliterate(false, 2)), "0");
  EXPECT_EQ(redis({"EXISTS", q.keys.outbox}).integer, 0);
}

}  // namespace
}  // namespace echomq::test
