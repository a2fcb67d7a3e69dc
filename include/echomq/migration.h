// SPDX-License-Identifier: MIT
// Migration: moves queues of the v1 wire (BullMQ 5.x) into queues of this one, once and for good.
//
//   echomq::Migration migration{mq, {.queues = {{"orders", "orders"}, {"mail", "mail"}}}};
//   auto plan = migration.plan().value();
//   for (const auto& finding : plan.findings) std::cout << finding.text << "\n";
//   if (plan.blocked()) return 1;
//   migration.run().value();
//   if (!migration.verify().value().differences.empty()) return 1;  // abort() puts all back
//   migration.finish().value();                                     // from here on there is no way
//   back
//
// The unit is a set of queues, because flows refer from one to the other; all of them go through
// the phases together. A journal in `{emq}:migration:<queue>` on the target says how far each is. A
// process may die at any moment: the same call, said again, goes on. docs/runbook-migration.md
// leads through it.
//
// While it runs, neither side works on these queues: v1 clients meet strings where they expect
// other types (tombstones), and every v2 operation answers ErrorCode::fence, because the version of
// the target is "echomq:2.0.0:migrating" until finish().
//
// Thread-safety: one call at a time, from any thread but the I/O thread; the members block. Two
// processes that migrate the same queues at the same time get in each other's way: the second one
// answers wrong_state.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/client.h"
#include "echomq/connection.h"
#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// How far a queue has come. The values are in the journal by their names.
enum class MigrationPhase {
  none,       // it is not being migrated
  paused,     // journalled, and its v1 workers get nothing any more
  fenced,     // its tombstones stand: v1 is shut out, and nothing changes there any more
  copied,     // all of it is in the target
  verified,   // source and target were compared since, and are alike
  finishing,  // the target is open; what is left of the source is being deleted
  finished,
  aborting,  // the target is being taken away; then v1 gets back what it had
};

// "none", "paused"...
ECHOMQ_API std::string_view name(MigrationPhase phase) noexcept;

struct MigratedQueue {
  std::string from{};  // as v1 names it, with braces where it has them
  std::string to{};    // as queue_name() has it
};

struct MigrationProgress {
  std::string queue{};  // of the target
  std::string step{};   // "looking", "wait", "completed", "schedulers", "deleting"...
  std::int64_t done = 0;
  std::int64_t total = 0;  // jobs, of all queues
};

struct MigrationOptions {
  std::vector<MigratedQueue> queues{};
  std::string prefix = "bull";
  // The v1 server where it is another one than the target's: a URL as for connect(), but for
  // embedded: ones. Empty: the same server.
  std::string source_url{};
  TlsOptions source_tls{};
  // For how long plan() looks at least whether somebody adds jobs. 0 or more.
  std::chrono::milliseconds watch{1'000};
  // How long v1's workers have to end what they run. 0 or more.
  std::chrono::milliseconds drain_timeout{30'000};
  // So many jobs a second at most, so that the servers answer others meanwhile; 0: as fast as it
  // goes.
  std::int64_t rate = 0;
  // Called after each chunk, on the caller's thread. False stops: the call answers
  // ErrorCode::closed, and the same call goes on later.
  std::function<bool(const MigrationProgress&)> on_progress{};
};

// One thing that plan() found, or that run() and verify() have to tell.
struct MigrationFinding {
  bool blocks = false;  // nothing may be moved while it is so
  std::string queue{};  // of the source
  std::string job{};    // empty: it concerns the queue
  std::string text{};   // one sentence
};

// What is in a v1 queue.
struct MigrationCounts {
  std::string queue{};    // of the source
  std::string version{};  // of the client that wrote it last; empty: it says none
  bool paused = false;
  std::int64_t waiting = 0;  // paused ones too
  std::int64_t prioritized = 0;
  std::int64_t delayed = 0;
  std::int64_t active = 0;
  std::int64_t waiting_children = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t schedulers = 0;

  // That can be moved.
  [[nodiscard]] std::int64_t jobs() const {
    return waiting + prioritized + delayed + waiting_children + completed + failed;
  }
};

struct MigrationPlan {
  std::vector<MigrationCounts> queues{};
  // What blocks comes first. At most 1,000 are kept, with a last one that says how many there are
  // more.
  std::vector<MigrationFinding> findings{};
  std::int64_t blocking = 0;  // findings that block, those that are not kept too
  std::int64_t bytes = 0;     // of the jobs, as they were read
  std::chrono::milliseconds estimated_time{0};
  std::int64_t estimated_memory = 0;  // bytes, on the target's server

  [[nodiscard]] bool blocked() const { return blocking > 0; }
};

// What run(), finish() and abort() did.
struct MigrationReport {
  std::int64_t jobs = 0;                     // moved, or deleted, by this call
  std::int64_t renamed = 0;                  // of them with another id than before
  std::vector<MigrationFinding> findings{};  // kept as those of a plan
  // Jobs that were not understood and not moved, by this call or one before.
  std::int64_t left = 0;
  std::chrono::milliseconds took{0};
  std::chrono::milliseconds longest_call{0};  // that the source's server took to answer
};

struct MigrationDifference {
  std::string queue{};  // of the target
  std::string job{};    // as the source calls it; empty: it concerns the queue
  std::string text{};
};

struct MigrationComparison {
  std::int64_t jobs = 0;  // compared
  // At most 1,000 are kept; `found` counts all.
  std::vector<MigrationDifference> differences{};
  std::int64_t found = 0;
};

struct MigrationStatus {
  MigratedQueue queue{};
  MigrationPhase phase = MigrationPhase::none;
  std::int64_t began_ms = 0;
  std::string source{};  // the server and prefix, as the journal has them
  std::string cursor{};  // how far the copy has come: a list and a place in it
};

class ECHOMQ_API Migration {
 public:
  // `target` is where the queues go. Options are looked at by the first call.
  Migration(Client target, MigrationOptions options);

  // Reads only: what is there, what blocks, and what it will cost. Reads each job once.
  // Errors (of all members): invalid_argument (options), invalid_name (a queue), and those of the
  // connections.
  Result<MigrationPlan> plan();
  // Shuts v1 out and copies, or goes on with it. Once it is done it changes nothing any more.
  // Looks as plan() does before it writes anything, and refuses what blocks, but for jobs that run
  // and producers that add: it waits for those and shuts these out.
  // Errors: wrong_state (something blocks: the first of it and how much more; jobs are active still
  // after drain_timeout; one that is being aborted or is finished), fence (somebody has made a
  // queue of a target's name meanwhile; everything was put back), full (the target's server),
  // closed (on_progress said so).
  Result<MigrationReport> run();
  Result<std::vector<MigrationStatus>> status();
  // Compares each job and setting of the source with the target. Errors: wrong_state (not copied).
  Result<MigrationComparison> verify();
  // Takes the target away and gives v1 back what it had. Works until finish(). Errors: wrong_state.
  Result<MigrationReport> abort();
  // Opens the target, then deletes what v1 had; the tombstones stay. Compares first where verify()
  // has not or found differences, and refuses where there are any. Errors: wrong_state.
  Result<MigrationReport> finish();

 private:
  Client target_;
  MigrationOptions options_;
};

}  // namespace echomq::inline v2
