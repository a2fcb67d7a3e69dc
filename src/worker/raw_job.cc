// SPDX-License-Identifier: MIT
#include <utility>

#include "echomq/job.h"
#include "flow/adder.h"
#include "flow/read_children.h"
#include "queue/deduplication.h"
#include "queue/logs.h"
#include "queue/moves.h"
#include "queue/statuses.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {

RawJob::RawJob(std::shared_ptr<RunningJob> running) : running_(std::move(running)) {}

const std::string& RawJob::id() const noexcept { return running_->job.id; }
const std::string& RawJob::name() const noexcept { return running_->job.name; }
const std::string& RawJob::queue() const noexcept { return running_->queue; }
std::string_view RawJob::bytes() const noexcept { return running_->job.data; }
unsigned RawJob::attempt() const noexcept { return running_->job.attempts_made + 1; }
unsigned RawJob::attempts_allowed() const noexcept { return running_->job.options.attempts; }
unsigned RawJob::crashes() const noexcept { return running_->job.crashes; }
std::int64_t RawJob::added_ms() const noexcept { return running_->job.added_ms; }
const std::string& RawJob::traceparent() const noexcept {
  return running_->job.options.traceparent;
}
const std::string& RawJob::tracestate() const noexcept { return running_->job.options.tracestate; }
std::stop_token RawJob::stop_token() const noexcept { return running_->stop_token(); }
StopReason RawJob::stop_reason() const { return running_->stop_reason(); }
bool RawJob::lease_lost() const noexcept { return running_->lease_lost(); }

Result<void> RawJob::progress(std::string value) {
  if (value.size() > kMaxReasonBytes)
    return Error{
        ErrorCode::too_large,
        "progress of " + std::to_string(value.size()) + " bytes; the limit is " +
            std::to_string(kMaxReasonBytes),
        {{"value", std::to_string(value.size())}, {"expected", std::to_string(kMaxReasonBytes)}}};
  if (lease_lost()) return of_another_run(queue(), id(), "its progress is not told");
  running_->set_progress(std::move(value));
  running_->on_progress();
  return {};
}

Result<void> RawJob::log(std::string line) {
  return append_log(*running_->core, id(), running_->token(), line);
}

Result<void> RawJob::update_data(const std::string& data) {
  return v2::update_data(*running_->core, id(), running_->token(), data);
}

Result<bool> RawJob::release_deduplication() {
  const auto& rule = running_->job.options.deduplication;
  if (!rule) return false;
  return release_owned(*running_->core, rule->id, id());
}

const std::string& RawJob::parent() const noexcept { return running_->job.parent; }
const std::string& RawJob::parent_queue() const noexcept { return running_->job.parent_queue; }

Result<std::vector<std::string>> RawJob::add_children(const std::vector<FlowJob>& children) {
  if (lease_lost()) return of_another_run(queue(), id(), "it gets no children of this one");
  return flow::add_children(running_->core, id(), children);
}

Result<Children> RawJob::children() { return flow::read_children(*running_->core, id()); }

}  // namespace echomq::inline v2
