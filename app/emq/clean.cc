// SPDX-License-Identifier: MIT
// emq clean, drain and obliterate: what is old, what waits, and everything. All in bounded calls,
// so that the server is never busy with them for long; an interruption leaves those removed so far.
#include <memory>
#include <optional>
#include <string>

#include "argument.h"
#include "bulk.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

struct CleanOptions : BulkWords {
  std::string state{};
  std::string older_than{};
};

Exit clean(const CleanOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  const auto state = job_state("--state", typed.state);
  if (!state) return session.fail(state.error());
  const auto age = duration("--older-than", typed.older_than);
  if (!age) return session.fail(age.error());
  return run_bulk_on(typed, "removed", session, [&](auto& queue, const auto& options) {
    return queue.clean(*state, *age, options);
  });
}

struct DrainedQueue : BulkWords {
  bool delayed = false;
};

Exit drain(const DrainedQueue& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  return run_bulk_on(typed, "removed", session, [&](auto& queue, const auto& options) {
    return queue.drain({.delayed = typed.delayed}, options);
  });
}

struct ObliteratedQueue {
  std::string queue;
  bool force = false;
  bool all = false;
  bool yes = false;
  bool dry_run = false;
};

Exit obliterate(const ObliteratedQueue& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  if (typed.yes == typed.dry_run)
    return session.fail(bad_value("--yes", typed.yes ? "given with --dry-run" : "not given",
                                  "one of --yes and --dry-run: nothing brings the jobs back"));
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  bool looked = true;
  const auto exit = run_bulk("removed", typed.dry_run, session, [&](const OnProgress& on_progress) {
    auto report = queue.obliterate({.force = typed.force,
                                    .all = typed.all,
                                    .dry_run = typed.dry_run,
                                    .on_progress = on_progress});
    looked = !report || typed.dry_run || report->strays;
    return report;
  });
  if (!looked && !session.json)
    put(stderr, "emq: nobody looked for keys that no state names: this user may not SCAN\n");
  return exit;
}

}  // namespace

void declare_clean(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "clean", "Remove the old jobs of a state",
      "  emq clean mail --state failed --older-than 30d --dry-run\n"
      "  emq clean mail --state completed --older-than 1h --limit 10000\n"
      "Completed and failed jobs are as old as their end, others as their add. A job that has left "
      "the state meanwhile stays.\n");
  auto options = std::make_shared<CleanOptions>();
  verb->add_option("--state", options->state, "The state, any but active")
      ->required()
      ->type_name("STATE");
  verb->add_option("--older-than", options->older_than, "The age, with ms, s, m, h or d")
      ->required()
      ->type_name("AGE");
  options->declare(*verb, session);
  verb->callback([options, &session] {
    session.run = [options, &session] { return clean(*options, session); };
  });
}

void declare_drain(CLI::App& app, Session& session) {
  auto* verb = session.declare(app, "drain", "Remove the jobs that wait for a worker",
                               "  emq drain mail --dry-run\n"
                               "  emq drain mail --delayed\n"
                               "Jobs that run go on, and finished ones stay.\n");
  auto options = std::make_shared<DrainedQueue>();
  verb->add_flag("--delayed", options->delayed, "Those that wait for a time too");
  options->declare(*verb, session);
  verb->callback([options, &session] {
    session.run = [options, &session] { return drain(*options, session); };
  });
}

void declare_obliterate(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "obliterate", "Remove all jobs of a queue, finished ones too, and all else of it",
      "  emq obliterate mail --dry-run\n"
      "  emq obliterate mail --yes\n"
      "  emq obliterate mail --yes --all --force\n"
      "The queue is paused first. After an interruption it stays so, and the same command goes on. "
      "At the end an empty queue is left, or with --all nothing. Jobs that stand in no state, "
      "because somebody deleted keys by hand, go too, where the server lets the user SCAN.\n");
  auto options = std::make_shared<ObliteratedQueue>();
  verb->add_option("QUEUE", options->queue, "The queue")->required();
  verb->add_flag("--yes", options->yes, "Do it; nothing brings the jobs back");
  verb->add_flag("--dry-run", options->dry_run, "Change nothing, tell how many jobs");
  verb->add_flag("--all", options->all, "The queue itself too, not only what is in it");
  verb->add_flag("--force", options->force,
                 "Though jobs run: they are removed under their workers");
  session.declare_server(*verb);
  session.declare_json(
      *verb,
      "Print {\"done\":N,\"skipped\":N,\"dry_run\":BOOL,\"strays\":N}: keys beside the "
      "jobs' that nothing named; absent where nobody looked");
  verb->callback([options, &session] {
    session.run = [options, &session] { return obliterate(*options, session); };
  });
}

}  // namespace emq
