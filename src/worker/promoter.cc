// SPDX-License-Identifier: MIT
#include "worker/promoter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "echomq_scripts.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::int64_t kRetryMs = 1'000;  // after a call that failed

}  // namespace

void Promoter::promote(Done done) {
  auto bytes = wire::command(
      {"ZRANGE", queue_->keys().delayed, "0", std::to_string(kMaxBatchJobs - 1), "WITHSCORES"});
  queue_->client()->command(std::move(bytes), [self = shared_from_this(), done = std::move(done)](
                                                  Result<wire::Reply> reply) mutable {
    if (reply && !reply->is_error()) return self->peeked(*reply, std::move(done));
    done({.again_ms = self->queue_->client()->now_ms() + kRetryMs});
  });
}

void Promoter::peeked(const wire::Reply& earliest, Done done) {
  const auto now = queue_->client()->now_ms();
  auto due = wire::scored(earliest);
  const auto later =
      std::find_if(due.begin(), due.end(), [now](const auto& entry) { return entry.score > now; });
  const auto next = later == due.end() ? 0 : later->score;
  due.erase(later, due.end());
  // Someone else was here first: keep the time of the next one.
  if (due.empty()) return done({.again_ms = next});

  auto call = ScriptCall::of<scripts::JobPromote>(
      queue_->keys(), {.revision = scripts::kRevision, .now = now, .count = due.size()});
  for (const auto& [id, at] : due) {
    call.put_keys(scripts::JobPromote::ItemKeys{.job = job_key(queue_->name(), id)});
    call.put_args(scripts::JobPromote::ItemArgs{.id = id, .due = at});
  }
  const bool full = due.size() == kMaxBatchJobs;
  queue_->call(std::move(call), [self = shared_from_this(), full,
                                 done = std::move(done)](Result<wire::Reply> reply) mutable {
    if (reply) return done({.more_due = full});
    done({.again_ms = self->queue_->client()->now_ms() + kRetryMs});
  });
}

}  // namespace echomq::inline v2
