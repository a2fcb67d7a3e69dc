// SPDX-License-Identifier: MIT
// The order in which v1 is shut out: a tombstone under a job that runs would tear the end of that
// job, so v1 is paused first, and none is put before nothing runs.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "migrate/plan.h"
#include "migrate/session.h"
#include "migrate/v1_fence.h"

namespace echomq::inline v2::migrate {
namespace {

constexpr std::chrono::milliseconds kLook{20};

bool is_past(const MovingQueue& queue, MigrationPhase phase) {
  return queue.journal.phase >= phase && queue.journal.phase != MigrationPhase::aborting;
}

// Nothing of a queue may stand where the target is to be, and v1 must have something.
Result<void> look(MigrationSession& session, MovingQueue& queue) {
  const auto there = target_exists(session.target(), queue.names.to);
  if (!there) return there.error();
  if (*there)
    return wrong_phase(
        queue, "cannot go to \"" + queue.names.to + "\": there is a queue of this name already");
  const auto type = session.source().ask({"TYPE", queue.v1("meta")});
  if (!type) return type.error();
  if (type->text == "string")
    return wrong_phase(queue, "was migrated before: a tombstone stands at " + queue.v1("meta"));
  return {};
}

Result<void> journal_and_pause(MigrationSession& session, MovingQueue& queue) {
  if (queue.journal.phase == MigrationPhase::none) {
    if (auto fine = look(session, queue); !fine) return fine;
    auto& journal = queue.journal;
    journal.source = session.place();
    journal.from = queue.names.from;
    journal.began_ms = session.now_ms();
    if (auto noted = note_source(session.source(), queue.v1, journal); !noted) return noted;
    journal.phase = MigrationPhase::paused;
    if (auto noted = write_journal(session.target(), queue.names, journal); !noted) return noted;
    if (auto stepped = session.step(queue, "journal", 0); !stepped) return stepped;
  }
  if (auto paused = pause_source(session.source(), queue.v1); !paused) return paused;
  return session.step(queue, "pausing", 0);
}

Error running_still(MigrationSession& session, const MovingQueue& queue, std::int64_t running) {
  return wrong_phase(queue, "has " + std::to_string(running) + " active jobs after " +
                                std::to_string(session.options().drain_timeout.count()) +
                                " ms; v1's workers must end them first. Everything was put back");
}

// The first queue with jobs that run, once there is no more time; null: none runs.
Result<MovingQueue*> await_quiet(MigrationSession& session, std::int64_t& running) {
  const auto end = std::chrono::steady_clock::now() + session.options().drain_timeout;
  while (true) {
    MovingQueue* busy = nullptr;
    for (auto& queue : session.queues()) {
      if (is_past(queue, MigrationPhase::fenced)) continue;
      const auto active = count_active(session.source(), queue.v1);
      if (!active) return active.error();
      if (*active == 0) continue;
      busy = &queue;
      running = *active;
    }
    if (busy == nullptr || std::chrono::steady_clock::now() >= end) return busy;
    if (auto stepped = session.step(*busy, "waiting for active jobs", 0); !stepped)
      return stepped.error();
    std::this_thread::sleep_for(kLook);
  }
}

// All of them before the first tombstone: whoever makes a queue of such a name does it before v1
// has been shut out of anything, or not at all.
Result<void> open_targets(MigrationSession& session) {
  for (auto& queue : session.queues()) {
    if (is_past(queue, MigrationPhase::fenced)) continue;
    if (auto opened = open_target(session.target(), queue.names.to, queue.journal.began_ms);
        !opened)
      return opened;
    if (auto stepped = session.step(queue, "target", 0); !stepped) return stepped;
  }
  return {};
}

// False: the same call, said again, goes on.
bool is_for_good(const Error& error) {
  return error.code != ErrorCode::closed && error.code != ErrorCode::unavailable &&
         error.code != ErrorCode::timeout && error.code != ErrorCode::full;
}

bool had_active(const MigrationPlan& plan) {
  return std::any_of(plan.queues.begin(), plan.queues.end(),
                     [](const auto& counts) { return counts.active > 0; });
}

Result<void> shut_out_quiet(MigrationSession& session, const MigrationPlan& plan) {
  auto& queues = session.queues();
  for (auto& queue : queues)
    if (!is_past(queue, MigrationPhase::fenced))
      if (auto paused = journal_and_pause(session, queue); !paused) return paused;
  if (auto opened = open_targets(session); !opened) return opened;
  std::int64_t running = 0;
  const auto busy = await_quiet(session, running);
  if (!busy) return busy.error();
  if (*busy != nullptr) return running_still(session, **busy, running);
  // Jobs that ran then stand somewhere now, and nobody has read them yet.
  if (had_active(plan))
    if (const auto again = look_before_run(session); !again) return again.error();
  for (auto& queue : queues) {
    if (is_past(queue, MigrationPhase::fenced)) continue;
    const auto active = put_tombstones(session.source(), queue.v1, queue.names.to);
    if (!active) return active.error();
    if (*active > 0) return running_still(session, queue, *active);
    if (auto stepped = session.step(queue, "tombstones", 0); !stepped) return stepped;
  }
  for (auto& queue : queues) {
    const auto active = count_active(session.source(), queue.v1);
    if (!active) return active.error();
    if (*active > 0) return running_still(session, queue, *active);
  }
  for (auto& queue : queues)
    if (!is_past(queue, MigrationPhase::fenced))
      if (auto entered = session.enter(queue, MigrationPhase::fenced); !entered) return entered;
  return {};
}

}  // namespace

Result<void> shut_out(MigrationSession& session) {
  auto& queues = session.queues();
  if (std::all_of(queues.begin(), queues.end(),
                  [](const auto& queue) { return is_past(queue, MigrationPhase::fenced); }))
    return {};
  // What is wrong with one of them is found before another one is touched.
  const auto plan = look_before_run(session);
  auto shut = plan ? shut_out_quiet(session, *plan) : Result<void>(plan.error());
  if (shut || !is_for_good(shut.error())) return shut;
  if (auto back = put_back(session, /*all=*/false,
                           [&session](const MovingQueue& queue) { return session.stepper(queue); });
      !back)
    return back;
  return shut;
}

}  // namespace echomq::inline v2::migrate
