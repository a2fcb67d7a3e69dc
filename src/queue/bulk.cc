// SPDX-License-Identifier: MIT
#include "queue/bulk.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/bad_option.h"
#include "base/number.h"
#include "queue/entries.h"
#include "queue/moves.h"

namespace echomq::inline v2 {
namespace {

using Move = std::function<Result<Statuses>(const Ids&)>;

std::int64_t counted(const Counts& counts, JobState state) {
  switch (state) {
    case JobState::waiting: return counts.waiting;
    case JobState::prioritized: return counts.prioritized;
    case JobState::delayed: return counts.delayed;
    case JobState::active: return counts.active;
    case JobState::completed: return counts.completed;
    case JobState::failed: return counts.failed;
    case JobState::waiting_children: return counts.waiting_children;
  }
  return 0;
}

// One operation on all jobs of a state, and its account.
class Bulk {
 public:
  Bulk(QueueCore& queue, JobState state, const BulkOptions& options, Move move)
      : queue_(queue), state_(state), options_(options), move_(std::move(move)) {}

  Result<BulkReport> run() {
    if (options_.limit < 0)
      return Error{ErrorCode::invalid_argument,
                   "limit is " + std::to_string(options_.limit) + "; expected 0 (all) or more",
                   {{"option", "limit"},
                    {"value", std::to_string(options_.limit)},
                    {"expected", "0 or more"}}};
    const auto counts = queue_.counts();
    if (!counts) return counts.error();
    total_ = counted(*counts, state_);
    if (options_.limit > 0) total_ = std::min(total_, options_.limit);
    if (options_.dry_run) {
      report_.done = total_;
      return report_;
    }
    const auto* set = set_of(queue_.keys(), state_);
    const auto problem = set != nullptr ? through_set(*set) : through_lines();
    if (problem) return *problem;
    return report_;
  }

 private:
  // Each entry once, up to the last one that there was at the beginning: jobs that come back behind
  // it, with a later time, are left out.
  std::optional<Error> through_set(const std::string& set) {
    const auto last = read_set(queue_, set, PageOrder::descending, {}, 1);
    if (!last) return last.error();
    if (last->empty()) return std::nullopt;
    const auto end = to_number<std::int64_t>(last->front().score);
    SetEntry from;
    while (left() > 0) {
      auto entries = read_set(queue_, set, PageOrder::ascending, from, chunk());
      if (!entries) return entries.error();
      std::erase_if(*entries, [end](const SetEntry& entry) {
        return to_number<std::int64_t>(entry.score) > end;
      });
      if (entries->empty()) break;
      from = entries->back();
      Ids ids;
      for (auto& entry : *entries) ids.push_back(std::move(entry.id));
      if (auto problem = move(ids)) return problem;
      if (report_.stopped) break;
    }
    return std::nullopt;
  }

  // From the front, where what is moved is gone and ghosts are passed by.
  std::optional<Error> through_lines() {
    for (const auto* line : {&queue_.keys().crashed, &queue_.keys().wait}) {
      LineEntry at;
      while (left() > 0 && !report_.stopped) {
        const auto entries = read_line(queue_, *line, PageOrder::ascending, at, chunk());
        if (!entries) return entries.error();
        if (entries->empty()) break;
        Ids ids;
        for (const auto& entry : *entries) {
          if (entry.id.empty())
            ++at.index;
          else
            ids.push_back(entry.id);
        }
        if (ids.empty()) continue;
        if (auto problem = move(ids)) return problem;
      }
    }
    return std::nullopt;
  }

  std::optional<Error> move(const Ids& ids) {
    const auto statuses = move_(ids);
    if (!statuses) return statuses.error();
    for (const auto& status : *statuses) ++(status == "ok" ? report_.done : report_.skipped);
    if (options_.on_progress)
      report_.stopped = !options_.on_progress({report_.done, report_.skipped, total_});
    return std::nullopt;
  }

  // As many as there were, so that a queue that is filled meanwhile does not keep this busy for
  // ever.
  [[nodiscard]] std::int64_t left() const { return total_ - report_.done - report_.skipped; }
  [[nodiscard]] std::size_t chunk() const {
    return std::min(static_cast<std::size_t>(left()), kMaxBatchJobs);
  }

  QueueCore& queue_;
  JobState state_;
  const BulkOptions& options_;
  Move move_;
  std::int64_t total_ = 0;
  BulkReport report_;
};

Error bad_state(JobState state, const std::string& expected) {
  return bad_option("state", name(state), expected);
}

}  // namespace

Result<BulkReport> promote_all(QueueCore& queue, const BulkOptions& options) {
  return Bulk(queue, JobState::delayed, options,
              [&queue](const Ids& ids) {
                return reschedule_batch(queue, ids, std::chrono::milliseconds(0));
              })
      .run();
}

Result<BulkReport> retry_all(QueueCore& queue, JobState state, const RetryOptions& how,
                             const BulkOptions& options) {
  if (state != JobState::completed && state != JobState::failed)
    return bad_state(state, "completed or failed");
  const RetryFrom from{.completed = state == JobState::completed,
                       .failed = state == JobState::failed};
  return Bulk(queue, state, options,
              [&](const Ids& ids) { return retry_batch(queue, ids, from, how); })
      .run();
}

Result<BulkReport> remove_all(QueueCore& queue, JobState state, const BulkOptions& options) {
  if (state == JobState::active) return bad_state(state, "one whose jobs do not run");
  return Bulk(queue, state, options, [&queue](const Ids& ids) { return remove_batch(queue, ids); })
      .run();
}

}  // namespace echomq::inline v2
