// SPDX-License-Identifier: MIT
#include "worker/settler.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "echomq_scripts.h"
#include "job/ends.h"
#include "queue/deduplication.h"
#include "wire/reply_form.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {

using std::chrono::milliseconds;
using Kind = Settlement::Kind;

namespace {

// What a call costs besides its jobs is little from here on.
constexpr std::size_t kWorthASecondCall = 32;

}  // namespace

Settler::Settler(std::shared_ptr<QueueCore> queue, std::string worker, milliseconds patience,
                 std::shared_ptr<Evictor> evictor, std::shared_ptr<Relay> relay, Settled settled)
    : queue_(std::move(queue)),
      worker_(std::move(worker)),
      patience_(patience),
      evictor_(std::move(evictor)),
      relay_(std::move(relay)),
      settled_(std::move(settled)) {}

// One call in flight, and a second one when it is of another kind or worth its price: then the
// server works on one while this process makes the other.
bool Settler::may_send() const {
  if (backlog_.empty() || in_flight_.size() >= 2) return false;
  if (in_flight_.empty()) return true;
  return backlog_.size() >= kWorthASecondCall || in_flight_.front() != backlog_.front().kind;
}

void Settler::pump() {
  while (may_send()) {
    auto batch = std::make_shared<Batch>(take());
    in_flight_.push_back(batch->front().kind);
    send(batch, monotonic_ms());
  }
}

// The first, and all that may travel with it, in order. Releases travel in the order of their
// claims, and the script begins with the last of its call: each goes in front of the one before.
// (Claims that were found as lost have no order of their own: they come the last one first.)
Settler::Batch Settler::take() {
  Batch batch;
  std::size_t bytes = 0;
  std::deque<Settlement> rest;
  for (auto& settlement : backlog_) {
    const auto size = settlement.text.size() + 128;
    const bool fits =
        batch.empty() || (batch.size() < kMaxBatchJobs && bytes + size <= kMaxBatchBytes &&
                          settlement.travels_with(batch.front()));
    if (fits) {
      bytes += size;
      batch.push_back(std::move(settlement));
    } else {
      rest.push_back(std::move(settlement));
    }
  }
  backlog_.swap(rest);
  if (batch.front().kind == Kind::release) {
    std::reverse(batch.begin(), batch.end());
    std::stable_sort(batch.begin(), batch.end(),
                     [](const auto& a, const auto& b) { return a.job->order < b.job->order; });
  }
  return batch;
}

ScriptCall Settler::finish_call(const Batch& batch, const std::vector<std::string>& oldest,
                                std::size_t peek) const {
  const auto& k = queue_->keys();
  const auto& keep = batch.front().keep;
  const bool complete = batch.front().kind == Kind::complete;
  const bool drop = keep.count == 0;
  std::string joined;
  for (const auto& id : oldest) joined.append(joined.empty() ? "" : " ").append(id);
  job::Ends ends;
  for (const auto& settlement : batch)
    ends.put({.lease = settlement.job->lease.score(),
              .claims_ended = settlement.attempts_started,
              .attempts_made = settlement.attempts_made,
              .crashes = settlement.job->job.crashes,
              .started_ms = settlement.job->started_ms,
              .value = settlement.text});
  const auto& metrics = complete ? k.metrics_completed : k.metrics_failed;
  auto call =
      ScriptCall::of<scripts::JobFinish>({.meta = k.meta,
                                          .active = k.active,
                                          .finished = complete ? k.completed : k.failed,
                                          .trash = k.trash,
                                          .subkeys = k.subkeys,
                                          .events = k.events,
                                          .metrics = metrics,
                                          .marker = k.marker,
                                          .sizes = complete ? k.sizes_completed : k.sizes_failed,
                                          .outbox = k.outbox},
                                         {.revision = scripts::kRevision,
                                          .now = queue_->client()->now_ms(),
                                          .count = batch.size(),
                                          .outcome = complete ? "completed" : "failed",
                                          .by = worker_,
                                          .drop = drop,
                                          .keep = drop ? -1 : keep.count,
                                          .age = std::chrono::milliseconds(keep.age).count(),
                                          .bytes = keep.bytes,
                                          .ends = ends.text(),
                                          .oldest = joined,
                                          .peek = peek,
                                          .parents = batch.front().has_parent()});
  for (const auto& settlement : batch) {
    const auto& id = settlement.job->job.id;
    call.put_keys(scripts::JobFinish::ItemKeys{.job = job_key(queue_->name(), id)});
    call.put_args(scripts::JobFinish::ItemArgs{.id = id});
  }
  for (const auto& id : oldest)
    call.put_keys(scripts::JobFinish::ItemKeys{.job = job_key(queue_->name(), id)});
  return call;
}

ScriptCall Settler::retry_call(const Batch& batch) const {
  auto call = ScriptCall::of<scripts::JobRetry>(
      queue_->keys(),
      {.revision = scripts::kRevision, .now = queue_->client()->now_ms(), .count = batch.size()});
  for (const auto& settlement : batch) {
    const auto& id = settlement.job->job.id;
    call.put_keys(scripts::JobRetry::ItemKeys{.job = job_key(queue_->name(), id)});
    call.put_args(scripts::JobRetry::ItemArgs{.id = id,
                                              .token = settlement.job->token(),
                                              .delay = settlement.delay_ms,
                                              .reason = settlement.text,
                                              .started = settlement.job->started_ms,
                                              .ats = settlement.attempts_started,
                                              .atm = settlement.attempts_made,
                                              .by = worker_});
  }
  return call;
}

ScriptCall Settler::release_call(const Batch& batch) const {
  auto call =
      ScriptCall::of<scripts::JobRelease>(queue_->keys(), {.revision = scripts::kRevision,
                                                           .now = queue_->client()->now_ms(),
                                                           .count = batch.size(),
                                                           .hold = batch.front().hold_ms});
  for (const auto& settlement : batch) {
    const auto& id = settlement.job->job.id;
    call.put_keys(scripts::JobRelease::ItemKeys{.job = job_key(queue_->name(), id)});
    call.put_args(scripts::JobRelease::ItemArgs{
        .id = id, .token = settlement.job->token(), .ats = settlement.attempts_started});
  }
  return call;
}

ScriptCall Settler::wait_call(const Batch& batch) const {
  using Transition = scripts::FlowWait;
  auto call = ScriptCall::of<Transition>(queue_->keys(), {.revision = scripts::kRevision,
                                                          .now = queue_->client()->now_ms(),
                                                          .count = batch.size(),
                                                          .keep = kFallenParents,
                                                          .age = kFallenParentsAge.count()});
  for (const auto& settlement : batch) {
    const auto& id = settlement.job->job.id;
    const SubKeys sub(queue_->name(), id);
    call.put_keys(Transition::ItemKeys{.job = job_key(queue_->name(), id),
                                       .dependencies = sub.dependencies,
                                       .unsuccessful = sub.unsuccessful});
    call.put_args(Transition::ItemArgs{
        .id = id, .token = settlement.job->token(), .ats = settlement.attempts_started});
  }
  return call;
}

// In the same write and before the end, which may delete the job: whoever adds under an id that is
// owned for a time then finds it held.
void Settler::hold_ids(const Batch& batch) const {
  std::vector<OwnedId> ids;
  for (const auto& settlement : batch) {
    const auto& job = settlement.job->job;
    const auto& rule = job.options.deduplication;
    if (rule && rule->ttl) ids.push_back({rule->id, job.id, {}});
  }
  if (ids.empty()) return;
  queue_->call(hold_call(*queue_, ids), [](const Result<wire::Reply>&) {});
}

void Settler::stop() {
  if (!stopped_at_) stopped_at_ = monotonic_ms();
}

bool Settler::is_patient(milliseconds since) const {
  return !stopped_at_ || monotonic_ms() < std::max(*stopped_at_, since) + patience_;
}

void Settler::send(const std::shared_ptr<Batch>& batch, milliseconds since, bool again) {
  const auto kind = batch->front().kind;
  const bool finish = batch->front().ends_job();
  std::vector<std::string> oldest;
  std::size_t peek = 0;
  if (finish && batch->front().keep.count > 0) {
    oldest = oldest_of(kind).take(batch->size());
    peek = oldest_of(kind).peek();
  }
  if (finish) hold_ids(*batch);
  auto call = kind == Kind::retry     ? retry_call(*batch)
              : kind == Kind::release ? release_call(*batch)
              : kind == Kind::wait    ? wait_call(*batch)
                                      : finish_call(*batch, oldest, peek);
  queue_->call(std::move(call), [self = shared_from_this(), batch, since, again,
                                 declared = oldest.size()](Result<wire::Reply> reply) {
    self->answered(batch, since, again, declared, std::move(reply));
  });
}

// Those that were deleted at once are told of by their number alone; the evictor takes the others.
void Settler::finished(Kind kind, std::size_t declared, const wire::Reply& reply) {
  evictor_->push(reply);
  if (reply.items.size() >= 5)
    oldest_of(kind).seen(declared, static_cast<std::size_t>(wire::number_of(reply.items[4])),
                         wire::ids_of(reply.items[3]));
}

// The last part of the answer is what was written for them.
void Settler::tell_parents(Kind kind, const wire::Reply& reply) {
  const std::size_t part = kind == Kind::wait ? 1 : 5;
  if (reply.items.size() > part) relay_->push(read_messages(reply.items[part]));
}

void Settler::answered(const std::shared_ptr<Batch>& batch, milliseconds since, bool again,
                       std::size_t declared, Result<wire::Reply> reply) {
  if (!reply) {
    if (batch->front().ends_job()) oldest_of(batch->front().kind).lost();
    const auto code = reply.error().code;
    if (is_weather(code) && is_patient(since)) {
      if (code != ErrorCode::loading) return send(batch, since, true);
      queue_->client()->loop().after(kNotReadyPause, [self = shared_from_this(), batch, since] {
        self->send(batch, since, true);
      });
      return;
    }
    queue_->client()->log(LogLevel::error, "the end of " + std::to_string(batch->size()) +
                                               " job(s) of \"" + queue_->name() +
                                               "\" could not be told: " + reply.error().message());
  }
  const auto kind = batch->front().kind;
  in_flight_.erase(std::find(in_flight_.begin(), in_flight_.end(), kind));
  const bool finish = batch->front().ends_job();
  static const std::string unknown = "unknown";
  const wire::Reply none;
  const bool has_parts = finish || kind == Kind::wait;
  const auto& statuses = !reply                               ? none
                         : has_parts && !reply->items.empty() ? reply->items[0]
                                                              : *reply;
  for (std::size_t i = 0; i < batch->size(); ++i) {
    const auto& status = wire::status_of(statuses, i, unknown);
    settled_((*batch)[i], std::string(end_status(status, again)));
  }
  if (finish && reply) finished(kind, declared, *reply);
  if (has_parts && reply) tell_parents(kind, *reply);
  pump();
}

}  // namespace echomq::inline v2
