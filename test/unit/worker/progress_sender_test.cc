// SPDX-License-Identifier: MIT
#include "worker/progress_sender.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace echomq {
namespace {

std::shared_ptr<RunningJob> job(std::uint64_t order) {
  auto job = std::make_shared<RunningJob>(job::LoadedJob{}, "mail", Lease{.nonce = 1}, [] {});
  job->order = order;
  job->set_progress("going on");
  return job;
}

std::vector<std::uint64_t> orders(const std::vector<std::shared_ptr<RunningJob>>& jobs) {
  std::vector<std::uint64_t> all;
  for (const auto& job : jobs) all.push_back(job->order);
  return all;
}

TEST(Progress, JobsTakeTurns) {
  const RunningJobs running{job(7), job(1), job(5), job(3)};
  EXPECT_EQ(orders(in_turn(running, 0)), (std::vector<std::uint64_t>{1, 3, 5, 7}));
  EXPECT_EQ(orders(in_turn(running, 3)), (std::vector<std::uint64_t>{5, 7, 1, 3}));
  EXPECT_EQ(orders(in_turn(running, 4)), (std::vector<std::uint64_t>{5, 7, 1, 3}));
  EXPECT_EQ(orders(in_turn(running, 7)), (std::vector<std::uint64_t>{1, 3, 5, 7}));
}

TEST(Progress, OnlyWhoHasSomethingToReportHasATurn) {
  const auto quiet = job(1);
  EXPECT_EQ(quiet->take_progress(), "going on");
  EXPECT_EQ(orders(in_turn({quiet, job(2)}, 0)), std::vector<std::uint64_t>{2});
}

TEST(Progress, WhatIsGivenBackYieldsToWhatCameMeanwhile) {
  const auto reporter = job(1);
  auto value = *reporter->take_progress();
  reporter->give_progress_back(value);
  EXPECT_EQ(reporter->take_progress(), "going on");
  reporter->set_progress("newer");
  reporter->give_progress_back(value);
  EXPECT_EQ(reporter->take_progress(), "newer");
}

}  // namespace
}  // namespace echomq
