// SPDX-License-Identifier: MIT
// What is moved and will mean something else is told before it is moved, and when it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/migration_test.h"

namespace echomq::test {
namespace {

using ::testing::HasSubstr;

class MigrationChangedMeaning : public MigrationTest {
 protected:
  static std::string notes(const std::vector<MigrationFinding>& findings) {
    std::string text;
    for (const auto& finding : findings)
      if (!finding.blocks) text += finding.queue + " " + finding.job + ": " + finding.text + "\n";
    return text;
  }
  static int times(const std::string& text, const std::string& word) {
    int count = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
  }
  V1Fixture v1{redis, "measured"};
};

TEST_F(MigrationChangedMeaning, IsToldOnceForEachKindAndBlocksNothing) {
  for (const auto* const id : {"1", "2", "3"})
    redis({"HSET", v1.key("orders", id), "opts", R"({"backoff":{"type":"mine","delay":500}})"});
  redis({"HSET", v1.key("orders", "4"), "opts", R"({"removeOnComplete":"yes"})"});
  auto migration = migration_of(v1);
  const auto plan = migration.plan().value();
  EXPECT_FALSE(plan.blocked()) << blocking(plan.findings);
  const auto report = migration.run().value();
  EXPECT_EQ(report.left, 0);
  for (const auto& text : {notes(plan.findings), notes(report.findings)}) {
    EXPECT_THAT(text, HasSubstr("orders 1: its backoff is of the type \"mine\""));
    EXPECT_THAT(text, HasSubstr("here it is a fixed delay; the like is so with 2 more jobs"));
    EXPECT_EQ(times(text, "its backoff"), 1) << text;
    EXPECT_THAT(text, HasSubstr("orders 4: its removeOnComplete is \"yes\""));
    EXPECT_THAT(text, HasSubstr("its keepLogs is 3"));
    EXPECT_THAT(text, HasSubstr("its sizeLimit is 10000"));
    EXPECT_THAT(text,
                HasSubstr("orders with a blank: its pattern \"*/10 * * * *\" has no time zone"));
  }
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.abort());
}

}  // namespace
}  // namespace echomq::test
