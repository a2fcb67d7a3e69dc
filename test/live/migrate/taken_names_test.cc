// SPDX-License-Identifier: MIT
// Somebody uses the name of a target while the migration is under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/migration_test.h"

namespace echomq::test {
namespace {

using ::testing::HasSubstr;

class MigrationTakenNames : public MigrationTest {
 protected:
  V1Fixture v1{redis, "measured"};
};

// `early` is the last one that is copied.
TEST_F(MigrationTakenNames, CannotBeTakenOnceAnythingOfV1IsShutOut) {
  auto options = options_of(v1);
  int refused = 0;
  options.on_progress = [&](const MigrationProgress& now) {
    if (now.step != "tombstones" && now.step != "settings") return true;
    EXPECT_EQ(error_of(queue_of("early").add("x")).code, ErrorCode::fence) << now.step;
    ++refused;
    return true;
  };
  Migration migration(client, options);
  const auto jobs = v1.jobs();
  EXPECT_EQ(migration.run().value().jobs, jobs);
  EXPECT_GE(refused, 10);
  EXPECT_EQ(migration.verify().value().found, 0);
  ASSERT_TRUE(migration.abort());
}

TEST_F(MigrationTakenNames, TakenBeforeThatPutsEverythingBackAndSaysWhich) {
  const auto before = v1.dump();
  auto options = options_of(v1);
  // Once all of them are paused, and the first is taken.
  options.on_progress = [this, added = false](const MigrationProgress& now) mutable {
    if (now.step != "target" || added) return true;
    added = true;
    EXPECT_TRUE(queue_of("early").add("x"));
    return true;
  };
  const auto error = error_of(Migration(client, options).run());
  EXPECT_EQ(error.code, ErrorCode::fence);
  EXPECT_THAT(error.detail, HasSubstr("\"" + named("early") + "\""));
  EXPECT_THAT(error.detail, HasSubstr(key(named("early"), Structure::meta)));
  EXPECT_EQ(difference(before, v1.dump()), "");
  for (const auto& moved : v1.queues()) {
    EXPECT_EQ(redis({"EXISTS", migration_key(named(moved))}).integer, 0) << moved;
    if (moved != "early") {
      EXPECT_TRUE(dump_queue(redis, named(moved)).empty()) << moved;
    }
  }
  EXPECT_EQ(counts_of("early").waiting, 1);
}

}  // namespace
}  // namespace echomq::test
