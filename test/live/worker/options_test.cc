// SPDX-License-Identifier: MIT
// Options of a worker out of their range: it stops at once, and tells why.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Options : public LibraryTest {
 protected:
  void SetUp() override { add_many(1); }

  void expect_refused(const char* option, const std::string& value, const WorkerOptions& how) {
    Worker worker{queue, how, [](Job<>&) { ADD_FAILURE() << "it ran"; }};
    ASSERT_TRUE(worker.wait(10s)) << option;
    EXPECT_EQ(worker.run_until(Signals{}, 1s), 1) << option;
    const auto error = error_of(worker.status());
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message();
    ASSERT_NE(error.field("option"), nullptr);
    EXPECT_EQ(*error.field("option"), option);
    EXPECT_EQ(*error.field("value"), value);
  }
};

TEST_F(Options, OutOfRange) {
  expect_refused("concurrency", "0", {.concurrency = 0});
  expect_refused("concurrency", "10001", {.concurrency = 10'001});
  expect_refused("lease", "1999", {.lease = 1'999ms});
  expect_refused("max_crashes", "1001", {.max_crashes = 1'001});
  expect_refused("max_starts", "1000001", {.max_starts = 1'000'001});
  expect_refused("keep_completed.age", "-1", {.keep_completed = Keep{1, -1s}});
  expect_refused("keep_failed.age", "-1", {.keep_failed = Keep{1, -1s}});
  expect_refused("keep_completed.age", "3153600001", {.keep_completed = Keep{1, kMaxKeepAge + 1s}});
  expect_refused("keep_failed.age", "3153600001", {.keep_failed = Keep{1, kMaxKeepAge + 1s}});
  expect_refused("poll", "99", {.poll = 99ms});
  expect_refused("poll", "60001", {.poll = 60'001ms});
  expect_refused("name", "256 bytes", {.name = std::string(256, 'n')});
  expect_refused("middleware", "an empty function at 0", {.middleware = {Middleware{}}});
  EXPECT_EQ(counts().waiting, 1);
}

}  // namespace
}  // namespace echomq::test
