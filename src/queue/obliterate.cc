// SPDX-License-Identifier: MIT
#include "queue/obliterate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "echomq_scripts.h"
#include "queue/ask.h"
#include "queue/bulk.h"
#include "queue/evict_call.h"
#include "queue/moves.h"
#include "queue/pause.h"
#include "queue/relay.h"
#include "queue/strays.h"
#include "queue/sweep_trash.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

// Waiting ones last: what is added behind that look makes another round necessary.
constexpr std::array kObliterated{
    JobState::completed,   JobState::failed, JobState::waiting_children, JobState::delayed,
    JobState::prioritized, JobState::active, JobState::waiting};
// A producer that adds faster than the server deletes would keep this busy for ever.
constexpr int kRounds = 100;

std::int64_t all_jobs(const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto state : kObliterated) sum += counted(counts, state);
  return sum;
}

// One obliteration, and its account.
class Obliteration {
 public:
  Obliteration(QueueCore& queue, const ObliterateOptions& options)
      : queue_(queue), options_(options) {}

  Result<BulkReport> run() {
    auto counts = queue_.counts();
    if (!counts) return absent(counts.error());
    if (auto refused = refusal(*counts)) return *refused;
    total_ = all_jobs(*counts);
    if (options_.dry_run) {
      report_.done = total_;
      return report_;
    }
    const auto paused = set_paused(queue_, true);
    if (!paused) return paused.error();
    for (int round = 0; round < kRounds; ++round) {
      counts = queue_.counts();
      if (!counts) return counts.error();
      // A claim that was on its way when the queue was paused.
      if (auto refused = refusal(*counts)) return give_up(*std::move(refused), *paused);
      // First of all: they make jobs while the queue is paused too.
      if (auto problem = remove_schedulers()) return *problem;
      if (auto problem = empty_trash()) return *problem;
      if (auto problem = remove_jobs(*counts)) return *problem;
      if (report_.stopped) return report_;
      if (round == 0) {
        if (auto problem = clear_subkeys()) return *problem;
        if (auto problem = remove_strays()) return *problem;
        if (report_.stopped) return report_;
      }
      const auto left = end();
      if (!left) return left.error();
      if (*left > 0) continue;
      if (!options_.all) return report_;
      const auto forgotten = forget();
      if (!forgotten) return forgotten.error();
      return report_;
    }
    return Error{
        ErrorCode::wrong_state,
        "jobs are added to queue \"" + queue_.name() +
            "\" faster than they are removed; it is paused: stop those who add, and try again",
        {{"queue", queue_.name()}}};
  }

 private:
  [[nodiscard]] std::optional<Error> refusal(const Counts& counts) const {
    if (options_.force || counts.active == 0) return std::nullopt;
    const auto running = std::to_string(counts.active);
    return Error{ErrorCode::wrong_state,
                 running + " job(s) of queue \"" + queue_.name() +
                     "\" run; wait for their end, or force it: their results are refused then",
                 {{"queue", queue_.name()}, {"value", running}, {"expected", "0 running jobs"}}};
  }

  Error give_up(Error refused, bool was_open) {
    if (!was_open) return refused;
    const auto resumed = set_paused(queue_, false);
    if (!resumed) return resumed.error();
    return refused;
  }

  // An interruption may have come between the end of the queue and that of its entry in the list.
  Result<BulkReport> absent(const Error& why) {
    if (why.code != ErrorCode::not_found || !options_.all || options_.dry_run) return why;
    const auto forgotten = forget();
    if (!forgotten) return forgotten.error();
    if (!*forgotten) return why;
    return report_;
  }

  std::optional<Error> remove_jobs(const Counts& counts) {
    for (const auto state : kObliterated) {
      if (counted(counts, state) == 0) continue;
      BulkOptions how;
      if (options_.on_progress)
        how.on_progress = [this](const BulkProgress& now) {
          const auto done = report_.done + now.done;
          const auto skipped = report_.skipped + now.skipped;
          // Others come and go: the whole is at least what was met.
          return options_.on_progress({done, skipped, std::max(total_, done + skipped)});
        };
      const auto part = remove_any(queue_, state, how, /*add_kept=*/false);
      if (!part) return part.error();
      report_.done += part->done;
      report_.skipped += part->skipped;
      report_.stopped = part->stopped;
      if (report_.stopped) break;
    }
    return std::nullopt;
  }

  using Act = std::function<std::optional<Error>(const Ids&)>;

  static Ids members_of(const wire::Reply& scanned, bool scored) {
    Ids ids;
    if (scored)
      for (auto& entry : wire::scored(scanned)) ids.push_back(std::move(entry.member));
    else
      for (const auto& member : scanned.items) ids.push_back(member.text);
    return ids;
  }

  // Every member that is in a set, or a sorted one, from the beginning to the end, some at a time.
  std::optional<Error> through_members(const std::string& set, const Act& act,
                                       bool sorted = false) {
    std::string cursor = "0";
    do {
      auto bytes = wire::command({sorted ? "ZSCAN" : "SSCAN", set, cursor, "COUNT", "128"});
      const auto reply = ask_plainly(queue_, std::move(bytes));
      if (!reply) return reply.error();
      if (reply->items.size() < 2) break;
      cursor = reply->items[0].text;
      Ids ids;
      for (auto& member : members_of(reply->items[1], sorted)) {
        ids.push_back(std::move(member));
        if (ids.size() < kEvictedPerCall) continue;
        if (auto problem = act(std::exchange(ids, {}))) return problem;
      }
      if (!ids.empty())
        if (auto problem = act(ids)) return problem;
    } while (cursor != "0");
    return std::nullopt;
  }

  std::optional<Error> remove_schedulers() {
    using Transition = scripts::ScheduleRemove;
    const auto& k = queue_.keys();
    const auto remove = [&](const Ids& ids) -> std::optional<Error> {
      auto call =
          ScriptCall::of<Transition>(k, {.revision = scripts::kRevision, .count = ids.size()});
      for (const auto& id : ids) {
        call.put_keys(Transition::ItemKeys{.schedule = scheduler_key(queue_.name(), id)});
        call.put_args(Transition::ItemArgs{.id = id});
      }
      const auto reply = ask(queue_, std::move(call));
      if (!reply) return reply.error();
      return std::nullopt;
    };
    return through_members(k.schedules, remove, /*sorted=*/true);
  }

  std::optional<Error> empty_trash() {
    return through_members(queue_.keys().trash, [this](const Ids& ids) -> std::optional<Error> {
      const auto evicted = evict_from_trash(queue_, ids);
      if (!evicted) return evicted.error();
      return std::nullopt;
    });
  }

  // When no state names a job any more: those that stand in none, and what is left of others. What
  // is added meanwhile and caught here leaves an id without a job, which the next round removes.
  std::optional<Error> remove_lost(const Ids& ids) {
    const auto statuses =
        remove_batch(queue_, ids, {.add_kept = false}, Places(ids.size(), kInNoLine));
    if (!statuses) return statuses.error();
    report_.done += std::count(statuses->begin(), statuses->end(), "ok");
    return std::nullopt;
  }

  // Of jobs whose hashes were deleted by hand: there are no such jobs, but keys of theirs.
  std::optional<Error> clear_subkeys() {
    return through_members(queue_.keys().subkeys,
                           [this](const Ids& ids) { return remove_lost(ids); });
  }

  // What nothing in the queue names; behind the jobs that its states name, and before the end,
  // which looks once more whether anything was added meanwhile.
  std::optional<Error> remove_strays() {
    std::string cursor = "0";
    report_.strays = 0;
    do {
      const auto page = read_strays(queue_, cursor);
      if (!page && page.error().code == ErrorCode::denied) {
        report_.strays.reset();
        return std::nullopt;
      }
      if (!page) return page.error();
      cursor = page->next;
      if (auto problem = remove_lost(page->jobs)) return problem;
      const auto deleted = delete_strays(queue_, page->others);
      if (!deleted) return deleted.error();
      *report_.strays += *deleted;
      if (page->jobs.empty() || !options_.on_progress) continue;
      const auto reached = report_.done + report_.skipped;
      report_.stopped =
          !options_.on_progress({report_.done, report_.skipped, std::max(total_, reached)});
    } while (cursor != "0" && !report_.stopped);
    return std::nullopt;
  }

  // Answers how many jobs are there still.
  Result<std::int64_t> end() {
    const auto notes = deliver_outbox(queue_);
    if (!notes) return notes.error();
    const auto reply = ask(queue_, ScriptCall::of<scripts::QueueObliterate>(
                                       queue_.keys(), {.revision = scripts::kRevision,
                                                       .now = queue_.client()->now_ms(),
                                                       .all = options_.all,
                                                       .outbox = *notes}));
    if (!reply) return reply.error();
    return wire::number_of(*reply);
  }

  // Out of the list of queues; whether it was there. This process opens it anew, if it ever does.
  Result<bool> forget() {
    const auto& client = queue_.client();
    const auto closed = client->wait_for<bool>([this](Function<void(Result<bool>)> done) {
      queue_.forget_open();
      done(true);
    });
    if (!closed) return closed.error();
    auto bytes = wire::command({"ZREM", reserve_key(Reserve::queues), queue_.name()});
    const auto reply = ask_plainly(queue_, std::move(bytes));
    if (!reply) return reply.error();
    return wire::number_of(*reply) > 0;
  }

  QueueCore& queue_;
  const ObliterateOptions& options_;
  std::int64_t total_ = 0;
  BulkReport report_;
};

}  // namespace

Result<BulkReport> obliterate(QueueCore& queue, const ObliterateOptions& options) {
  return Obliteration(queue, options).run();
}

}  // namespace echomq::inline v2
