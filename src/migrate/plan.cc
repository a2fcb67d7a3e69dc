// SPDX-License-Identifier: MIT
#include "migrate/plan.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "migrate/findings.h"
#include "migrate/walk.h"
#include "wire/command.h"

namespace echomq::inline v2::migrate {
namespace {

// Measured (docs/benchmarks.md), and on the careful side.
constexpr std::int64_t kJobsPerSecond = 20'000;
constexpr std::int64_t kBytesPerSecond = std::int64_t{20} << 20;
// What a job takes beside its bytes: the hash, its key, an entry of a list or set.
constexpr std::int64_t kOverhead = 200;

// Counts what a walk reads, and writes nothing.
class Estimate : public Sink {
 public:
  Estimate(MigrationSession& session, const MovingQueue& queue, MigrationPlan& plan)
      : session_(session), queue_(queue), plan_(plan) {}

  Result<void> take(const Chunk& chunk) override {
    for (const auto& job : chunk.jobs) {
      for (const auto& [field, value] : job.fields)
        plan_.bytes += static_cast<std::int64_t>(field.size() + value.size());
      plan_.estimated_memory += kOverhead;
      if (job.id != job.v1_id)
        add_finding(
            plan_.findings,
            {.queue = queue_.names.from, .job = job.v1_id, .text = "will be called " + job.id});
    }
    return session_.step(queue_, chunk.stage->v1, static_cast<std::int64_t>(chunk.jobs.size()));
  }
  Result<void> take(const Part& part) override {
    for (const auto& [entry, value] : part.entries)
      plan_.bytes += static_cast<std::int64_t>(entry.size() + value.size());
    return session_.step(queue_, "settings", 0);
  }
  void tell(const std::string& job, bool left_out, const std::string& text) override {
    add_finding(plan_.findings,
                {.blocks = left_out, .queue = queue_.names.from, .job = job, .text = text});
  }

 private:
  MigrationSession& session_;
  const MovingQueue& queue_;
  MigrationPlan& plan_;
};

class Planning {
 public:
  explicit Planning(MigrationSession& session) : session_(session) {}

  Result<MigrationPlan> run() {
    const auto total = session_.count_source();
    if (!total) return total.error();
    session_.begin_progress(*total);
    for (auto& queue : session_.queues())
      if (auto looked = look(queue); !looked) return looked.error();
    for (const auto& [queue, id] : ids_)
      if (auto looked = look_for_producers(*queue, id); !looked) return looked.error();
    std::int64_t jobs = 0;
    for (const auto& queue : plan_.queues) jobs += queue.jobs();
    plan_.estimated_memory += plan_.bytes;
    plan_.estimated_time = std::chrono::milliseconds(
        1'000 * (jobs / kJobsPerSecond + plan_.bytes / kBytesPerSecond + 1));
    // What blocks comes first.
    std::stable_sort(plan_.findings.begin(), plan_.findings.end(),
                     [](const auto& a, const auto& b) { return a.blocks && !b.blocks; });
    return std::move(plan_);
  }

 private:
  void block(const MovingQueue& queue, const std::string& text) {
    // One that blocks is never left out for want of room.
    plan_.findings.insert(plan_.findings.begin(),
                          {.blocks = true, .queue = queue.names.from, .text = text});
  }
  void note(const MovingQueue& queue, const std::string& text) {
    add_finding(plan_.findings, {.queue = queue.names.from, .text = text});
  }

  Result<void> look(MovingQueue& queue) {
    const auto phase = queue.journal.phase;
    if (phase >= MigrationPhase::fenced) {
      note(queue, "is being migrated already: " + std::string(name(phase)));
      return {};
    }
    const auto known = look_at_types(queue);
    if (!known) return known.error();
    if (!*known) return {};
    const auto id = session_.source().ask({"GET", queue.v1("id")});
    if (!id) return id.error();
    ids_.emplace_back(&queue, id->text);
    auto counts = session_.counts(queue);
    if (!counts) return counts.error();
    if (counts->version.empty() && counts->jobs() + counts->active + counts->schedulers == 0)
      block(queue, "there is nothing of such a queue under the prefix \"" +
                       session_.options().prefix + "\"");
    if (counts->active > 0)
      block(queue, std::to_string(counts->active) +
                       " jobs are active and hold v1's locks: let v1's workers end them first");
    const auto there = target_exists(session_.target(), queue.names.to);
    if (!there) return there.error();
    if (*there)
      block(queue, "there is a queue \"" + queue.names.to +
                       "\" already; name another target, or obliterate it (emq obliterate "
                       "--all)");
    plan_.queues.push_back(*std::move(counts));
    Estimate sink(session_, queue, plan_);
    Walk walk(session_.source(), session_.unit(), queue.names, sink);
    if (auto walked = walk.jobs({}); !walked) return walked;
    if (auto walked = walk.parts(session_.now_ms()); !walked) return walked;
    return look_at_names(queue);
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

  // A key that v1 5.x does not have may hold something that nobody would move.
  Result<void> look_at_names(const MovingQueue& queue) {
    std::string at = "0";
    do {
      const auto page =
          session_.source().page({"SCAN", at, "MATCH", queue.v1.pattern({}), "COUNT", "1000"}, at);
      if (!page) return page.error();
      for (const auto& key : *page) {
        const auto suffix = std::string_view(key.text).substr(queue.v1.base().size());
        if (!is_known(suffix)) block(queue, "nobody knows what " + v2::quoted(key.text) + " is");
        if (plan_.findings.size() >= kKeptFindings) return {};
      }
      if (auto stepped = session_.step(queue, "keys", 0); !stepped) return stepped;
    } while (at != "0");
    return {};
  }

  static bool is_known(std::string_view suffix) {
    const auto colon = suffix.rfind(':');
    if (colon == std::string_view::npos || suffix.starts_with("repeat:") ||
        suffix.starts_with("de:"))
      return true;
    const auto last = suffix.substr(colon + 1);
    return last == kV1Lock || std::find(kV1Subs.begin(), kV1Subs.end(), last) != kV1Subs.end() ||
           std::any_of(kV1Structures.begin(), kV1Structures.end(),
                       [suffix](const auto& key) { return key.word == suffix; });
  }

  // v1 counts every add in `id`; what has risen while the jobs were read was risen by somebody.
  Result<void> look_for_producers(const MovingQueue& queue, const std::string& was) {
    const auto id = session_.source().ask({"GET", queue.v1("id")});
    if (!id) return id.error();
    if (id->text != was)
      block(queue, "jobs are being added (its counter went from " + was + " to " + id->text +
                       " meanwhile): stop its producers first");
    return {};
  }

  MigrationSession& session_;
  MigrationPlan plan_{};
  // The counters of the queues that were read, as they were before.
  std::vector<std::pair<const MovingQueue*, std::string>> ids_{};
};

}  // namespace

Result<MigrationPlan> make_plan(MigrationSession& session) { return Planning(session).run(); }

}  // namespace echomq::inline v2::migrate
