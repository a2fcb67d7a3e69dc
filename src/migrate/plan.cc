// SPDX-License-Identifier: MIT
#include "migrate/plan.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/number.h"
#include "migrate/findings.h"
#include "migrate/key_check.h"
#include "migrate/walk.h"
#include "wire/command.h"

namespace echomq::inline v2::migrate {
namespace {

// Measured (docs/benchmarks.md), and on the careful side.
constexpr std::int64_t kJobsPerSecond = 20'000;
constexpr std::int64_t kBytesPerSecond = std::int64_t{20} << 20;
// What a job takes beside its bytes: the hash, its key, an entry of a list or set.
constexpr std::int64_t kOverhead = 200;
constexpr std::chrono::milliseconds kWatchEach{50};
constexpr std::chrono::seconds kRecent{60};

// Counts what a walk reads, and writes nothing.
class Estimate : public Sink {
 public:
  Estimate(MigrationSession& session, const MovingQueue& queue, MigrationPlan& plan,
           Findings& findings)
      : session_(session), queue_(queue), plan_(plan), findings_(findings) {}

  Result<void> take(const Chunk& chunk) override {
    if (auto looked = look_at_names(chunk); !looked) return looked;
    for (const auto& job : chunk.jobs) {
      for (const auto& [field, value] : job.fields)
        plan_.bytes += static_cast<std::int64_t>(field.size() + value.size());
      plan_.estimated_memory += kOverhead;
    }
    return session_.step(queue_, kLooking, static_cast<std::int64_t>(chunk.jobs.size()));
  }
  Result<void> take(const Part& part) override {
    for (const auto& [entry, value] : part.entries)
      plan_.bytes += static_cast<std::int64_t>(entry.size() + value.size());
    return session_.step(queue_, kLooking, 0);
  }
  void tell(const std::string& job, bool left_out, const std::string& text) override {
    findings_.add({.blocks = left_out, .queue = queue_.names.from, .job = job, .text = text});
  }

 private:
  // A job that gets another id must not get one that another job has.
  Result<void> look_at_names(const Chunk& chunk) {
    std::vector<const MovedJob*> renamed;
    Commands looks;
    for (const auto& job : chunk.jobs) {
      if (job.id == job.v1_id) continue;
      renamed.push_back(&job);
      wire::append_command(looks.emplace_back(), {"EXISTS", queue_.v1(job.id)});
    }
    const auto taken = session_.source().ask_all(std::move(looks));
    if (!taken) return taken.error();
    for (std::size_t i = 0; i < renamed.size(); ++i) {
      const auto& job = *renamed[i];
      if ((*taken)[i].integer == 1)
        tell(job.v1_id, true,
             "would be called " + job.id + ", as another job is: remove one of the two");
      else
        tell(job.v1_id, false, "will be called " + job.id);
    }
    return {};
  }

  MigrationSession& session_;
  const MovingQueue& queue_;
  MigrationPlan& plan_;
  Findings& findings_;
};

class Planning {
 public:
  // `before_run`: jobs that run and producers that add do not block.
  Planning(MigrationSession& session, bool before_run)
      : session_(session), before_run_(before_run) {}

  Result<MigrationPlan> run() {
    const auto total = session_.count_source();
    if (!total) return total.error();
    session_.begin_progress(*total);
    for (auto& queue : session_.queues())
      if (auto looked = look(queue); !looked) return looked.error();
    if (!before_run_)
      if (auto looked = look_for_producers(); !looked) return looked.error();
    std::int64_t jobs = 0;
    for (const auto& queue : plan_.queues) jobs += queue.jobs();
    plan_.estimated_memory += plan_.bytes;
    plan_.estimated_time = std::chrono::milliseconds(
        1'000 * (jobs / kJobsPerSecond + plan_.bytes / kBytesPerSecond + 1));
    plan_.blocking = findings_.blocking();
    plan_.findings = findings_.close();
    return std::move(plan_);
  }

 private:
  void block(const MovingQueue& queue, const std::string& text) {
    findings_.add({.blocks = true, .queue = queue.names.from, .text = text});
  }
  void note(const MovingQueue& queue, const std::string& text) {
    findings_.add({.queue = queue.names.from, .text = text});
  }

  Result<void> look(MovingQueue& queue) {
    const auto type = session_.source().ask({"TYPE", queue.v1("meta")});
    if (!type) return type.error();
    const auto phase = queue.journal.phase;
    const bool has_tombstone = type->text == "string";
    if (phase >= MigrationPhase::fenced || (phase != MigrationPhase::none && has_tombstone)) {
      note(queue, "is being migrated already: " + std::string(name(phase)));
      return {};
    }
    if (has_tombstone) {
      block(queue, "was migrated before: a tombstone stands at " + queue.v1("meta"));
      return {};
    }
    const auto known = look_at_types(queue);
    if (!known) return known.error();
    if (!*known) return {};
    const auto id = session_.source().ask({"GET", queue.v1("id")});
    if (!id) return id.error();
    ids_.emplace_back(&queue, id->text);
    if (auto looked = look_at_counts(queue); !looked) return looked;
    // One that was begun may have its target already.
    if (phase == MigrationPhase::none)
      if (auto looked = look_at_target(queue); !looked) return looked;
    KeyCheck keys(session_.source(), queue.v1);
    const auto readable = keys.run(
        [&] { return session_.step(queue, kLooking, 0); },
        [&](const std::string& job, const std::string& text) {
          findings_.add({.blocks = true, .queue = queue.names.from, .job = job, .text = text});
        });
    if (!readable) return readable.error();
    if (!*readable) return {};
    Estimate sink(session_, queue, plan_, findings_);
    Walk walk(session_.source(), session_.unit(), queue.names, sink, keys.kinds());
    if (auto walked = walk.jobs({}); !walked) return walked;
    return walk.parts(session_.now_ms());
  }

  Result<void> look_at_counts(MovingQueue& queue) {
    auto counts = session_.counts(queue);
    if (!counts) return counts.error();
    if (counts->version.empty() && counts->jobs() + counts->active + counts->schedulers == 0)
      block(queue, "there is nothing of such a queue under the prefix \"" +
                       session_.options().prefix + "\"");
    if (counts->active > 0 && !before_run_)
      block(queue, std::to_string(counts->active) +
                       " jobs are active and hold v1's locks: let v1's workers end them first");
    const bool paused = counts->paused;
    plan_.queues.push_back(*std::move(counts));
    if (paused) return {};
    const auto lists = session_.source().ask({"EXISTS", queue.v1("wait"), queue.v1("paused")});
    if (!lists) return lists.error();
    if (lists->integer == 2)
      block(queue,
            "both wait and paused hold jobs, so that v1 cannot be paused: let its workers empty "
            "wait, and resume it there");
    return {};
  }

  Result<void> look_at_target(const MovingQueue& queue) {
    if (session_.is_one_server() && queue.keys.meta == queue.v1("meta")) {
      block(queue, "stands under the very names that it would have here (" + queue.v1.base() +
                       "...): give it another name (--rename " + queue.names.from + "=NEW)");
      return {};
    }
    const auto there = target_exists(session_.target(), queue.names.to);
    if (!there) return there.error();
    if (*there)
      block(queue, "there is a queue \"" + queue.names.to +
                       "\" already; name another target, or obliterate it (emq obliterate "
                       "--all)");
    return {};
  }

  // False: reading it makes no sense.
  Result<bool> look_at_types(const MovingQueue& queue) {
    Commands commands;
    for (const auto& [word, type] : kV1Structures)
      wire::append_command(commands.emplace_back(), {"TYPE", queue.v1(word)});
    const auto types = session_.source().ask_all(std::move(commands));
    if (!types) return types.error();
    bool fine = true;
    for (std::size_t i = 0; i < kV1Structures.size(); ++i) {
      const auto& found = (*types)[i].text;
      if (found == "none" || found == kV1Structures[i].type) continue;
      fine = false;
      block(queue, queue.v1(kV1Structures[i].word) + " is a " + found + ", and not a " +
                       std::string(kV1Structures[i].type));
    }
    return fine;
  }

  // v1 counts every add in `id`: what has risen since was risen by somebody.
  Result<void> look_for_producers() {
    const auto end = std::chrono::steady_clock::now() + session_.options().watch;
    while (!ids_.empty()) {
      const bool is_over = std::chrono::steady_clock::now() >= end;
      for (auto it = ids_.begin(); it != ids_.end();) {
        const auto& [queue, was] = *it;
        const auto id = session_.source().ask({"GET", queue->v1("id")});
        if (!id) return id.error();
        if (id->text == was) {
          ++it;
          continue;
        }
        block(*queue, "jobs are being added (its counter went from " + (was.empty() ? "0" : was) +
                          " to " + id->text + " meanwhile): stop its producers first");
        it = ids_.erase(it);
      }
      if (is_over || ids_.empty()) break;
      if (auto stepped = session_.step(*ids_.front().first, kLooking, 0); !stepped) return stepped;
      std::this_thread::sleep_for(std::min(kWatchEach, session_.options().watch));
    }
    for (const auto& [queue, was] : ids_)
      if (auto looked = look_at_last_add(*queue); !looked) return looked;
    return {};
  }

  // Who adds seldom is seen in the events of v1 alone.
  Result<void> look_at_last_add(const MovingQueue& queue) {
    const auto now_ms = session_.source().now_ms();
    if (!now_ms) return now_ms.error();
    const auto events =
        session_.source().ask({"XREVRANGE", queue.v1("events"), "+", "-", "COUNT", "20"});
    if (!events) return events.error();
    for (const auto& entry : events->items) {
      if (entry.items.size() != 2 || text_of(read_hash(entry.items[1]), "event") != "added")
        continue;
      const auto age = *now_ms / 1'000 - number_before(entry.items[0].text) / 1'000;
      if (age < kRecent.count())
        note(queue, "its last job was added " + std::to_string(std::max<std::int64_t>(age, 0)) +
                        " s ago: are its producers stopped?");
      return {};
    }
    return {};
  }

  // Of "1700000000000-0".
  static std::int64_t number_before(const std::string& id) {
    return to_number<std::int64_t>(id.substr(0, id.find('-')));
  }

  MigrationSession& session_;
  bool before_run_;
  MigrationPlan plan_{};
  Findings findings_{};
  // The counters of the queues that were read, as they were before.
  std::vector<std::pair<const MovingQueue*, std::string>> ids_{};
};

}  // namespace

Result<MigrationPlan> make_plan(MigrationSession& session) {
  return Planning(session, /*before_run=*/false).run();
}

Result<MigrationPlan> look_before_run(MigrationSession& session) {
  auto plan = Planning(session, /*before_run=*/true).run();
  if (!plan || plan->blocking == 0) return plan;
  const auto& first = plan->findings.front();
  auto text = "queue \"" + first.queue + "\"" + (first.job.empty() ? "" : ", job " + first.job) +
              ": " + first.text;
  if (plan->blocking > 1)
    text += "; and " + std::to_string(plan->blocking - 1) + " more that block, which a plan lists";
  return Error{ErrorCode::wrong_state,
               "nothing was moved, because something blocks: " + text,
               {{"queue", first.queue}, {"job", first.job}}};
}

}  // namespace echomq::inline v2::migrate
