// SPDX-License-Identifier: MIT
// Every way in which a child can end or leave reaches its parent, by the child's policy, and so
// does another run of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "probe/script_queue.h"
#include "support/flow_test.h"
#include "support/heard.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

constexpr std::array kPolicies{ChildFailure::fail_parent, ChildFailure::continue_parent,
                               ChildFailure::ignore, ChildFailure::remove_dependency};

class EndsOfChildren : public FlowTest {
 protected:
  struct Family {
    ChildFailure policy;
    std::string parent, bad, good;
  };

  // A parent for each policy, with a child that is about to end badly and one that waits.
  std::vector<Family> families(const JobOptions& of_bad = {}) {
    std::vector<Family> all;
    for (const auto policy : kPolicies) {
      const auto tree =
          flows
              .add({.queue = named("parent"),
                    .children = {{.queue = named("bad"), .options = of_bad, .on_failure = policy},
                                 {.queue = named("good")}}})
              .value();
      all.push_back({policy, tree.id, tree.children[0].id, tree.children[1].id});
    }
    return all;
  }

  // The bad children of these have ended: the parents behave as the policies say.
  void expect_policies_hold(const std::vector<Family>& all) {
    work("parent", [](Job<>&) { return Outcome::done(); });
    for (const auto& [policy, parent, bad, good] : all) {
      const auto number = static_cast<int>(policy);
      if (policy == ChildFailure::fail_parent) {
        ASSERT_TRUE(reaches("parent", parent, JobState::failed)) << log.text();
        EXPECT_NE(job_of("parent", parent).failed_reason.find(bad), std::string::npos);
        EXPECT_EQ(runs.times(parent), 0) << "it is not run";
      } else if (policy == ChildFailure::continue_parent) {
        ASSERT_TRUE(reaches("parent", parent, JobState::completed)) << log.text();
      } else {
        ASSERT_TRUE(eventually([&] {
          return flows.child_counts(named("parent"), parent).value().pending == 1;
        })) << number
            << log.text();
        EXPECT_EQ(job_of("parent", parent).state, JobState::waiting_children) << number;
      }
      const auto counts = flows.child_counts(named("parent"), parent).value();
      EXPECT_EQ(counts.pending, 1) << number;
      EXPECT_EQ(counts.failed,
                policy == ChildFailure::fail_parent || policy == ChildFailure::continue_parent)
          << number;
      EXPECT_EQ(counts.ignored, policy == ChildFailure::ignore) << number;
    }
    work("good", [](Job<>&) { return Outcome::done(); });
    for (const auto& family : all) {
      if (family.policy == ChildFailure::fail_parent) continue;
      EXPECT_TRUE(reaches("parent", family.parent, JobState::completed)) << log.text();
    }
    EXPECT_TRUE(eventually([&] { return messages("bad") + messages("good") == 0; }));
    EXPECT_TRUE(flows.stuck(named("parent")).value().parents.empty());
  }
};

TEST_F(EndsOfChildren, B25_B26_AThrowThatWasTheLastAttempt) {
  const auto all = families({.attempts = 2});
  work("bad", [](Job<>&) -> Outcome { throw std::runtime_error("it broke"); });
  expect_policies_hold(all);
  EXPECT_EQ(runs.times(all[0].bad), 2);
}

TEST_F(EndsOfChildren, B26_Unrecoverable) {
  const auto all = families({.attempts = 5});
  work("bad", [](Job<>&) { return Outcome::unrecoverable("never"); });
  expect_policies_hold(all);
}

// B26: the sweep that finds the lease over is another path than the worker's.
TEST_F(EndsOfChildren, B26_ACrashTooMany) {
  const auto all = families();
  ScriptQueue bad(redis, named("bad"));
  bad.now = client.server_time_ms() - 60'000;
  ASSERT_EQ(bad.claim(4, {.lease_ms = 2'000}).runs.size(), 4U);
  auto how = quick();
  how.max_crashes = 0;
  work(
      "bad", [](Job<>&) { return Outcome::done(); }, how);
  expect_policies_hold(all);
  EXPECT_EQ(job_of("bad", all[0].bad).crashes, 1U);
}

TEST_F(EndsOfChildren, B26_PutOffMoreOftenThanAllowed) {
  const auto all = families();
  auto how = quick();
  how.max_starts = 2;
  work(
      "bad", [](Job<>&) { return Outcome::retry_in(1ms); }, how);
  expect_policies_hold(all);
}

TEST_F(EndsOfChildren, B26_Expired) {
  const auto all = families({.expires_in = 1ms});
  const auto later = client.server_time_ms() + 20;
  ASSERT_TRUE(eventually([&] { return client.server_time_ms() > later; }));
  work("bad", [](Job<>&) { return Outcome::done(); });
  expect_policies_hold(all);
  EXPECT_EQ(runs.times(all[0].bad), 0);
}

TEST_F(EndsOfChildren, B26_Removed) {
  const auto all = families();
  for (const auto& family : all) ASSERT_TRUE(queue_of("bad").remove(family.bad));
  expect_policies_hold(all);
}

TEST_F(EndsOfChildren, B26_Drained) {
  const auto all = families();
  EXPECT_EQ(queue_of("bad").drain().value().done, 4);
  expect_policies_hold(all);
}

TEST_F(EndsOfChildren, B26_Cleaned) {
  const auto all = families({.delay = 1h});
  EXPECT_EQ(queue_of("bad").clean(JobState::delayed, 0ms).value().done, 4);
  expect_policies_hold(all);
}

// What an obliterated queue held is told before the queue is no more.
TEST_F(EndsOfChildren, B26_Obliterated) {
  const auto all = families();
  ASSERT_TRUE(queue_of("bad").obliterate({.all = true}));
  EXPECT_EQ(redis({"EXISTS", key(named("bad"), Structure::outbox)}).integer, 0);
  expect_policies_hold(all);
}

TEST_F(EndsOfChildren, B26_Cancelled) {
  const auto all = families();
  auto& worker = work("bad", [](Job<>& job) {
    eventually([&] { return job.stop_token().stop_requested(); });
    return Outcome::unrecoverable("called off: " + job.stop_reason().text);
  });
  ASSERT_TRUE(eventually([&] { return runs.size() == 4; }));
  EXPECT_EQ(worker.cancel_all("enough"), 4U);
  expect_policies_hold(all);
}

TEST_F(EndsOfChildren, AResultThatIsNotKeptReachesTheParent) {
  const auto tree =
      flows
          .add(
              {.queue = named("parent"),
               .children = {{.queue = named("good"), .options = {.keep_completed = Keep::none()}}}})
          .value();
  work("good", [](Job<>&) { return Outcome::done("kept by the parent"); });
  std::atomic<bool> same{false};
  work("parent", [&](Job<>& job) {
    const auto children = job.children().value();
    same = children.completed.size() == 1 && children.completed[0].result == "kept by the parent";
    return Outcome::done();
  });
  ASSERT_TRUE(reaches("parent", tree.id, JobState::completed)) << log.text();
  EXPECT_TRUE(same);
  EXPECT_EQ(error_of(queue_of("good").job(tree.children[0].id)).code, ErrorCode::not_found);
}

TEST_F(EndsOfChildren, AFailureGoesUpTheTreeToTheOneThatIgnoresIt) {
  const auto tree = flows
                        .add({.queue = named("parent"),
                              .children = {{.queue = named("a"),
                                            .on_failure = ChildFailure::ignore,
                                            .children = {{.queue = named("b"),
                                                          .children = {{.queue = named("c")}}}}}}})
                        .value();
  work("c", [](Job<>&) { return Outcome::unrecoverable("the root of it"); });
  std::string reason;
  work("parent", [&](Job<>& job) {
    const auto children = job.children().value();
    if (children.ignored.size() == 1) reason = children.ignored[0].reason;
    return Outcome::done();
  });
  ASSERT_TRUE(reaches("parent", tree.id, JobState::completed)) << log.text();
  EXPECT_NE(reason.find("the root of it"), std::string::npos) << reason;
  const auto& a = tree.children[0];
  EXPECT_EQ(job_of("a", a.id).state, JobState::failed);
  EXPECT_EQ(job_of("b", a.children[0].id).state, JobState::failed);
}

// --- another run

// B28: retried in bulk, children release their parents.
TEST_F(EndsOfChildren, B28_RetriedInBulkTheirParentsComplete) {
  std::vector<std::string> parents;
  for (int i = 0; i < 3; ++i)
    parents.push_back(flows
                          .add({.queue = named("parent"),
                                .children = {{.queue = named("bad")}, {.queue = named("bad")}}})
                          .value()
                          .id);
  std::atomic<bool> broken{true};
  work("bad", [&](Job<>&) { return broken ? Outcome::unrecoverable("broken") : Outcome::done(); });
  for (const auto& parent : parents)
    ASSERT_TRUE(reaches("parent", parent, JobState::failed)) << log.text();
  ASSERT_TRUE(eventually([&] { return counts_of("bad").failed == 6; }));
  broken = false;
  EXPECT_EQ(queue_of("bad").retry_all().value().done, 6);
  work("parent", [](Job<>&) { return Outcome::done(); });
  for (const auto& parent : parents) {
    ASSERT_TRUE(reaches("parent", parent, JobState::completed)) << log.text();
    EXPECT_EQ(runs.times(parent), 1);
    EXPECT_EQ(flows.child_counts(named("parent"), parent).value().completed, 2);
  }
}

// B27: under each policy, one by one. A parent that waits, or fell over it, waits for its next end;
// one that went on without it is past it.
TEST_F(EndsOfChildren, B27_ARetriedChildIsAwaitedAnewUnderEachPolicy) {
  for (const auto policy : kPolicies) {
    const auto number = static_cast<int>(policy);
    const bool is_dropped = policy == ChildFailure::remove_dependency;
    const bool goes_on = policy == ChildFailure::continue_parent;
    const bool is_awaited = !is_dropped && !goes_on;
    const auto tree = flows
                          .add({.queue = named("parent"),
                                .children = {{.queue = named("bad"), .on_failure = policy},
                                             {.queue = named("good")}}})
                          .value();
    const auto counts = [&] { return flows.child_counts(named("parent"), tree.id).value(); };
    std::atomic<bool> broken{true};
    work("bad",
         [&](Job<>&) { return broken ? Outcome::unrecoverable("broken") : Outcome::done(); });
    ASSERT_TRUE(reaches("bad", tree.children[0].id, JobState::failed)) << number;
    ASSERT_TRUE(eventually([&] {
      return is_dropped ? counts().all() == 1 : counts().ignored + counts().failed == 1;
    })) << number;
    broken = false;
    ASSERT_TRUE(queue_of("bad").retry(tree.children[0].id)) << number;
    ASSERT_TRUE(reaches("bad", tree.children[0].id, JobState::completed)) << number;
    ASSERT_TRUE(eventually([&] {
      return messages("bad") == 0 && (!is_awaited || counts().completed == 1);
    })) << number
        << log.text();
    EXPECT_EQ(job_of("parent", tree.id).state,
              goes_on ? JobState::waiting : JobState::waiting_children)
        << number;
    EXPECT_EQ(counts().completed, is_awaited ? 1 : 0) << number;
    EXPECT_EQ(counts().failed, goes_on ? 1 : 0) << number << ": it went on without it";
    EXPECT_EQ(counts().pending, 1) << number;
    work("good", [](Job<>&) { return Outcome::done(); });
    work("parent", [](Job<>&) { return Outcome::done(); });
    ASSERT_TRUE(reaches("parent", tree.id, JobState::completed)) << number << log.text();
    EXPECT_EQ(runs.times(tree.id), 1) << number;
    stop_workers();
  }
}

TEST_F(EndsOfChildren, ARetryReachesUpTheTree) {
  const auto tree =
      flows
          .add({.queue = named("parent"),
                .children = {{.queue = named("a"), .children = {{.queue = named("bad")}}}}})
          .value();
  std::atomic<bool> broken{true};
  work("bad", [&](Job<>&) { return broken ? Outcome::unrecoverable("broken") : Outcome::done(); });
  ASSERT_TRUE(reaches("parent", tree.id, JobState::failed)) << log.text();
  broken = false;
  ASSERT_TRUE(queue_of("bad").retry(tree.children[0].children[0].id));
  work("a", [](Job<>&) { return Outcome::done(); });
  work("parent", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(reaches("parent", tree.id, JobState::completed)) << log.text();
  EXPECT_EQ(runs.times(tree.id), 1);
}

// A parent that is gone is no error of its child.
TEST_F(EndsOfChildren, WithoutItsParentAChildEndsAsAnyOther) {
  const auto tree =
      flows.add({.queue = named("parent"), .children = {{.queue = named("good")}}}).value();
  ASSERT_TRUE(queue_of("parent").remove(tree.id));
  Heard heard;
  auto good = queue_of("good");
  QueueEvents events{good, {}, heard.callback()};
  ASSERT_TRUE(events.ready(5s));
  work("good", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(heard.wait_for(EventType::orphaned));
  EXPECT_EQ(job_of("good", tree.children[0].id).state, JobState::completed);
  EXPECT_TRUE(eventually([&] { return messages("good") == 0; }));
}

TEST_F(EndsOfChildren, WithoutTheQueueOfItsParentAChildEndsAsAnyOther) {
  const auto tree =
      flows.add({.queue = named("parent"), .children = {{.queue = named("good")}}}).value();
  ASSERT_TRUE(queue_of("parent").obliterate({.all = true}));
  work("good", [](Job<>&) { return Outcome::done(); });
  EXPECT_TRUE(reaches("good", tree.children[0].id, JobState::completed));
  EXPECT_TRUE(eventually([&] { return messages("good") == 0; })) << log.text();
}

// What nobody has told yet a sweep tells: here the message is put back as a crash would leave it.
TEST_F(EndsOfChildren, ASweepTellsWhatACrashLeft) {
  const auto tree =
      flows.add({.queue = named("parent"), .children = {{.queue = named("good")}}}).value();
  const auto& child = tree.children[0].id;
  ScriptQueue good(redis, named("good"));
  good.now = client.server_time_ms() - 10'000;
  const auto run = good.claim(1).runs.at(0);
  ASSERT_EQ(statuses(good.finish({{.run = run, .value = "by hand"}}, {.parents = true})), "ok");
  EXPECT_EQ(job_of("parent", tree.id).state, JobState::waiting_children);
  EXPECT_EQ(messages("good"), 1U);
  work("good", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(reaches("parent", tree.id, JobState::waiting)) << log.text();
  EXPECT_TRUE(eventually([&] { return messages("good") == 0; }));
  EXPECT_EQ(
      flows.children(named("parent"), tree.id, ChildState::completed).value().children.at(0).id,
      child);
}

TEST_F(EndsOfChildren, PlainJobsWriteNothingForParents) {
  queue_of("good").add_bulk(std::vector<NewJob<>>(50, {"x", {}})).value();
  work("good", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(eventually([&] { return counts_of("good").completed == 50; }));
  EXPECT_EQ(redis({"EXISTS", key(named("good"), Structure::outbox)}).integer, 0);
}

}  // namespace
}  // namespace echomq::test
