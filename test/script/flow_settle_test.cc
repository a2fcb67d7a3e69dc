// SPDX-License-Identifier: MIT
// flow/settle: how children ended reaches their parent once in effect, by the policy of each.
#include <gtest/gtest.h>

#include "probe/planned.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class FlowSettle : public ScriptTest {
 protected:
  // A parent "p" with children "x:<name>" in another queue, which is never asked.
  void parent(const std::vector<std::string>& children, PlanJob how = {}) {
    how.queue = q.name();
    how.id = "p";
    std::vector<PlanJob> jobs{how};
    for (const auto& child : children) jobs.push_back({.queue = "x", .id = child, .parent = 0});
    ASSERT_EQ(statuses(q.add_flow(q.name() + ":7", plan_of(q.name() + ":7", jobs))), "ok ok");
  }
  static EndOfChild completed(const std::string& child, std::uint64_t epoch = 1) {
    return {.parent = "p", .ref = "x:" + child, .epoch = epoch, .value = "+of " + child};
  }
  static EndOfChild failed(const std::string& child, char policy, std::uint64_t epoch = 1) {
    return {.parent = "p",
            .ref = "x:" + child,
            .epoch = epoch,
            .kind = 'f',
            .policy = policy,
            .value = "it broke"};
  }
  static EndOfChild reopened(const std::string& child, std::uint64_t epoch, char policy = 'f') {
    return {.parent = "p",
            .ref = "x:" + child,
            .epoch = epoch,
            .kind = 'r',
            .policy = policy,
            .value = ""};
  }
  std::string state() { return show(q.read("p").items.at(0)); }
};

TEST_F(FlowSettle, TheLastChildLetsTheParentGoOn) {
  parent({"a", "b"});
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(statuses(q.settle({completed("a")})), "ok");
  EXPECT_EQ(state(), "waiting-children");
  EXPECT_EQ(q.edge("p", Sub::processed, "x:a"), "1:+of a");
  EXPECT_EQ(q.edge("p", Sub::dependencies, "x:a"), "(nil)");
  EXPECT_EQ(statuses(q.settle({completed("b")})), "ok");
  EXPECT_EQ(list(q.keys.wait), "p");
  EXPECT_EQ(state(), "waiting");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(show(redis({"XREVRANGE", q.keys.events, "+", "-", "COUNT", "1"})),
            "[[3-0 [at 1800000000000 ready p]]]");
}

TEST_F(FlowSettle, ManyChildrenInOneCallAndManyParents) {
  parent({"a", "b", "c"});
  const auto plan = q.name() + ":8";
  q.add_flow(plan, plan_of(plan, {{.queue = q.name(), .id = "p2"},
                                  {.queue = "x", .id = "d", .parent = 0}}));
  EXPECT_EQ(statuses(q.settle(
                {completed("a"), completed("c"), completed("b"), {.parent = "p2", .ref = "x:d"}})),
            "ok ok ok ok");
  EXPECT_EQ(list(q.keys.wait), "p p2");
}

TEST_F(FlowSettle, AMessageCountsOnce) {
  parent({"a", "b"});
  q.settle({completed("a")});
  expect_unchanged("moved", [&] { return q.settle({completed("a")}); });
  expect_unchanged("moved", [&] { return q.settle({failed("a", 'f')}); });
  expect_unchanged("moved", [&] { return q.settle({completed("never")}); });
}

TEST_F(FlowSettle, OfANamedTwiceParentOnlyTheFirstIsAskedAgain) {
  parent({"a"});
  EXPECT_EQ(statuses(q.settle({completed("a"), completed("a")})), "ok moved");
  EXPECT_EQ(list(q.keys.wait), "p");
}

// Two messages of one child in a call: the second builds on the first.
TEST_F(FlowSettle, AnotherRunToldBesideTheEndBeforeItIsAwaited) {
  parent({"a", "b"});
  EXPECT_EQ(statuses(q.settle({failed("a", 'i'), reopened("a", 2, 'i')})), "ok ok");
  EXPECT_EQ(q.edge("p", Sub::dependencies, "x:a"), "2");
  EXPECT_EQ(statuses(q.settle({completed("b")})), "ok");
  EXPECT_EQ(state(), "waiting-children");
}

TEST_F(FlowSettle, TheEndOfALaterRunToldBesideAnEarlierOneCounts) {
  parent({"a", "b"});
  EXPECT_EQ(statuses(q.settle({completed("a"), completed("a", 2), reopened("a", 2)})),
            "ok ok moved");
  EXPECT_EQ(q.edge("p", Sub::processed, "x:a"), "2:+of a");
  EXPECT_EQ(q.edge("p", Sub::dependencies, "x:a"), "(nil)");
}

TEST_F(FlowSettle, AParentDoesNotFallOverAChildThatRunsAgain) {
  parent({"a"});
  EXPECT_EQ(statuses(q.settle({failed("a", 'f'), reopened("a", 2)})), "ok ok");
  EXPECT_EQ(state(), "waiting-children");
  q.settle({completed("a", 2)});
  EXPECT_EQ(list(q.keys.wait), "p");
}

TEST_F(FlowSettle, AFailureFailsTheParentUnlessItSaysOtherwise) {
  parent({"a", "b"});
  EXPECT_EQ(statuses(q.settle({failed("a", 'f')})), "ok");
  EXPECT_EQ(state(), "failed");
  EXPECT_EQ(q.field("p", "failedReason"), "child x:a failed: it broke");
  EXPECT_EQ(q.field("p", "failedBy"), "x:a");
  EXPECT_EQ(q.edge("p", Sub::unsuccessful, "x:a"), "1:f:it broke");
  EXPECT_EQ(q.run("p"), "0:0:0:0:" + std::to_string(q.now) + "::");
  EXPECT_EQ(statuses(q.settle({completed("b")})), "ok") << "it still gets its bookkeeping";
  EXPECT_EQ(state(), "failed");
}

TEST_F(FlowSettle, OneThatContinuesLetsTheParentGoOnAtOnce) {
  parent({"a", "b"});
  EXPECT_EQ(statuses(q.settle({failed("a", 'c')})), "ok");
  EXPECT_EQ(list(q.keys.wait), "p");
  EXPECT_EQ(q.edge("p", Sub::unsuccessful, "x:a"), "1:c:it broke");
  EXPECT_EQ(q.edge("p", Sub::dependencies, "x:b"), "1");
}

TEST_F(FlowSettle, OneThatIsIgnoredCountsAsDone) {
  parent({"a", "b"});
  q.settle({failed("a", 'i')});
  EXPECT_EQ(state(), "waiting-children");
  EXPECT_EQ(q.edge("p", Sub::failed, "x:a"), "1:it broke");
  q.settle({completed("b")});
  EXPECT_EQ(list(q.keys.wait), "p");
}

TEST_F(FlowSettle, OneThatIsForgottenIsNoChildAnyMore) {
  parent({"a", "b"});
  q.settle({failed("a", 'r'), completed("b")});
  EXPECT_EQ(list(q.keys.wait), "p");
  for (const auto sub : {Sub::dependencies, Sub::processed, Sub::failed, Sub::unsuccessful})
    EXPECT_EQ(q.edge("p", sub, "x:a"), "(nil)");
}

// B27: a retry changes the parent's books whole, under each policy.
TEST_F(FlowSettle, B27_AnotherRunOpensTheEdgeAnew) {
  for (const char policy : {'i', 'f'}) {
    const auto sub = policy == 'i' ? Sub::failed : Sub::unsuccessful;
    parent({"a", "b"});
    q.settle({failed("a", policy)});
    EXPECT_EQ(statuses(q.settle({reopened("a", 2, policy)})), "ok") << policy;
    EXPECT_EQ(q.edge("p", sub, "x:a"), "(nil)");
    EXPECT_EQ(q.edge("p", Sub::dependencies, "x:a"), "2");
    EXPECT_EQ(state(), "waiting-children");
    expect_unchanged("moved", [&] { return q.settle({failed("a", policy, 1)}); });
    EXPECT_EQ(statuses(q.settle({completed("a", 2), completed("b")})), "ok ok");
    EXPECT_EQ(list(q.keys.wait), "p") << policy;
    q.remove({"p"});
    redis({"HDEL", q.keys.outbox, "from:" + q.name() + ":7"});
  }
}

// The failure was never told: only the later message was there to be.
TEST_F(FlowSettle, ALaterEpochStandsForWhatWasNotTold) {
  parent({"a", "b"});
  EXPECT_EQ(statuses(q.settle({completed("a", 3)})), "ok");
  EXPECT_EQ(q.edge("p", Sub::processed, "x:a"), "3:+of a");
  expect_unchanged("moved", [&] { return q.settle({failed("a", 'f', 2)}); });
}

TEST_F(FlowSettle, AParentThatFellWaitsAgainWhenAllThatFailedItRunOnceMore) {
  parent({"a", "b", "c"});
  q.settle({failed("a", 'f')});
  q.settle({failed("b", 'f')});
  EXPECT_EQ(q.field("p", "fails"), "2:x:b");
  EXPECT_EQ(statuses(q.settle({reopened("a", 2)})), "ok");
  EXPECT_EQ(state(), "failed") << "the other one has failed it too";
  EXPECT_EQ(statuses(q.settle({completed("a", 2)})), "ok");
  EXPECT_EQ(statuses(q.settle({reopened("b", 2)})), "ok");
  EXPECT_EQ(state(), "waiting-children");
  EXPECT_EQ(q.field("p", "failedBy"), "(nil)");
  EXPECT_EQ(q.field("p", "failedReason"), "(nil)");
  EXPECT_EQ(q.run("p"), "0:0:0:0:0::");
  q.settle({completed("b", 2), completed("c")});
  EXPECT_EQ(list(q.keys.wait), "p");
}

TEST_F(FlowSettle, OneThatIsPastItIsLeftAlone) {
  parent({"a"});
  q.settle({completed("a")});
  q.finish({{.run = q.claim(1).runs.at(0)}});
  expect_unchanged("moved", [&] { return q.settle({reopened("a", 2)}); });
  EXPECT_EQ(state(), "completed");
}

TEST_F(FlowSettle, AParentTellsItsOwnParent) {
  const auto plan = q.name() + ":7";
  q.add_flow(
      plan,
      plan_of(plan, {{.queue = "above", .id = "g"},
                     {.queue = q.name(), .id = "p", .parent = 0, .policy = ChildFailure::ignore},
                     {.queue = "x", .id = "a", .parent = 1}}));
  auto reply = q.settle({failed("a", 'f')});
  const auto fell = "1:f:" + std::to_string(q.now) + ":i:child x:a failed: it broke";
  EXPECT_EQ(q.message("p", "above", "g"), fell);
  EXPECT_EQ(second(reply), "p above:g " + fell);
  q.settle({reopened("a", 2)});
  EXPECT_EQ(q.message("p", "above", "g"), "2:r:" + std::to_string(q.now) + ":i:");
  EXPECT_EQ(q.field("p", "edge"), "2:i:above:g");
}

TEST_F(FlowSettle, WithoutAParentThereIsNobodyToTell) {
  parent({"a"});
  q.remove({"p"});
  EXPECT_EQ(statuses(q.settle({completed("a")})), "gone");
  redis({"HDEL", q.keys.outbox, "from:" + q.name() + ":7"});
  parent({"b"});
  redis({"SADD", q.keys.trash, "p"});
  EXPECT_EQ(statuses(q.settle({completed("b")})), "gone") << "what is in trash is no job";
}

TEST_F(FlowSettle, AParentGoesOnAsItsAddSaid) {
  parent({"a"}, {.delay = 700, .priority = 3});
  q.settle({completed("a")});
  EXPECT_EQ(q.score(q.keys.delayed, "p"), std::to_string(q.now + 700));
  q.now += 700;
  q.promote(q.peek_due());
  EXPECT_EQ(q.claim(1).ids(), "p");
  EXPECT_NE(q.field("p", "place"), "(nil)");
}

TEST_F(FlowSettle, ReadyOnesHaveTheirPriorityAndLifo) {
  q.add({{.id = "w"}, {.id = "w1", .priority = 1}});
  parent({"a"}, {.priority = 1});
  const auto plan = q.name() + ":8";
  q.add_flow(plan, plan_of(plan, {{.queue = q.name(), .id = "l", .lifo = true},
                                  {.queue = "x", .id = "b", .parent = 0}}));
  q.settle({completed("a"), {.parent = "l", .ref = "x:b"}});
  EXPECT_EQ(q.claim(9).ids(), "l w w1 p");
}

TEST_F(FlowSettle, APausedQueueIsNotWoken) {
  parent({"a"});
  q.pause(true);
  redis({"DEL", q.keys.marker});
  q.settle({completed("a")});
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
}

TEST_F(FlowSettle, ParentsThatFellAreCountedAndKeptByTheRule) {
  q.keep_metrics(10);
  q.keep_failed = {.count = 0};
  parent({"a"});
  q.settle({failed("a", 'f')});
  EXPECT_EQ(redis({"ZCARD", q.keys.failed}).integer, 0);
  EXPECT_EQ(redis({"SISMEMBER", q.keys.trash, "p"}).integer, 1);
  EXPECT_EQ(show(redis({"HGET", q.keys.metrics_failed, std::to_string(q.now / 60'000)})), "1");
}

TEST_F(FlowSettle, MessagesThatAreCutShortAreRefused) {
  parent({"a"});
  const auto job = q.job("p");
  expect_refused("EMQARG", [&] {
    const SubKeys sub(q.name(), "p");
    using Script = scripts::FlowSettle;
    auto call = ScriptCall::of<Script>(
        q.keys, {.revision = q.revision, .now = q.now, .count = 1, .keep = -1, .age = 0});
    call.put_keys(Script::ItemKeys{.job = job,
                                   .dependencies = sub.dependencies,
                                   .processed = sub.processed,
                                   .failed_children = sub.failed,
                                   .unsuccessful = sub.unsuccessful});
    call.put_args(Script::ItemArgs{.id = "p", .told = 2, .messages = "3:1:c:f:0:x:a"});
    return q.call(call);
  });
}

class FlowWait : public FlowSettle {
 protected:
  JobRun running(const std::vector<std::string>& children) {
    q.add({{.id = "p"}});
    const auto run = q.claim(1).runs.at(0);
    std::vector<PlanJob> jobs;
    for (const auto& child : children) jobs.push_back({.queue = "x", .id = child});
    if (!jobs.empty())
      q.add_flow(q.name() + ":7", plan_below(q.name() + ":7", q.name(), "p", jobs));
    return run;
  }
};

TEST_F(FlowWait, UntilItsChildrenAreDone) {
  const auto run = running({"a"});
  EXPECT_EQ(statuses(q.wait_for_children({{.run = run, .ats = 1}})), "ok");
  EXPECT_EQ(state(), "waiting-children");
  EXPECT_EQ(q.active(), 0);
  EXPECT_EQ(q.run("p"), "1:0:0:0:0::") << "it costs no attempt";
  q.settle({completed("a")});
  EXPECT_EQ(q.claim(1).ids(), "p");
}

// B32: with nothing pending it would wait for ever.
TEST_F(FlowWait, B32_WithNothingPendingItIsReadyAtOnce) {
  const auto run = running({});
  q.add({{.id = "w"}});
  EXPECT_EQ(statuses(q.wait_for_children({{.run = run, .ats = 1}})), "ok");
  EXPECT_EQ(list(q.keys.wait), "p w");
  const auto later = q.claim(1).runs.at(0);
  const auto plan = q.name() + ":9";
  q.add_flow(plan, plan_below(plan, q.name(), "p", {{.queue = "x", .id = "b"}}));
  q.settle({completed("b")});
  EXPECT_EQ(statuses(q.wait_for_children({{.run = later, .ats = 2}})), "ok");
  EXPECT_EQ(list(q.keys.wait), "p w");
}

TEST_F(FlowWait, AFailureThatCameBeforeFailsItAsOneThatComesAfter) {
  const auto run = running({"a", "b"});
  q.settle({failed("a", 'f')});
  EXPECT_EQ(state(), "active");
  EXPECT_EQ(statuses(q.wait_for_children({{.run = run, .ats = 1}})), "ok");
  EXPECT_EQ(state(), "failed");
  EXPECT_EQ(q.field("p", "failedReason"), "child x:a failed: it broke");
  EXPECT_EQ(q.run("p"), "1:0:0:0:" + std::to_string(q.now) + "::");
}

TEST_F(FlowWait, AJobThatIsRetriedByHandIsNotFailedByWhatWasBefore) {
  const auto run = running({"a", "b"});
  q.settle({failed("a", 'f')});
  q.wait_for_children({{.run = run, .ats = 1}});
  EXPECT_EQ(statuses(q.retry_finished({"p"})), "ok");
  const auto again = q.claim(1).runs.at(0);
  EXPECT_EQ(statuses(q.wait_for_children({{.run = again, .ats = 2}})), "ok");
  EXPECT_EQ(state(), "waiting-children");
  q.settle({completed("b")});
  EXPECT_EQ(list(q.keys.wait), "p");
}

TEST_F(FlowWait, AnotherRunsEndIsStale) {
  running({"a"});
  expect_unchanged("stale gone", [&] {
    return q.wait_for_children({{.run = {"p", 1}, .ats = 1}, {.run = {"never", 1}, .ats = 1}});
  });
}

TEST_F(FlowWait, AJobWithoutItsHashIsGone) {
  const auto run = running({});
  redis({"DEL", q.job("p")});
  EXPECT_EQ(statuses(q.wait_for_children({{.run = run, .ats = 1}})), "gone");
  EXPECT_EQ(q.active(), 0);
}

}  // namespace
}  // namespace echomq::test
