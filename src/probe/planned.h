// SPDX-License-Identifier: MIT
// Trees for tests of the scripts of flows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flow/plan.h"

namespace echomq::inline v2::probe {

struct PlanJob {
  std::string queue{};
  std::string id{};
  std::int64_t parent = -1;  // its index in the tree
  ChildFailure policy = ChildFailure::fail_parent;
  std::int64_t delay = 0;
  unsigned priority = 0;
  bool lifo = false;
};

inline flow::PlannedJob planned(const PlanJob& job) {
  flow::PlannedJob out;
  out.queue = job.queue;
  out.id = job.id;
  out.job.id = job.id;
  out.job.name = "job";
  out.job.data = "of " + job.id;
  out.job.delay_ms = job.delay;
  out.job.priority = job.priority;
  out.job.lifo = job.lifo;
  out.parent = job.parent;
  out.on_failure = job.policy;
  return out;
}

// The epoch of its edges is 1.
inline flow::Plan plan_of(const std::string& plan, const std::vector<PlanJob>& jobs) {
  std::vector<flow::PlannedJob> all;
  all.reserve(jobs.size());
  for (const auto& job : jobs) all.push_back(planned(job));
  return flow::make_plan(plan, all, 1);
}

// Children of a job that is there.
inline flow::Plan plan_below(const std::string& plan, const std::string& queue,
                             const std::string& id, const std::vector<PlanJob>& children,
                             std::int64_t epoch = 1) {
  std::vector<flow::PlannedJob> all;
  all.reserve(children.size());
  for (const auto& job : children) all.push_back(planned(job));
  return flow::make_plan(plan, queue, id, all, epoch);
}

}  // namespace echomq::inline v2::probe
