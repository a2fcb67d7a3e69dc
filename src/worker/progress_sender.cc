// SPDX-License-Identifier: MIT
#include "worker/progress_sender.h"

#include <algorithm>
#include <string>
#include <utility>

#include "echomq_scripts.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kReportsPerCall = kMaxBatchBytes / kMaxReasonBytes;  // of the longest values

}  // namespace

std::vector<std::shared_ptr<RunningJob>> in_turn(const RunningJobs& running,
                                                 std::uint64_t last_told) {
  std::vector<std::shared_ptr<RunningJob>> jobs;
  for (const auto& job : running)
    if (job->has_progress()) jobs.push_back(job);
  const auto turn = [last_told](const auto& job) {
    return std::pair(job->order <= last_told, job->order);
  };
  std::sort(jobs.begin(), jobs.end(),
            [turn](const auto& a, const auto& b) { return turn(a) < turn(b); });
  return jobs;
}

void ProgressSender::send(const RunningJobs& running) {
  if (in_flight_) return;
  auto reports = take(running);
  if (reports.empty()) return;
  auto call = ScriptCall::of<scripts::JobProgress>(
      queue_->keys(),
      {.revision = scripts::kRevision, .now = queue_->client()->now_ms(), .count = reports.size()});
  for (const auto& [job, value] : reports) {
    call.put_keys(scripts::JobProgress::ItemKeys{.job = job_key(queue_->name(), job->job.id)});
    call.put_args(
        scripts::JobProgress::ItemArgs{.id = job->job.id, .token = job->token(), .value = value});
  }
  in_flight_ = true;
  queue_->call(std::move(call),
               [self = shared_from_this(), reports = std::move(reports)](
                   const Result<wire::Reply>& reply) mutable { self->answered(reports, reply); });
}

ProgressSender::Reports ProgressSender::take(const RunningJobs& running) {
  Reports reports;
  for (const auto& job : in_turn(running, last_told_)) {
    if (reports.size() == kReportsPerCall) break;
    if (auto value = job->take_progress()) reports.emplace_back(job, *std::move(value));
  }
  if (!reports.empty()) last_told_ = reports.back().first->order;
  return reports;
}

void ProgressSender::answered(Reports& reports, const Result<wire::Reply>& reply) {
  in_flight_ = false;
  // The next call waits for the connection by itself.
  if (!reply && is_weather(reply.error().code))
    for (auto& [job, value] : reports) job->give_progress_back(std::move(value));
  for (std::size_t i = 0; reply && i < reports.size() && i < reply->items.size(); ++i)
    if (reply->items[i].text == "stale") lost_(reports[i].first);
  sent_();
}

}  // namespace echomq::inline v2
