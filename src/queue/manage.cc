// SPDX-License-Identifier: MIT
// The members of RawQueue that read and move jobs.
#include <utility>

#include "echomq/queue.h"
#include "echomq_scripts.h"
#include "queue/ask.h"
#include "queue/bulk.h"
#include "queue/deduplication.h"
#include "queue/holders.h"
#include "queue/limits.h"
#include "queue/logs.h"
#include "queue/metrics.h"
#include "queue/moves.h"
#include "queue/obliterate.h"
#include "queue/pages.h"
#include "queue/pause.h"
#include "queue/sweep_trash.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kPrioritiesPerCall = 256;

Result<void> pause_or_resume(QueueCore& queue, bool paused) {
  const auto changed = set_paused(queue, paused);
  if (!changed) return changed.error();
  return {};
}

}  // namespace

Result<JobPage> RawQueue::jobs(JobState state, const PageOptions& options) {
  return read_page(*core_, state, options);
}

Result<std::map<unsigned, std::int64_t>> RawQueue::counts_by_priority() {
  const auto counts = core_->counts();
  if (!counts) return counts.error();
  std::map<unsigned, std::int64_t> all;
  if (counts->waiting > 0) all[0] = counts->waiting;
  for (unsigned from = 1; from <= kMaxPriority;) {
    const auto reply = ask(
        *core_, ScriptCall::of<scripts::QueuePriorities>(
                    core_->keys(),
                    {.revision = scripts::kRevision, .from = from, .limit = kPrioritiesPerCall}));
    if (!reply) return reply.error();
    for (std::size_t i = 0; i + 1 < reply->items.size(); i += 2) {
      const auto priority = static_cast<unsigned>(wire::number_of(reply->items[i]));
      all[priority] = wire::number_of(reply->items[i + 1]);
      from = priority + 1;
    }
    if (reply->items.size() < 2 * kPrioritiesPerCall) break;
  }
  return all;
}

Result<std::vector<WorkerInfo>> RawQueue::workers() { return read_holders(*core_); }
Result<void> RawQueue::pause() { return pause_or_resume(*core_, true); }
Result<void> RawQueue::resume() { return pause_or_resume(*core_, false); }

Result<void> RawQueue::set_concurrency(unsigned concurrency) {
  if (auto bad = check_concurrency(concurrency)) return *bad;
  return limit_concurrency(*core_, concurrency);
}

Result<void> RawQueue::clear_concurrency() { return limit_concurrency(*core_, 0); }

Result<void> RawQueue::set_max_length(std::int64_t max_length) {
  if (auto bad = check_length(max_length)) return *bad;
  return limit_length(*core_, max_length);
}

Result<void> RawQueue::clear_max_length() { return limit_length(*core_, 0); }

Result<void> RawQueue::set_rate_limit(const RateLimit& limit) {
  if (auto bad = check_rate(limit)) return *bad;
  return limit_rate(*core_, limit);
}

Result<void> RawQueue::clear_rate_limit() { return limit_rate(*core_, std::nullopt); }

Result<std::int64_t> RawQueue::rate_limit(std::chrono::milliseconds duration) {
  if (auto bad = check_hold(duration)) return *bad;
  return hold(*core_, duration);
}

Result<void> RawQueue::release_rate_limit() {
  const auto released = hold(*core_, std::chrono::milliseconds(0));
  if (!released) return released.error();
  return {};
}

Result<Limits> RawQueue::limits() { return read_limits(*core_); }

Result<JobResults> RawQueue::promote(const std::vector<std::string>& ids) {
  return reschedule_jobs(*core_, ids, std::chrono::milliseconds(0));
}

Result<JobResults> RawQueue::change_delay(const std::vector<std::string>& ids,
                                          std::chrono::milliseconds delay) {
  return reschedule_jobs(*core_, ids, delay);
}

Result<JobResults> RawQueue::change_priority(const std::vector<std::string>& ids,
                                             unsigned priority) {
  return prioritize_jobs(*core_, ids, priority);
}

Result<JobResults> RawQueue::retry(const std::vector<std::string>& ids, const RetryOptions& how) {
  return retry_jobs(*core_, ids, how);
}

Result<JobResults> RawQueue::remove(const std::vector<std::string>& ids) {
  return remove_jobs(*core_, ids);
}

Result<BulkReport> RawQueue::promote_all(const BulkOptions& options) {
  return v2::promote_all(*core_, options);
}

Result<BulkReport> RawQueue::retry_all(JobState state, const RetryOptions& how,
                                       const BulkOptions& options) {
  return v2::retry_all(*core_, state, how, options);
}

Result<BulkReport> RawQueue::remove_all(JobState state, const BulkOptions& options) {
  return v2::remove_all(*core_, state, options);
}

Result<BulkReport> RawQueue::clean(JobState state, std::chrono::milliseconds older_than,
                                   const BulkOptions& options) {
  return v2::clean(*core_, state, older_than, options);
}

Result<BulkReport> RawQueue::drain(const DrainOptions& what, const BulkOptions& options) {
  return v2::drain(*core_, what, options);
}

Result<BulkReport> RawQueue::sweep_trash(const BulkOptions& options) {
  return v2::sweep_trash(*core_, options);
}

Result<BulkReport> RawQueue::obliterate(const ObliterateOptions& options) {
  return v2::obliterate(*core_, options);
}

Result<void> RawQueue::keep_metrics(std::chrono::minutes time) {
  return v2::keep_metrics(*core_, time);
}

Result<Metrics> RawQueue::metrics(JobState state, std::int64_t from_ms, std::int64_t to_ms) {
  return read_metrics(*core_, state, from_ms, to_ms);
}

Result<void> RawQueue::update_data(std::string_view id, std::string data) {
  return v2::update_data(*core_, id, {}, data);
}

Result<void> RawQueue::log(std::string_view id, std::string line) {
  return append_log(*core_, id, std::nullopt, line);
}

Result<JobLogs> RawQueue::logs(std::string_view id, const LogOptions& options) {
  return read_logs(*core_, id, options);
}

Result<std::optional<DeduplicationOwner>> RawQueue::deduplication_owner(std::string_view id) {
  return read_owner(*core_, id);
}

Result<bool> RawQueue::release_deduplication(std::string_view id) {
  return release_owned(*core_, id);
}

}  // namespace echomq::inline v2
