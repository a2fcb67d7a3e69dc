// SPDX-License-Identifier: MIT
// Trees that are read, removed and found stuck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "support/flow_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class LookedAtFlows : public FlowTest {
 protected:
  // A root with two children, the first of which has two.
  AddedFlow tree() {
    return flows
        .add({.queue = named("a"),
              .data = "root",
              .options = {.id = "root"},
              .children = {{.queue = named("b"),
                            .options = {.id = "left"},
                            .children = {{.queue = named("c"), .options = {.id = "one"}},
                                         {.queue = named("c"), .options = {.id = "two"}}}},
                           {.queue = named("c"),
                            .options = {.id = "right"},
                            .on_failure = ChildFailure::ignore}}})
        .value();
  }
};

TEST_F(LookedAtFlows, ATreeIsReadWithItsStates) {
  tree();
  work("c", [](Job<>& job) {
    return job.id() == "right" ? Outcome::unrecoverable("no") : Outcome::done("yes");
  });
  work("b", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(reaches("a", "root", JobState::waiting)) << log.text();
  const auto root = flows.tree(named("a"), "root").value();
  EXPECT_TRUE(root.there);
  EXPECT_EQ(root.job.name, "job");
  EXPECT_EQ(root.job.data, "") << "data is left out";
  EXPECT_EQ(root.counts.completed, 1);
  EXPECT_EQ(root.counts.ignored, 1);
  EXPECT_FALSE(root.cut);
  ASSERT_EQ(root.children.size(), 2U);
  EXPECT_EQ(root.children[0].id, "left");
  EXPECT_EQ(root.children[0].state, ChildState::completed);
  EXPECT_EQ(root.children[0].children.size(), 2U);
  EXPECT_EQ(root.children[1].id, "right");
  EXPECT_EQ(root.children[1].state, ChildState::ignored);
  EXPECT_EQ(root.children[1].job.state, JobState::failed);
}

TEST_F(LookedAtFlows, AsDeepAndAsWideAsAskedFor) {
  tree();
  const auto flat = flows.tree(named("a"), "root", {.depth = 1}).value();
  EXPECT_TRUE(flat.children.empty());
  EXPECT_TRUE(flat.cut);
  EXPECT_EQ(flat.counts.pending, 2);
  const auto narrow = flows.tree(named("a"), "root", {.max_children = 1}).value();
  EXPECT_EQ(narrow.children.size(), 1U);
  EXPECT_TRUE(narrow.cut);
  EXPECT_EQ(error_of(flows.tree(named("a"), "root", {.depth = 0})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(flows.tree(named("a"), "never")).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(flows.tree("nobody's", "x")).code, ErrorCode::invalid_name);
}

TEST_F(LookedAtFlows, AJobThatIsGoneIsShownByItsEdge) {
  tree();
  work("c", [](Job<>&) { return Outcome::done("result"); });
  ASSERT_TRUE(reaches("c", "one", JobState::completed));
  stop_workers();
  ASSERT_TRUE(
      eventually([&] { return flows.child_counts(named("b"), "left").value().completed == 2; }));
  ASSERT_TRUE(queue_of("c").remove("one"));
  const auto left = flows.tree(named("b"), "left").value();
  ASSERT_EQ(left.children.size(), 2U);
  const auto& one = left.children[0].id == "one" ? left.children[0] : left.children[1];
  EXPECT_FALSE(one.there);
  EXPECT_EQ(one.state, ChildState::completed);
}

TEST_F(LookedAtFlows, ChildrenComeInPagesEachOnce) {
  FlowJob root{.queue = named("a"), .options = {.id = "root"}};
  for (int i = 0; i < 700; ++i) root.children.push_back({.queue = named("b")});
  flows.add(root).value();
  std::set<std::string> seen;
  ChildPageOptions how{.limit = 50};
  int pages = 0;
  do {
    const auto page = flows.children(named("a"), "root", ChildState::pending, how).value();
    for (const auto& child : page.children) seen.insert(child.id);
    how.cursor = page.next;
    ++pages;
  } while (!how.cursor.empty());
  EXPECT_EQ(seen.size(), 700U);
  EXPECT_GT(pages, 3);
  EXPECT_EQ(error_of(flows.children(named("a"), "root", ChildState::pending, {.limit = 0})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(flows.children(named("a"), "root", ChildState::pending, {.cursor = "x"})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of(flows.children(named("a"), "never", ChildState::pending)).code,
            ErrorCode::not_found);
}

TEST_F(LookedAtFlows, ATreeIsRemovedWhole) {
  tree();
  const auto removal = flows.remove(named("a"), "root").value();
  EXPECT_EQ(removal.removed, 5);
  EXPECT_TRUE(removal.left.empty());
  for (const auto* const word : {"a", "b", "c"}) {
    const auto now = counts_of(word);
    EXPECT_EQ(now.waiting + now.waiting_children, 0) << word;
    EXPECT_EQ(messages(word), 0U) << "nobody within the tree is told";
  }
  for (const auto& one : keys_of(redis, named("a")))
    EXPECT_EQ(one.find(":root"), std::string::npos) << one;
  EXPECT_EQ(error_of(flows.remove(named("a"), "root")).code, ErrorCode::not_found);
}

TEST_F(LookedAtFlows, WhatRunsStaysAndIsTold) {
  Gate gate;
  tree();
  work(
      "c",
      [&](Job<>& job) {
        if (job.id() == "one") gate.pass();
        return Outcome::done();
      },
      quick(1));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  const auto removal = flows.remove(named("a"), "root").value();
  EXPECT_EQ(removal.removed, 4);
  ASSERT_EQ(removal.left.size(), 1U);
  EXPECT_EQ(removal.left[0].id, "one");
  EXPECT_EQ(removal.left[0].why.code, ErrorCode::wrong_state);
  gate.open();
  EXPECT_TRUE(reaches("c", "one", JobState::completed));
}

TEST_F(LookedAtFlows, APartOfATreeTellsTheRest) {
  tree();
  EXPECT_EQ(flows.remove(named("b"), "left").value().removed, 3);
  EXPECT_EQ(job_of("a", "root").state, JobState::failed)
      << "a child of it was removed before its end";
}

TEST_F(LookedAtFlows, AFlowThatGoesOnIsNotStuck) {
  tree();
  EXPECT_TRUE(flows.stuck(named("a")).value().parents.empty());
  EXPECT_TRUE(flows.stuck(named("b")).value().parents.empty());
  EXPECT_EQ(error_of(flows.stuck(named("never"))).code, ErrorCode::not_found);
}

// B25: a parent that can no longer run is found, and why.
TEST_F(LookedAtFlows, B25_AParentWhoseChildIsGoneWithoutAWordIsStuck) {
  tree();
  redis({"DEL", job_key(named("c"), "one")});
  const auto stuck = flows.stuck(named("b")).value().parents;
  ASSERT_EQ(stuck.size(), 1U);
  EXPECT_EQ(stuck[0].id, "left");
  EXPECT_EQ(stuck[0].child, "one");
  EXPECT_EQ(stuck[0].child_queue, named("c"));
  EXPECT_GT(stuck[0].since_ms, 0);
  EXPECT_NE(stuck[0].why.find("is gone"), std::string::npos) << stuck[0].why;
  for (const auto& one : keys_of(redis, named("c"))) redis({"DEL", one});
  EXPECT_NE(flows.stuck(named("b")).value().parents.at(0).why.find("no more"), std::string::npos);
}

TEST_F(LookedAtFlows, B25_OneThatNobodyReleasedIsStuck) {
  tree();
  redis({"DEL", job_key(named("b"), "left", Sub::dependencies)});
  const auto stuck = flows.stuck(named("b")).value().parents;
  ASSERT_EQ(stuck.size(), 1U);
  EXPECT_EQ(stuck[0].child, "");
}

TEST_F(LookedAtFlows, B25_AChildWhoseMessageIsLostIsFound) {
  tree();
  work("c", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(reaches("b", "left", JobState::waiting));
  stop_workers();
  redis({"HSET", job_key(named("b"), "left", Sub::dependencies), named("c") + ":one", "1"});
  redis({"LREM", key(named("b"), Structure::wait), "1", "left"});
  redis({"ZADD", key(named("b"), Structure::waiting_children), "5", "left"});
  const auto stuck = flows.stuck(named("b")).value().parents;
  ASSERT_EQ(stuck.size(), 1U);
  EXPECT_NE(stuck[0].why.find("message is lost"), std::string::npos) << stuck[0].why;
}

// Whichever of thousands it is: here the last one that the server names.
TEST_F(LookedAtFlows, B25_OneOfThousandsThatIsGoneIsFound) {
  FlowJob root{.queue = named("a"), .options = {.id = "root"}};
  for (int i = 0; i < 5'000; ++i)
    root.children.push_back({.queue = named("b"), .options = {.delay = 1h}});
  flows.add(root).value();
  EXPECT_TRUE(flows.stuck(named("a")).value().parents.empty());
  std::string last;
  ChildPageOptions how{.limit = 256};
  do {
    const auto page = flows.children(named("a"), "root", ChildState::pending, how).value();
    if (!page.children.empty()) last = page.children.back().id;
    how.cursor = page.next;
  } while (!how.cursor.empty());
  redis({"DEL", job_key(named("b"), last)});
  const auto stuck = flows.stuck(named("a")).value().parents;
  ASSERT_EQ(stuck.size(), 1U);
  EXPECT_EQ(stuck[0].child, last);
  EXPECT_NE(stuck[0].why.find("is gone"), std::string::npos) << stuck[0].why;
  ASSERT_TRUE(queue_of("b").add("x", {.id = "other"}));
  redis({"RENAME", job_key(named("b"), "other"), job_key(named("b"), last)});
  EXPECT_NE(flows.stuck(named("a")).value().parents.at(0).why.find("another job by now"),
            std::string::npos);
}

TEST_F(LookedAtFlows, AParentOfThousandsIsRemovedInChunks) {
  FlowJob root{.queue = named("a"), .options = {.id = "root"}};
  for (int i = 0; i < 2'000; ++i)
    root.children.push_back({.queue = named("b" + std::to_string(i % 2))});
  flows.add(root).value();
  EXPECT_EQ(flows.remove(named("a"), "root").value().removed, 2'001);
  EXPECT_EQ(counts_of("b0").waiting + counts_of("b1").waiting, 0);
}

}  // namespace
}  // namespace echomq::test
