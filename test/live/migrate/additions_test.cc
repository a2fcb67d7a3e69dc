// SPDX-License-Identifier: MIT
// What the target holds beyond what the source has is a difference, wherever it stands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/migration_test.h"

namespace echomq::test {
namespace {

using ::testing::HasSubstr;

class MigrationAdditions : public MigrationTest {
 protected:
  std::string at(const std::string& moved, Structure place) { return key(named(moved), place); }

  V1Fixture v1{redis, "measured"};
};

TEST_F(MigrationAdditions, AreDifferences) {
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  ASSERT_EQ(migration.verify().value().found, 0);
  const auto job = [this](const char* moved, const char* id, Sub sub) {
    return job_key(named(moved), id, sub);
  };
  redis({"RPUSH", job("images", "1", Sub::logs), "one line more"});
  redis({"RPUSH", job("orders", "1", Sub::logs), "the only line"});
  redis({"HSET", job("mail", "parent-1", Sub::dependencies), named("parts") + ":stray", "1"});
  redis({"HSET", at("orders", Structure::de), "stray", "1:0:0:"});
  redis({"ZADD", at("orders", Structure::schedules), "1900000000000", "stray"});
  redis({"HSET", named_key(named("orders"), "schedule", "hourly"), "stray", "1"});
  redis({"HSET", named_key(named("images"), "metrics", "completed"), "1", "1"});
  redis({"HSET", named_key(named("orders"), "metrics", "failed"), "1", "1"});
  redis({"SADD", at("mail", Structure::subkeys), "stray"});
  redis({"ZADD", at("orders", Structure::active), "5", "stray"});
  redis({"ZADD", at("mail", Structure::crashed), "5", "stray"});
  redis({"HSET", at("orders", Structure::meta), "pause", "1"});
  const auto compared = migration.verify().value();
  const auto text = lines(compared);
  EXPECT_THAT(text, HasSubstr(job("images", "1", Sub::logs) + " holds 3 entries, not 2"));
  EXPECT_THAT(text, HasSubstr("1: " + job("orders", "1", Sub::logs) + " is there"));
  EXPECT_THAT(text, HasSubstr(job("mail", "parent-1", Sub::dependencies) + " holds 7 entries"));
  EXPECT_THAT(text, HasSubstr("de holds 4 ids, the source 3"));
  EXPECT_THAT(text, HasSubstr("schedules holds 6, the source 5"));
  EXPECT_THAT(text, HasSubstr(named_key(named("orders"), "schedule", "hourly") + " holds"));
  EXPECT_THAT(text, HasSubstr(named_key(named("images"), "metrics", "completed") + " holds"));
  EXPECT_THAT(text, HasSubstr(named_key(named("orders"), "metrics", "failed") + " is there"));
  EXPECT_THAT(text, HasSubstr("subkeys holds"));
  EXPECT_THAT(text, HasSubstr("active holds 2, the source 1"));
  EXPECT_THAT(text, HasSubstr(at("mail", Structure::crashed) + " is there"));
  EXPECT_THAT(text, HasSubstr("its setting pause is \"1\", not \"\""));
  // The stray id of deduplication has no time at which it ends, which is one more.
  EXPECT_EQ(compared.found, 13) << text;
  const auto error = error_of(migration.finish());
  EXPECT_EQ(error.code, ErrorCode::wrong_state) << error.message();
  const auto back = migration.abort();
  ASSERT_TRUE(back) << back.error().message();
}

// The source forgets it by itself while the target holds it still.
TEST_F(MigrationAdditions, ADeduplicationIdThatHasRunOutMeanwhileIsNone) {
  const auto id = v1.key("orders", "de:brief");
  redis({"SET", id, "1", "PX", "2000"});
  auto migration = migration_of(v1);
  ASSERT_TRUE(migration.run());
  ASSERT_EQ(redis({"HEXISTS", at("orders", Structure::de), "brief"}).integer, 1);
  ASSERT_TRUE(eventually([&] { return redis({"EXISTS", id}).integer == 0; }));
  const auto compared = migration.verify().value();
  EXPECT_EQ(compared.found, 0) << lines(compared);
  ASSERT_TRUE(migration.abort());
}

}  // namespace
}  // namespace echomq::test
