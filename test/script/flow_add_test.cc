// SPDX-License-Identifier: MIT
// flow/plan, flow/add and flow/close: a recorded flow is added once, whoever says it how often.
#include <gtest/gtest.h>

#include "probe/planned.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class FlowAdd : public ScriptTest {
 protected:
  [[nodiscard]] std::string ref(const std::string& id) const { return q.name() + ":" + id; }
  [[nodiscard]] std::string plan_name() const { return q.name() + ":7"; }
  // One parent, and children of this queue.
  flow::Plan family(std::vector<PlanJob> children, PlanJob parent = {}) {
    parent.queue = q.name();
    if (parent.id.empty()) parent.id = "p";
    std::vector<PlanJob> jobs{parent};
    for (auto& child : children) {
      child.queue = q.name();
      child.parent = 0;
      jobs.push_back(child);
    }
    return plan_of(plan_name(), jobs);
  }
};

TEST_F(FlowAdd, AParentWaitsAndItsChildrenAreReady) {
  EXPECT_EQ(statuses(q.add_flow(plan_name(), family({{.id = "a"}, {.id = "b", .delay = 500}}))),
            "ok ok ok ok");
  EXPECT_EQ(q.score(q.keys.waiting_children, "p"), std::to_string(q.now));
  EXPECT_EQ(list(q.keys.wait), "a");
  EXPECT_EQ(q.score(q.keys.delayed, "b"), std::to_string(q.now + 500));
  EXPECT_EQ(q.edge("p", Sub::dependencies, ref("a")), "1");
  EXPECT_EQ(q.edge("p", Sub::dependencies, ref("b")), "1");
  EXPECT_EQ(q.field("a", "edge"), "1:f:" + ref("p"));
  EXPECT_EQ(q.field("a", "data"), "of a");
  EXPECT_EQ(redis({"SISMEMBER", q.keys.subkeys, "p"}).integer, 1);
  EXPECT_EQ(show(redis({"HGET", q.keys.outbox, "from:" + plan_name()})),
            "3:" + std::to_string(q.now));
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(show(q.read("p").items.at(0)), "waiting-children");
  EXPECT_EQ(show(q.counts()), "[1 0 0 1 0 0 1 0 0 0]");
}

TEST_F(FlowAdd, ItsEventsTellOfEachJob) {
  q.add_flow(plan_name(), family({{.id = "a"}}));
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "-", "+"})),
            "[[1-0 [at 1800000000000 added p a]] [2-0 [at 1800000000000 waiting-children p]]]");
}

// Also when the job was worked and is gone: the receipt tells, not the job.
TEST_F(FlowAdd, WhatIsSaidAgainIsAddedOnce) {
  const auto plan = family({{.id = "a"}});
  q.add_flow(plan_name(), plan);
  q.finish({{.run = q.claim(1).runs.at(0), .drop = true}}, {.parents = true});
  EXPECT_EQ(redis({"EXISTS", q.job("a")}).integer, 0);
  expect_unchanged("done done done", [&] { return q.add_flow(plan_name(), plan); });
}

TEST_F(FlowAdd, AnEntryThatIsNewIsAddedBesideOnesThatAreNot) {
  const auto plan = family({{.id = "a"}, {.id = "b"}});
  auto first = plan;
  first.resize(3);
  EXPECT_EQ(statuses(q.add_flow(plan_name(), first)), "ok ok ok");
  EXPECT_EQ(statuses(q.add_flow(plan_name(), plan)), "done done done ok");
  EXPECT_EQ(list(q.keys.wait), "a b");
}

TEST_F(FlowAdd, AnIdThatIsTakenFailsItsEdge) {
  q.add({{.id = "a", .data = "another"}});
  const auto reply = q.add_flow(plan_name(), family({{.id = "a"}}));
  EXPECT_EQ(statuses(reply), "ok ok dup");
  EXPECT_EQ(q.field("a", "data"), "another");
  EXPECT_EQ(q.field("a", "edge"), "(nil)");
  const auto text = "1:f:" + std::to_string(q.now) + ":f:a job with this id exists already";
  EXPECT_EQ(q.message("a", q.name(), "p"), text);
  EXPECT_EQ(second(reply), "a " + ref("p") + " " + text);
}

TEST_F(FlowAdd, AParentWhoseIdIsTakenGetsNoChildren) {
  q.add({{.id = "p"}});
  EXPECT_EQ(statuses(q.add_flow(plan_name(), family({{.id = "a"}}))), "dup gone ok")
      << "whoever sends it leaves out what hangs on it";
  EXPECT_EQ(redis({"EXISTS", q.job("p") + ":dependencies"}).integer, 0);
}

TEST_F(FlowAdd, AParentThatWasRemovedGetsNoChildren) {
  auto plan = family({{.id = "a"}});
  auto first = plan;
  first.resize(1);
  q.add_flow(plan_name(), first);
  q.remove({"p"});
  EXPECT_EQ(statuses(q.add_flow(plan_name(), plan)), "done gone ok");
}

TEST_F(FlowAdd, AnIdOutOfTrashIsFree) {
  q.add({{.id = "p"}});
  q.log({{.id = "p"}});
  q.redis()({"LREM", q.keys.wait, "1", "p"});
  q.redis()({"SADD", q.keys.trash, "p"});
  EXPECT_EQ(statuses(q.add_flow(plan_name(), family({{.id = "a"}}))), "ok ok ok");
  EXPECT_EQ(redis({"SCARD", q.keys.trash}).integer, 0);
  EXPECT_EQ(redis({"EXISTS", q.job("p") + ":logs"}).integer, 0);
}

TEST_F(FlowAdd, ChildrenAreGivenToAJobThatRuns) {
  q.add({{.id = "p"}});
  const auto run = q.claim(1).runs.at(0);
  EXPECT_EQ(statuses(q.add_flow(plan_name(), plan_below(plan_name(), q.name(), "p",
                                                        {{.queue = q.name(), .id = "a"}}))),
            "ok ok");
  EXPECT_EQ(q.edge("p", Sub::dependencies, ref("a")), "1");
  EXPECT_EQ(q.field("p", "plan"), plan_name());
  EXPECT_EQ(statuses(q.add_flow(q.name() + ":8", plan_below(q.name() + ":8", q.name(), "never",
                                                            {{.queue = q.name(), .id = "b"}}))),
            "gone ok");
  EXPECT_EQ(statuses(q.finish({{.run = run}})), "ok");
}

// A child whose job is gone is added once more under its id.
TEST_F(FlowAdd, AChildThatWasSettledIsAwaitedAnew) {
  q.add({{.id = "p"}});
  q.claim(1);
  q.add_flow(plan_name(), plan_below(plan_name(), q.name(), "p", {{.queue = "x", .id = "a"}}));
  q.settle({{.parent = "p", .ref = "x:a", .kind = 'f', .value = "no"}});
  EXPECT_EQ(q.field("p", "fails"), "1:x:a");
  const auto next = q.name() + ":8";
  q.add_flow(next, plan_below(next, q.name(), "p", {{.queue = "x", .id = "a"}}, 5));
  EXPECT_EQ(q.edge("p", Sub::dependencies, "x:a"), "5");
  EXPECT_EQ(q.edge("p", Sub::unsuccessful, "x:a"), "(nil)");
  EXPECT_EQ(q.field("p", "fails"), "0:x:a");
}

TEST_F(FlowAdd, AChildThatLetItsParentGoOnIsAwaitedAnewToo) {
  q.add({{.id = "p"}});
  q.claim(1);
  q.add_flow(plan_name(), plan_below(plan_name(), q.name(), "p", {{.queue = "x", .id = "a"}}));
  q.settle({{.parent = "p", .ref = "x:a", .kind = 'f', .policy = 'c', .value = "no"}});
  const auto next = q.name() + ":8";
  q.add_flow(next, plan_below(next, q.name(), "p", {{.queue = "x", .id = "a"}}, 5));
  EXPECT_EQ(q.edge("p", Sub::dependencies, "x:a"), "5");
  EXPECT_EQ(q.edge("p", Sub::unsuccessful, "x:a"), "(nil)") << "a child has one edge";
}

TEST_F(FlowAdd, AnIdNamedTwiceInACallIsAddedOnce) {
  EXPECT_EQ(statuses(q.add_flow(plan_name(), family({{.id = "a"}, {.id = "a"}}))), "ok ok ok dup");
  EXPECT_EQ(list(q.keys.wait), "a");
}

TEST_F(FlowAdd, APriorityHasItsPlace) {
  q.add_flow(
      plan_name(),
      family({{.id = "a", .priority = 2}, {.id = "b", .priority = 1}, {.id = "c", .lifo = true}},
             {.priority = 4}));
  EXPECT_EQ(q.field("p", "priority"), "4");
  EXPECT_EQ(q.field("p", "place"), "(nil)") << "it gets one when it is ready";
  EXPECT_EQ(q.claim(5).ids(), "c b a");
}

TEST_F(FlowAdd, AnEntryOfAnUnknownFormIsRefused) {
  auto plan = family({{.id = "a"}});
  plan[1].owner.clear();
  expect_refused("EMQARG", [&] { return q.add_flow(plan_name(), plan); });
}

class FlowPlanScript : public ScriptTest {
 protected:
  flow::Plan some(std::size_t count) {
    std::vector<PlanJob> jobs;
    for (std::size_t i = 0; i < count; ++i)
      jobs.push_back({.queue = q.name(), .id = "j" + std::to_string(i)});
    return plan_of(q.name() + ":7", jobs);
  }
  std::string note() { return show(redis({"HGET", q.keys.outbox, "flow:7"})); }
};

TEST_F(FlowPlanScript, IsRecordedInPartsAndSealedByTheLast) {
  EXPECT_EQ(show(q.plan("7", some(3), 0, false)), "ok");
  EXPECT_EQ(note(), "o:" + std::to_string(q.now) + ":3");
  q.now += 5;
  EXPECT_EQ(show(q.plan("7", some(2), 3, true)), "ok");
  EXPECT_EQ(note(), "s:" + std::to_string(q.now) + ":5");
  EXPECT_EQ(redis({"LLEN", named_key(q.name(), "flow", "7")}).integer, 5);
}

TEST_F(FlowPlanScript, APartThatIsSaidAgainIsThere) {
  q.plan("7", some(3), 0, false);
  EXPECT_EQ(show(q.plan("7", some(3), 0, false)), "done");
  EXPECT_EQ(redis({"LLEN", named_key(q.name(), "flow", "7")}).integer, 3);
}

TEST_F(FlowPlanScript, OnceItWasGivenUpItsCreatorIsTold) {
  q.plan("7", some(3), 0, false);
  const auto seen = note();
  EXPECT_EQ(show(q.close_plan("7", seen)), "ok");
  EXPECT_EQ(show(q.plan("7", some(3), 3, true)), "gone");
  EXPECT_EQ(show(q.close_plan("7", seen)), "gone");
  EXPECT_EQ(redis({"EXISTS", named_key(q.name(), "flow", "7"), q.keys.outbox}).integer, 0);
}

TEST_F(FlowPlanScript, OneThatGoesOnIsNotGivenUp) {
  q.plan("7", some(3), 0, false);
  const auto seen = note();
  q.now += 1;
  q.plan("7", some(3), 3, true);
  EXPECT_EQ(show(q.close_plan("7", seen)), "moved");
  EXPECT_EQ(show(q.close_plan("7", "o:")), "moved");
  EXPECT_EQ(show(q.close_plan("7", "s:")), "ok");
}

}  // namespace
}  // namespace echomq::test
