// SPDX-License-Identifier: MIT
#include "worker/worker_report.h"

#include <gtest/gtest.h>

namespace echomq {
namespace {

using Kind = Settlement::Kind;

TEST(WorkerReport, CountsEachEndByWhatBecameOfIt) {
  WorkerReport report;
  report.settled(Kind::complete, "ok");
  report.settled(Kind::complete, "done");
  report.settled(Kind::fail, "ok");
  report.settled(Kind::retry, "ok");
  report.settled(Kind::release, "ok");
  report.settled(Kind::complete, "stale");
  report.settled(Kind::retry, "gone");
  report.settled(Kind::complete, "unknown");
  const auto stats = report.stats();
  EXPECT_EQ(stats.completed, 2U);
  EXPECT_EQ(stats.failed, 1U);
  EXPECT_EQ(stats.retried, 1U);
  EXPECT_EQ(stats.released, 1U);
  EXPECT_EQ(stats.refused, 2U);
  EXPECT_EQ(stats.unknown, 1U);
}

TEST(WorkerReport, AJobThatWasGivenBackTwiceIsNoRefusedResult) {
  WorkerReport report;
  report.settled(Kind::release, "ok");
  report.settled(Kind::release, "stale");
  report.settled(Kind::release, "gone");
  EXPECT_EQ(report.stats().refused, 0U);
  EXPECT_EQ(report.stats().released, 1U);
}

}  // namespace
}  // namespace echomq
