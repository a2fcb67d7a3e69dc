// SPDX-License-Identifier: MIT
// Order: what was added first is claimed first, at every priority, after every detour.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class ScriptOrder : public ScriptTest {
 protected:
  static constexpr unsigned kMaxPriority = 2'097'151;
};

// B38: the greatest score must stay exact, and ids must not decide. They are in reverse byte order.
TEST_F(ScriptOrder, B38_MaximumPriorityIsFirstInFirstOut) {
  for (const char* const id : {"e", "d", "c", "b", "a"})
    q.add({{.id = id, .priority = kMaxPriority}});
  EXPECT_EQ(q.score(q.keys.prioritized, "a"), "9007194959773701");
  EXPECT_EQ(q.claim(5).ids(), "e d c b a");
  q.add({{.id = "e2", .priority = kMaxPriority},
         {.id = "d2", .priority = kMaxPriority},
         {.id = "c2", .priority = kMaxPriority - 1}});
  EXPECT_EQ(q.claim(5).ids(), "c2 e2 d2");
}

TEST_F(ScriptOrder, EqualPrioritiesAreFirstInFirstOutAcrossBatches) {
  std::string expected;
  for (int batch = 0; batch < 10; ++batch) {
    std::vector<JobToAdd> jobs;
    for (int i = 0; i < 20; ++i) {
      // Falling ids, so that byte order would be wrong.
      const auto id = "j" + std::to_string(999 - batch * 20 - i);
      jobs.push_back({.id = id, .priority = 4});
      expected += (expected.empty() ? "" : " ") + id;
    }
    q.add(jobs);
  }
  EXPECT_EQ(q.claim(200).ids(), expected);
}

TEST_F(ScriptOrder, APlaceIsRestoredAfterAReleaseAndARetry) {
  for (const char* const id : {"e", "d", "c", "b", "a"})
    q.add({{.id = id, .priority = kMaxPriority}});
  const auto runs = q.claim(3).runs;
  q.release({{.run = runs.at(2)}, {.run = runs.at(0)}});
  q.retry({{.run = runs.at(1)}});
  EXPECT_EQ(q.claim(5).ids(), "e d c b a");
}

// Recovered jobs run one by one, whatever their priority, and come back to it when they are
// released by hand of an operator or retried: their place stays in the hash.
TEST_F(ScriptOrder, RecoveryKeepsThePlaceInTheHash) {
  q.add({{.id = "b", .priority = 9}, {.id = "a", .priority = 9}});
  const auto place = q.score(q.keys.prioritized, "b");
  q.claim(1);
  q.now += 60'000;
  q.recover(q.peek_expired(), 5);
  EXPECT_EQ(list(q.keys.crashed), "b");
  EXPECT_EQ(q.field("b", "place"), place);
}

// While a job with a place is out, the last waiting one goes too and the running numbers start
// over.
TEST_F(ScriptOrder, APlaceIsRestoredOverAnEmptyQueue) {
  q.add({{.id = "x", .priority = 4}, {.id = "z", .priority = 4}});
  const auto runs = q.claim(2).runs;
  q.add({{.id = "b", .priority = 4}, {.id = "a", .priority = 4}});
  q.release({{.run = runs.at(0)}, {.run = runs.at(1)}});
  EXPECT_EQ(q.claim(4).ids(), "x z b a");
}

// B45: minted ids are in the order of their minting, so equal due times keep it, however many.
TEST_F(ScriptOrder, B45_TenThousandJobsOfOneMillisecondAreFirstInFirstOut) {
  constexpr int kJobs = 10'000;
  constexpr int kBatch = 250;
  constexpr std::uint64_t kFirst = 274'557'032'793'636'864;
  for (int from = 0; from < kJobs; from += kBatch) {
    std::vector<JobToAdd> jobs;
    for (int i = from; i < from + kBatch; ++i)
      jobs.push_back({.id = std::to_string(kFirst + static_cast<std::uint64_t>(i)),
                      .custom = false,
                      .delay = 1'000});
    q.add(jobs);
  }
  EXPECT_EQ(redis({"ZCOUNT", q.keys.delayed, "1800000001000", "1800000001000"}).integer, kJobs);
  q.now += 1'000;
  for (auto due = q.peek_due(); !due.empty(); due = q.peek_due()) q.promote(due);
  std::uint64_t next = kFirst;
  for (auto claimed = q.claim(250); !claimed.runs.empty(); claimed = q.claim(250))
    for (const auto& run : claimed.runs) ASSERT_EQ(run.id, std::to_string(next++));
  EXPECT_EQ(next, kFirst + kJobs);
}

}  // namespace
}  // namespace echomq::test
