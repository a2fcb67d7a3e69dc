// SPDX-License-Identifier: MIT
#include "queue/bulk.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/bad_option.h"
#include "base/number.h"
#include "job/record.h"
#include "queue/ask.h"
#include "queue/entries.h"
#include "queue/line_walk.h"
#include "queue/moves.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

// What is done to some jobs; for waiting ones with the places where they were seen.
using Move = std::function<Result<Statuses>(const Ids&, const Places&)>;

// One operation on all jobs of a state, or on those of a certain age, and its account.
class Bulk {
 public:
  Bulk(QueueCore& queue, JobState state, const BulkOptions& options, Move move,
       std::optional<std::int64_t> before_ms = {})
      : queue_(queue),
        state_(state),
        options_(options),
        move_(std::move(move)),
        before_ms_(before_ms) {}

  Result<BulkReport> run() {
    if (auto ok = check_limit(options_); !ok) return ok.error();
    const auto counts = queue_.counts();
    if (!counts) return counts.error();
    candidates_ = counted(*counts, state_);
    began_ms_ = queue_.client()->now_ms();
    if (before_ms_ && job::has_ended(state_)) {
      const auto older = count_older();
      if (!older) return older.error();
      candidates_ = *older;
    }
    // How old a job is that has not ended yet, only a look at each of them tells.
    if (options_.dry_run && (!before_ms_ || job::has_ended(state_))) {
      report_.done = total();
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
    auto end = to_number<std::int64_t>(last->front().score);
    if (before_ms_ && job::has_ended(state_)) end = std::min(end, *before_ms_);
    SetEntry from;
    while (left() > 0 && !report_.stopped) {
      auto entries = read_set(queue_, set, PageOrder::ascending, from, chunk());
      if (!entries) return entries.error();
      std::erase_if(*entries, [end](const SetEntry& entry) {
        return to_number<std::int64_t>(entry.score) > end;
      });
      if (entries->empty()) break;
      from = entries->back();
      Ids ids;
      for (auto& entry : *entries) ids.push_back(std::move(entry.id));
      const auto which = candidates_of(ids);
      if (!which) return which.error();
      if (const auto moved = move(chosen(ids, *which), {}); !moved) return moved.error();
    }
    return std::nullopt;
  }

  // From the front, where what is moved is gone. What stays is passed by.
  std::optional<Error> through_lines() {
    for (const auto* line : {&queue_.keys().crashed, &queue_.keys().wait}) {
      LinePlace stays;  // behind what did
      while (left() > 0 && !report_.stopped) {
        const auto read = read_behind(queue_, *line, PageOrder::ascending, stays, kMaxBatchJobs);
        if (!read) return read.error();
        if (read->jobs.empty()) break;
        const auto again = std::min(read->again, too_young_);
        too_young_ -= again;
        candidates_ += again;
        if (auto problem = through_entries(*read, stays)) return problem;
      }
    }
    return std::nullopt;
  }

  std::optional<Error> through_entries(const LineJobs& read, LinePlace& stays) {
    Ids ids;
    Places places;
    for (const auto& entry : read.jobs) {
      ids.push_back(entry.id);
      places.push_back(entry.index);
    }
    const auto which = candidates_of(ids);
    if (!which) return which.error();
    const auto statuses = move(chosen(ids, *which), chosen(places, *which));
    if (!statuses) return statuses.error();
    for (std::size_t i = 0, moved = 0; i < ids.size(); ++i) {
      const bool left_alone = !(*which)[i] || options_.dry_run;
      if (left_alone || stays_in_line(ids[i], (*statuses)[moved])) stays.pass(ids[i], places[i]);
      if ((*which)[i]) ++moved;
    }
    const auto noted = note_marks(queue_, stays, read.read_ms);
    return noted ? std::nullopt : std::optional(noted.error());
  }

  // One that has left the line is no place to go on from. One that left and is met again was
  // counted already; it is passed by, so that no job is met for ever.
  bool stays_in_line(const std::string& id, const std::string& status) {
    if (status == "ok") {
      report_.skipped -= static_cast<std::int64_t>(skipped_.erase(id));
      return false;
    }
    if (skipped_.insert(id).second) return status == "moved";
    --report_.skipped;
    return true;
  }

  template <class List>
  static List chosen(const List& all, const std::vector<bool>& which) {
    List some;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (which[i]) some.push_back(all[i]);
    return some;
  }

  Result<std::int64_t> count_older() {
    std::string bytes;
    wire::append_command(
        bytes, {"ZCOUNT", *set_of(queue_.keys(), state_), "-inf", std::to_string(*before_ms_)});
    const auto reply = ask_plainly(queue_, std::move(bytes));
    if (!reply) return reply.error();
    return reply->integer;
  }

  // Those of a chunk that are moved: not more than are left, and only old ones. The entries of a
  // finished state tell their age themselves; what has not ended is as old as its add, and when it
  // is too young it is no candidate.
  Result<std::vector<bool>> candidates_of(const Ids& ids) {
    std::vector<bool> which(ids.size(), true);
    if (before_ms_ && !job::has_ended(state_)) {
      std::vector<std::string> commands;
      for (const auto& id : ids)
        wire::append_command(commands.emplace_back(), {"HGET", job_key(queue_.name(), id), "head"});
      const auto added = ask_plainly(queue_, std::move(commands));
      if (!added) return added.error();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto at = job::read_head((*added)[i].text).value_or(job::Head{}).added_ms;
        which[i] = at <= *before_ms_;
        // One that was added since was not among those that were counted.
        if (which[i] || at > began_ms_) continue;
        --candidates_;
        ++too_young_;
      }
    }
    auto most = left();
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (which[i] && --most < 0) which[i] = false;
    return which;
  }

  Result<Statuses> move(const Ids& ids, const Places& places) {
    Statuses statuses(ids.size(), "state");
    if (options_.dry_run) {
      report_.done += static_cast<std::int64_t>(ids.size());
    } else if (!ids.empty()) {
      auto answered = move_(ids, places);
      if (!answered) return answered;
      statuses = *std::move(answered);
      for (const auto& status : statuses) ++(status == "ok" ? report_.done : report_.skipped);
    }
    if (options_.on_progress)
      report_.stopped = !options_.on_progress({report_.done, report_.skipped, total()});
    return statuses;
  }

  [[nodiscard]] std::int64_t total() const {
    return options_.limit > 0 ? std::min(candidates_, options_.limit) : candidates_;
  }
  // As many as there were, so that a queue that is filled meanwhile does not keep this busy for
  // ever.
  [[nodiscard]] std::int64_t left() const { return total() - report_.done - report_.skipped; }
  [[nodiscard]] std::size_t chunk() const {
    if (before_ms_) return kMaxBatchJobs;
    return std::min(static_cast<std::size_t>(left()), kMaxBatchJobs);
  }

  QueueCore& queue_;
  JobState state_;
  const BulkOptions& options_;
  Move move_;
  std::optional<std::int64_t> before_ms_;
  std::int64_t began_ms_ = 0;
  std::int64_t candidates_ = 0;
  std::int64_t too_young_ = 0;               // counted as none since this was where the look stands
  std::unordered_set<std::string> skipped_;  // of the lines, where one may be met again
  BulkReport report_;
};

constexpr std::string_view kNotRunning = "one whose jobs do not run";

Error bad_state(JobState state, std::string_view expected) {
  return bad_option("state", name(state), expected);
}

}  // namespace

Result<void> check_limit(const BulkOptions& options) {
  if (options.limit < 0)
    return bad_option("limit", std::to_string(options.limit), "0 (all) or more");
  return {};
}

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

Result<BulkReport> promote_all(QueueCore& queue, const BulkOptions& options) {
  return Bulk(queue, JobState::delayed, options,
              [&queue](const Ids& ids, const Places&) {
                return reschedule_batch(queue, ids, std::chrono::milliseconds(0));
              })
      .run();
}

Result<BulkReport> retry_all(QueueCore& queue, JobState state, const RetryOptions& how,
                             const BulkOptions& options) {
  if (!job::has_ended(state)) return bad_state(state, "completed or failed");
  const RetryFrom from{.completed = state == JobState::completed,
                       .failed = state == JobState::failed};
  return Bulk(queue, state, options,
              [&](const Ids& ids, const Places&) { return retry_batch(queue, ids, from, how); })
      .run();
}

Result<BulkReport> remove_any(QueueCore& queue, JobState state, const BulkOptions& options,
                              bool add_kept) {
  return Bulk(queue, state, options,
              [&queue, state, add_kept](const Ids& ids, const Places& places) {
                return remove_batch(queue, ids, {.state = state, .add_kept = add_kept}, places);
              })
      .run();
}

Result<BulkReport> remove_all(QueueCore& queue, JobState state, const BulkOptions& options) {
  if (state == JobState::active) return bad_state(state, kNotRunning);
  return remove_any(queue, state, options);
}

Result<BulkReport> clean(QueueCore& queue, JobState state, std::chrono::milliseconds older_than,
                         const BulkOptions& options) {
  if (state == JobState::active) return bad_state(state, kNotRunning);
  constexpr std::chrono::milliseconds most = kMaxKeepAge;
  if (older_than < std::chrono::milliseconds(0) || older_than > most)
    return bad_option("older_than", std::to_string(older_than.count()),
                      "0 to " + std::to_string(most.count()) + " ms (a hundred years)");
  const RemoveFrom from{.state = state, .before_ms = queue.client()->now_ms() - older_than.count()};
  return Bulk(
             queue, state, options,
             [&queue, &from](const Ids& ids, const Places& places) {
               return remove_batch(queue, ids, from, places);
             },
             from.before_ms)
      .run();
}

Result<BulkReport> drain(QueueCore& queue, const DrainOptions& what, const BulkOptions& options) {
  if (auto ok = check_limit(options); !ok) return ok.error();
  std::vector<JobState> states{JobState::waiting, JobState::prioritized};
  if (what.delayed) states.push_back(JobState::delayed);
  const auto counts = queue.counts();
  if (!counts) return counts.error();
  std::int64_t total = 0;
  for (const auto state : states) total += counted(*counts, state);
  if (options.limit > 0) total = std::min(total, options.limit);
  BulkReport all;
  if (options.dry_run) {
    all.done = total;
    return all;
  }
  for (const auto state : states) {
    const auto reached = all.done + all.skipped;
    auto part = options;
    if (options.limit > 0) part.limit = options.limit - reached;
    if ((options.limit > 0 && part.limit == 0) || all.stopped) break;
    if (options.on_progress)
      part.on_progress = [&](const BulkProgress& now) {
        return options.on_progress({all.done + now.done, all.skipped + now.skipped, total});
      };
    const auto report = remove_any(queue, state, part);
    if (!report) return report.error();
    all.done += report->done;
    all.skipped += report->skipped;
    all.stopped = report->stopped;
  }
  return all;
}

}  // namespace echomq::inline v2
