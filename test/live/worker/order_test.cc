// SPDX-License-Identifier: MIT
// In which order a worker takes jobs.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Order : public LibraryTest {
 protected:
  // Works everything that is there, one by one; answers the data in the order of the runs.
  std::vector<std::string> drain() {
    Runs runs;
    Worker worker{queue, {.stop_when_empty = true}, [&](Job<>& job) { runs.note(job.data()); }};
    EXPECT_TRUE(worker.wait(20s));
    return runs.all();
  }
};

using Words = std::vector<std::string>;

TEST_F(Order, FirstInFirstOut) {
  Words expected;
  for (int i = 0; i < 600; ++i) expected.push_back(std::to_string(i));
  add(expected);
  EXPECT_EQ(drain(), expected);
}

TEST_F(Order, LastInFirstOut) {
  add({"a", "b"});
  add({"1", "2", "3"}, {.lifo = true});
  EXPECT_EQ(drain(), (Words{"3", "2", "1", "a", "b"}));
}

TEST_F(Order, PriorityAndAmongEqualsFirstIn) {
  add({"low"}, {.priority = kMaxPriority});
  add({"mid 1"}, {.priority = 5});
  add({"high"}, {.priority = 1});
  add({"mid 2", "mid 3"}, {.priority = 5});
  add({"plain"});
  EXPECT_EQ(drain(), (Words{"plain", "high", "mid 1", "mid 2", "mid 3", "low"}));
}

TEST_F(Order, DelayedByDueTimeThenIntoTheirPlace) {
  add({"second"}, {.delay = 200ms});
  add({"first"}, {.delay = 100ms});
  add({"now"});
  EXPECT_EQ(drain(), (Words{"now", "first", "second"}));
}

TEST_F(Order, FailedAttemptGoesToTheBackAndKeepsItsPriority) {
  add({"a", "b"}, {.attempts = 2});
  add({"urgent"}, {.attempts = 2, .priority = 1});
  add({"patient"}, {.priority = 2});
  Runs runs;
  Worker worker{queue, {.stop_when_empty = true}, [&](Job<>& job) {
                  runs.note(job.data());
                  if (job.attempt() == 1 && job.attempts_allowed() == 2)
                    return Outcome::fail("once");
                  return Outcome::done();
                }};
  EXPECT_TRUE(worker.wait(20s));
  EXPECT_EQ(runs.all(), (Words{"a", "b", "a", "b", "urgent", "urgent", "patient"}));
}

}  // namespace
}  // namespace echomq::test
