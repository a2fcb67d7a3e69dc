// SPDX-License-Identifier: MIT
#include "worker/worker_report.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/vectors.h"

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

// As test/vectors/refusals.json has it, for each runtime.
TEST(WorkerVectors, Ends) {
  const std::map<std::string, Kind> kinds{{"complete", Kind::complete},
                                          {"fail", Kind::fail},
                                          {"retry", Kind::retry},
                                          {"release", Kind::release}};
  const auto refusals = test::vectors("refusals");
  for (const auto& one : refusals.at("statuses").at("ends")) {
    WorkerReport report;
    report.settled(kinds.at(one.at("kind")),
                   end_status(one.at("status").get<std::string>(), one.at("again")));
    const auto stats = report.stats();
    const std::map<std::string, std::uint64_t> counted{
        {"completed", stats.completed}, {"failed", stats.failed},   {"retried", stats.retried},
        {"released", stats.released},   {"refused", stats.refused}, {"unknown", stats.unknown}};
    for (const auto& [word, count] : counted)
      EXPECT_EQ(count, one.at("counts") == word ? 1U : 0U) << one << " " << word;
  }
}

}  // namespace
}  // namespace echomq
