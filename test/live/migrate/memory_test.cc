// SPDX-License-Identifier: MIT
// A migration needs no more memory for many jobs than for few: neither where all is as it should
// be, nor where every key has to be looked at by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

#include "support/migration_test.h"
#include "support/sanitizer.h"

namespace echomq::test {
namespace {

using ::testing::HasSubstr;

// Bytes that this process has allocated, by the allocator's own account.
std::size_t allocated() {
#if defined(__GLIBC__)
  const auto now = mallinfo2();
  return now.uordblks + now.hblkhd;
#else
  return 0;
#endif
}

class MemoryOfMigration : public MigrationTest {
 protected:
  void SetUp() override {
    MigrationTest::SetUp();
#if !defined(__GLIBC__)
    GTEST_SKIP() << "the allocator tells nobody what it has given";
#endif
    if (kSanitized) GTEST_SKIP() << "the allocator is the sanitizer's";
  }
  // A queue of so many waiting jobs; or of so many that stand nowhere.
  void make(const std::string& moved, int jobs, bool listed) {
    constexpr const char* kMake = R"(
      for i = 1, tonumber(ARGV[1]) do
        redis.call('HSET', KEYS[1] .. i, 'name', 'n', 'data', '{}', 'opts', '{}', 'timestamp', '1')
        if ARGV[2] == '1' then redis.call('LPUSH', KEYS[1] .. 'wait', i) end
      end)";
    const auto made =
        redis({"EVAL", kMake, "1", v1.key(moved, ""), std::to_string(jobs), listed ? "1" : "0"});
    ASSERT_FALSE(made.is_error()) << made.text;
    redis({"HSET", v1.key(moved, "meta"), "version", "bullmq:5.65.1"});
  }
  // The most that was allocated at any step of it.
  std::size_t peak_of(const std::string& moved, const std::function<void(Migration&)>& act) {
    std::size_t most = 0;
    auto options = options_of(v1);
    options.queues = {{moved, named(moved)}};
    options.on_progress = [&most](const MigrationProgress&) {
      most = std::max(most, allocated());
      return true;
    };
    Migration migration(client, options);
    const auto before = allocated();
    act(migration);
    return most - std::min(most, before);
  }

  V1Fixture v1{redis, "{" + unique_queue("v1") + "}", {"few", "many"}};
};

TEST_F(MemoryOfMigration, IsTheSameForManyJobs) {
  make("few", 2'000, /*listed=*/true);
  make("many", 20'000, /*listed=*/true);
  const auto all = [](Migration& migration) {
    ASSERT_TRUE(migration.run());
    EXPECT_EQ(migration.verify().value().found, 0);
  };
  const auto few = peak_of("few", all);
  const auto many = peak_of("many", all);
  // Eight bytes a job would be 144 kB more, and 260 kB as a vector grows.
  EXPECT_LT(many, few + 100'000) << few;
  EXPECT_TRUE(migration_of(v1).abort());
}

TEST_F(MemoryOfMigration, IsBoundedWhereNothingStandsAnywhere) {
  make("many", 42'000, /*listed=*/false);
  MigrationPlan plan;
  const auto peak =
      peak_of("many", [&plan](Migration& migration) { plan = migration.plan().value(); });
  EXPECT_LT(peak, std::size_t{16} << 20U);
  EXPECT_EQ(plan.blocking, 10'001);
  EXPECT_THAT(blocking(plan.findings), HasSubstr("many 1: is a job that stands in no list"));
  EXPECT_THAT(blocking(plan.findings), HasSubstr("more that block"));
}

// Ids without a job, and jobs in two lists, hide no job that is in none.
TEST_F(MemoryOfMigration, AStrayJobIsFoundAmongWhatDoesNotBalance) {
  make("few", 3'000, /*listed=*/true);
  for (int i = 1; i < 500; ++i) {
    redis({"RPUSH", v1.key("few", "wait"), "ghost-" + std::to_string(i)});
    redis({"ZADD", v1.key("few", "completed"), "5", std::to_string(i)});
  }
  redis({"HSET", v1.key("few", "stray"), "name", "n", "data", "{}"});
  MigrationPlan plan;
  peak_of("few", [&plan](Migration& migration) { plan = migration.plan().value(); });
  const auto text = blocking(plan.findings);
  EXPECT_EQ(text.find("few stray: is a job that stands in no list"), 0U) << text;
  EXPECT_THAT(text, HasSubstr("few 1: stands in `wait` and once more in `completed`"));
  EXPECT_THAT(text, HasSubstr("more jobs may stand in two places than are named here"));
  EXPECT_EQ(plan.blocking, 1 + 100 + 1) << "the stray one, those that are named, and that line";
}

}  // namespace
}  // namespace echomq::test
