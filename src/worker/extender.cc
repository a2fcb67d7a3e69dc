// SPDX-License-Identifier: MIT
#include "worker/extender.h"

#include <utility>

#include "echomq_scripts.h"
#include "protocol/lease.h"

namespace echomq::inline v2 {

void Extender::extend(const RunningJobs& running) {
  Batch batch;
  for (const auto& job : running) {
    if (job->lease_lost()) continue;
    batch.push_back(job);
    if (batch.size() == kMaxBatchJobs) send(std::exchange(batch, {}));
  }
  if (!batch.empty()) send(std::move(batch));
}

void Extender::send(Batch batch) {
  const auto deadline = Lease::deadline_for(queue_->client()->now_ms(), lease_.count());
  auto call = ScriptCall::of<scripts::JobExtend>(
      queue_->keys(),
      {.revision = scripts::kRevision, .deadline = deadline, .count = batch.size()});
  for (const auto& job : batch)
    call.put_args(scripts::JobExtend::ItemArgs{.id = job->job.id, .token = job->token()});
  queue_->call(std::move(call), [self = shared_from_this(), batch = std::move(batch),
                                 deadline](const Result<wire::Reply>& reply) {
    if (!reply) return;
    for (std::size_t i = 0; i < batch.size() && i < reply->items.size(); ++i) {
      if (reply->items[i].text == "stale")
        self->lost_(batch[i]);
      else
        batch[i]->lease.deadline_s = deadline;
    }
  });
}

}  // namespace echomq::inline v2
