// SPDX-License-Identifier: MIT
// Parents of which a child has failed, as a v1 client left them (test/v1/make_failed_children.mjs):
// each keeps what it knew of that child, and goes on as v1 or 2.0 would have let it.
#include <gtest/gtest.h>

#include <string>

#include "support/migration_test.h"

namespace echomq::test {
namespace {

class FailedChildren : public MigrationTest {
 protected:
  void SetUp() override {
    MigrationTest::SetUp();
    if (IsSkipped()) return;
    auto migration = migration_of(v1);
    const auto report = migration.run();
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->left, 0) << blocking(report->findings);
    const auto compared = migration.verify().value();
    EXPECT_EQ(compared.found, 0) << lines(compared);
    ASSERT_TRUE(migration.finish());
  }
  // The one child of a parent that has ended.
  Child ended(const std::string& policy, ChildState state) {
    const auto page = flows.children(named("mail"), "parent-" + policy, state).value();
    EXPECT_EQ(page.children.size(), 1U) << policy;
    return page.children.empty() ? Child{} : page.children.front();
  }
  ChildCounts counts(const std::string& policy) {
    return flows.child_counts(named("mail"), "parent-" + policy).value();
  }
  void work_all() {
    ASSERT_TRUE(queue_of("parts").promote_all());
    for (const auto* const moved : {"parts", "mail"})
      work(moved, [](Job<>&) { return Outcome::done("ok"); });
  }

  V1Fixture v1{redis, "failed_children"};
};

TEST_F(FailedChildren, AreReadBackWithTheirReasons) {
  for (const auto* const policy : {"ignored", "continued"}) {
    const auto child = ended(policy, ChildState::ignored);
    EXPECT_EQ(child.queue, named("parts"));
    EXPECT_EQ(child.id, std::string("child-") + policy);
    EXPECT_EQ(child.text, child.id + " breaks: kaputt, ü");
    EXPECT_EQ(counts(policy).pending, 1);
    EXPECT_EQ(counts(policy).all(), 2);
  }
  const auto child = ended("failing", ChildState::failed);
  EXPECT_EQ(child.id, "child-failing");
  EXPECT_EQ(child.text, "child-failing breaks: kaputt, ü") << "v1 had it at the child alone";
  EXPECT_EQ(counts("failing").pending, 1);
  EXPECT_EQ(counts("removed").pending, 1);
  EXPECT_EQ(counts("removed").all(), 1) << "its failure was to be forgotten";
  EXPECT_EQ(job_of("mail", "parent-ignored").state, JobState::waiting_children);
  EXPECT_EQ(job_of("mail", "parent-removed").state, JobState::waiting_children);
  EXPECT_EQ(job_of("mail", "parent-continued").state, JobState::waiting);
  EXPECT_EQ(job_of("mail", "parent-failing").state, JobState::failed);
}

TEST_F(FailedChildren, LetTheirParentsGoOnOnceTheOthersAreDone) {
  work_all();
  for (const auto* const policy : {"ignored", "continued", "removed"}) {
    EXPECT_TRUE(reaches("mail", std::string("parent-") + policy, JobState::completed)) << policy;
    EXPECT_EQ(runs.times(std::string("parent-") + policy), 1) << policy;
  }
  EXPECT_TRUE(reaches("parts", "later-failing", JobState::completed));
  EXPECT_EQ(job_of("mail", "parent-failing").state, JobState::failed);
  EXPECT_EQ(runs.times("parent-failing"), 0);
}

TEST_F(FailedChildren, AParentThatOneFailedRunsOnceTheChildGetsAnotherRun) {
  ASSERT_TRUE(queue_of("parts").retry("child-failing"));
  work_all();
  EXPECT_TRUE(reaches("mail", "parent-failing", JobState::completed));
  EXPECT_EQ(runs.times("parent-failing"), 1);
  EXPECT_EQ(counts("failing").completed, 2);
}

}  // namespace
}  // namespace echomq::test
