// SPDX-License-Identifier: MIT
// Trees that are removed: all that is of the tree, nothing that is not, and no parent that stays
// waits for what is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>

#include "support/chaos_proxy.h"
#include "support/flow_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class RemovedFlows : public FlowTest {
 protected:
  // A root whose child ended and is not kept, so that its id is free.
  void end_child_of(const std::string& root, const std::string& child) {
    ASSERT_TRUE(
        flows.add({.queue = named("a"),
                   .options = {.id = root},
                   .children = {{.queue = named("b"),
                                 .options = {.id = child, .keep_completed = Keep::none()}}}}));
    work("b", [](Job<>&) { return Outcome::done(); });
    ASSERT_TRUE(reaches("a", root, JobState::waiting)) << log.text();
    stop_workers();
    ASSERT_TRUE(eventually([&] { return !queue_of("b").job(child); }));
  }
};

TEST_F(RemovedFlows, AJobThatCameByTheIdOfAChildThatIsGoneStays) {
  end_child_of("root", "invoice-7");
  ASSERT_TRUE(queue_of("b").add("another", {.id = "invoice-7"}));
  const auto shown = flows.tree(named("a"), "root").value();
  ASSERT_EQ(shown.children.size(), 1U);
  EXPECT_FALSE(shown.children[0].there) << "what is there is no child of it";
  EXPECT_EQ(shown.children[0].state, ChildState::completed);
  const auto removal = flows.remove(named("a"), "root").value();
  EXPECT_EQ(removal.removed, 1);
  EXPECT_TRUE(removal.left.empty());
  EXPECT_EQ(job_of("b", "invoice-7").data, "another");
}

TEST_F(RemovedFlows, AChildOfANewFlowByAnOldIdStaysAndItsParentGoesOn) {
  end_child_of("old", "kid");
  ASSERT_TRUE(flows.add(
      {.queue = named("a"),
       .options = {.id = "new"},
       .children = {{.queue = named("b"),
                     .options = {.id = "kid"},
                     .children = {{.queue = named("c"), .options = {.id = "grandkid"}}}}}}));
  EXPECT_FALSE(flows.tree(named("a"), "old").value().children.at(0).there);
  EXPECT_EQ(flows.remove(named("a"), "old").value().removed, 1);
  EXPECT_EQ(job_of("c", "grandkid").state, JobState::waiting);
  for (const auto* const word : {"a", "b", "c"}) work(word, [](Job<>&) { return Outcome::done(); });
  EXPECT_TRUE(reaches("a", "new", JobState::completed)) << log.text();
  EXPECT_EQ(runs.times("kid"), 2) << "once in either flow";
}

TEST_F(RemovedFlows, ARootThatRunsIsToldAndDoesNotWaitForever) {
  Gate gate;
  const auto root = queue_of("a").add("root").value();
  std::atomic<std::size_t> ignored{0};
  work(
      "a",
      [&](Job<>& job) {
        const auto children = job.children().value();
        ignored = children.ignored.size();
        if (!children.empty()) return Outcome::done();
        EXPECT_TRUE(job.add_children({{.queue = named("b"), .on_failure = ChildFailure::ignore},
                                      {.queue = named("b"), .on_failure = ChildFailure::ignore}}));
        gate.pass();
        return Outcome::wait_for_children();
      },
      quick(1));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  const auto removal = flows.remove(named("a"), root).value();
  EXPECT_EQ(removal.removed, 2);
  ASSERT_EQ(removal.left.size(), 1U);
  EXPECT_EQ(removal.left[0].id, root);
  gate.open();
  EXPECT_TRUE(reaches("a", root, JobState::completed)) << log.text();
  EXPECT_EQ(ignored, 2U);
  EXPECT_TRUE(flows.stuck(named("a")).value().parents.empty());
}

// Its child fails it, as by default, and so on up the tree.
TEST_F(RemovedFlows, AMiddleThatRunsIsToldAndEnds) {
  Gate gate;
  ASSERT_TRUE(flows.add({.queue = named("a"),
                         .options = {.id = "root"},
                         .children = {{.queue = named("b"), .options = {.id = "middle"}}}}));
  work(
      "b",
      [&](Job<>& job) {
        EXPECT_TRUE(job.add_children({{.queue = named("c"), .options = {.id = "leaf"}}}));
        gate.pass();
        return Outcome::wait_for_children();
      },
      quick(1));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  const auto removal = flows.remove(named("a"), "root").value();
  EXPECT_EQ(removal.removed, 2) << "the root and the leaf";
  ASSERT_EQ(removal.left.size(), 1U);
  EXPECT_EQ(removal.left[0].id, "middle");
  gate.open();
  EXPECT_TRUE(reaches("b", "middle", JobState::failed)) << log.text();
  EXPECT_EQ(runs.times("middle"), 1);
}

// It did not run when its children were removed, and does when its turn comes.
TEST_F(RemovedFlows, OneThatBeginsToRunMeanwhileIsToldToo) {
  ASSERT_TRUE(flows.add({.queue = named("a"),
                         .options = {.id = "root"},
                         .children = {{.queue = named("b"),
                                       .options = {.id = "first"},
                                       .on_failure = ChildFailure::continue_parent},
                                      {.queue = named("c"),
                                       .options = {.id = "second"},
                                       .on_failure = ChildFailure::ignore}}}));
  work("b", [](Job<>&) { return Outcome::unrecoverable("let it go on"); });
  ASSERT_TRUE(reaches("a", "root", JobState::waiting)) << log.text();
  stop_workers();
  ASSERT_EQ(flows.child_counts(named("a"), "root").value().pending, 1);
  ChaosProxy proxy(server);
  auto far = connect(proxy.url(), options()).value();
  ASSERT_TRUE(Flows(far).child_counts(named("a"), "root"));
  proxy.set({.delay = 300ms});
  auto removing =
      std::async(std::launch::async, [&] { return Flows(far).remove(named("a"), "root"); });
  ASSERT_TRUE(eventually([&] { return counts_of("c").waiting == 0; }));
  auto own = queue_of("a");
  Consumer<> consumer{own};
  auto held = consumer.fetch(5s).value();
  ASSERT_TRUE(held) << "the root was removed before it could run";
  const auto removal = removing.get().value();
  ASSERT_EQ(removal.left.size(), 1U);
  EXPECT_EQ(removal.left[0].id, "root");
  EXPECT_EQ(flows.child_counts(named("a"), "root").value().pending, 0);
  const auto children = held->job().children().value();
  ASSERT_EQ(children.ignored.size(), 1U);
  EXPECT_EQ(children.ignored[0].reason, "removed before its end");
  ASSERT_TRUE(held->finish(Outcome::wait_for_children()));
  EXPECT_EQ(job_of("a", "root").state, JobState::waiting) << "it waits for nothing";
}

}  // namespace
}  // namespace echomq::test
