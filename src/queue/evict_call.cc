// SPDX-License-Identifier: MIT
#include "queue/evict_call.h"

#include <algorithm>

#include "echomq_scripts.h"

namespace echomq::inline v2 {
namespace {

constexpr int kNoCount = -1;

// Whose sub-keys are declared, a letter each; empty: nobody's, which is the rule.
std::string letters(const std::vector<Evicted>& jobs) {
  const bool any =
      std::any_of(jobs.begin(), jobs.end(), [](const auto& job) { return job.has_subkeys; });
  std::string all;
  if (any)
    for (const auto& job : jobs) all += job.has_subkeys ? '1' : '0';
  return all;
}

}  // namespace

ScriptCall evict_call(const QueueCore& queue, const std::vector<Evicted>& jobs,
                      std::chrono::milliseconds age_completed,
                      std::chrono::milliseconds age_failed) {
  auto call =
      ScriptCall::of<scripts::JobEvict>(queue.keys(), {.revision = scripts::kRevision,
                                                       .now = queue.client()->now_ms(),
                                                       .count = jobs.size(),
                                                       .keep_completed = kNoCount,
                                                       .age_completed = age_completed.count(),
                                                       .keep_failed = kNoCount,
                                                       .age_failed = age_failed.count(),
                                                       .more = letters(jobs)});
  for (const auto& job : jobs) {
    call.put_keys(scripts::JobEvict::ItemKeys{.job = job_key(queue.name(), job.id)});
    if (job.has_subkeys) {
      const SubKeys sub(queue.name(), job.id);
      call.put_keys(sub.as<scripts::JobEvict::MoreKeys>());
    }
    call.put_args(scripts::JobEvict::ItemArgs{.id = job.id});
  }
  return call;
}

}  // namespace echomq::inline v2
