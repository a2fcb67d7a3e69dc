// SPDX-License-Identifier: MIT
#include "worker/progress_sender.h"

#include <string>
#include <utility>
#include <vector>

#include "echomq_scripts.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kReportsPerCall = kMaxBatchBytes / kMaxReasonBytes;  // of the longest values

}  // namespace

void ProgressSender::send(const RunningJobs& running) {
  if (in_flight_) return;
  std::vector<std::shared_ptr<RunningJob>> jobs;
  std::vector<std::string> values;
  for (const auto& job : running) {
    if (jobs.size() == kReportsPerCall) break;
    auto value = job->take_progress();
    if (!value) continue;
    jobs.push_back(job);
    values.push_back(*std::move(value));
  }
  if (jobs.empty()) return;
  const auto& k = queue_->keys();
  auto call = ScriptCall::of<scripts::JobProgress>(
      {.meta = k.meta, .active = k.active, .events = k.events},
      {.revision = scripts::kRevision, .now = queue_->client()->now_ms(), .count = jobs.size()});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    call.put_keys(scripts::JobProgress::ItemKeys{.job = job_key(queue_->name(), jobs[i]->job.id)});
    call.put_args(scripts::JobProgress::ItemArgs{
        .id = jobs[i]->job.id, .token = jobs[i]->token, .value = values[i]});
  }
  in_flight_ = true;
  queue_->client()->call(std::move(call), queue_->name(), k.meta,
                         [self = shared_from_this()](Result<wire::Reply>) {
                           self->in_flight_ = false;
                           self->sent_();
                         });
}

}  // namespace echomq::inline v2
