// SPDX-License-Identifier: MIT
#include "queue/evict_call.h"

#include "echomq_scripts.h"

namespace echomq::inline v2 {
namespace {

constexpr int kNoCount = -1;

}  // namespace

ScriptCall evict_call(const QueueCore& queue, const std::vector<Evicted>& jobs,
                      std::chrono::milliseconds age_completed,
                      std::chrono::milliseconds age_failed) {
  const auto& k = queue.keys();
  auto call = ScriptCall::of<scripts::JobEvict>({.meta = k.meta,
                                                 .trash = k.trash,
                                                 .completed = k.completed,
                                                 .failed = k.failed,
                                                 .subkeys = k.subkeys},
                                                {.revision = scripts::kRevision,
                                                 .now = queue.client()->now_ms(),
                                                 .count = jobs.size(),
                                                 .keep_completed = kNoCount,
                                                 .age_completed = age_completed.count(),
                                                 .keep_failed = kNoCount,
                                                 .age_failed = age_failed.count()});
  for (const auto& job : jobs) {
    call.put_keys(scripts::JobEvict::ItemKeys{.job = job_key(queue.name(), job.id)});
    if (job.has_subkeys) {
      const SubKeys sub(queue.name(), job.id);
      call.put_keys(sub.as<scripts::JobEvict::MoreKeys>());
    }
    call.put_args(scripts::JobEvict::ItemArgs{.id = job.id, .more = job.has_subkeys});
  }
  return call;
}

}  // namespace echomq::inline v2
