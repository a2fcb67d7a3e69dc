// SPDX-License-Identifier: MIT
// emq retry, promote and remove: the jobs that are named, or all of a state. All of a state go in
// bounded calls, so that the server is never busy with them for long; an interruption leaves those
// done so far.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "argument.h"
#include "bulk.h"
#include "echomq/keyspace.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {
namespace {

using echomq::BulkOptions;
using echomq::BulkReport;
using echomq::JobResults;
using echomq::JobState;
using echomq::Result;

struct MoveOptions {
  std::string queue;
  std::vector<std::string> ids;
  bool all = false;
  bool dry_run = false;
  std::string state;  // of --all
  std::optional<std::string> limit;
  bool keep_attempts = false;  // retry
};

// What one verb does, by ids and as a whole.
struct Move {
  std::string done;  // "retried"
  std::function<Result<JobResults>(echomq::Queue<>&, const std::vector<std::string>&,
                                   const MoveOptions&)>
      some;
  std::function<Result<BulkReport>(echomq::Queue<>&, JobState, const BulkOptions&,
                                   const MoveOptions&)>
      all;
};

Exit move_all(echomq::Queue<>& queue, const Move& move, JobState state, std::int64_t limit,
              const MoveOptions& typed, const Session& session) {
  return run_bulk(move.done, typed.dry_run, session, [&](const OnProgress& on_progress) {
    return move.all(queue, state,
                    {.limit = limit, .dry_run = typed.dry_run, .on_progress = on_progress}, typed);
  });
}

Exit run_move(const Move& move, const MoveOptions& typed, const Session& session) {
  if (const auto name = echomq::queue_name(typed.queue); !name) return session.fail(name.error());
  if (typed.all != typed.ids.empty())
    return session.fail(bad_value("ID", typed.all ? typed.ids.front() : "",
                                  "the ids of jobs, or --all, and not both"));
  if (!typed.all && (typed.dry_run || typed.limit))
    return session.fail(
        bad_value(typed.dry_run ? "--dry-run" : "--limit", "given", "to stand with --all"));
  const auto ids = plain_ids(typed.ids);
  if (!ids) return session.fail(ids.error());
  JobState state{};
  std::int64_t limit = 0;
  if (typed.all) {
    const auto parsed = job_state("--state", typed.state);
    if (!parsed) return session.fail(parsed.error());
    state = *parsed;
    const auto most = bulk_limit(typed.limit);
    if (!most) return session.fail(most.error());
    limit = *most;
  }
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  if (typed.all) return move_all(queue, move, state, limit, typed, session);
  const auto results = move.some(queue, *ids, typed);
  if (!results) return session.fail(results.error());
  return print_results(*ids, *results, session);
}

void declare_move(CLI::App* verb, const std::shared_ptr<MoveOptions>& options, Move move,
                  Session& session) {
  verb->add_option("QUEUE", options->queue, "The queue")->required();
  verb->add_option("ID", options->ids,
                   "Jobs: decimal, branded (BAT and 11 characters), or custom ids");
  verb->add_flag("--all", options->all, "All jobs of the state instead of named ones");
  verb->add_option("--limit", options->limit, "With --all: at most so many")->type_name("N");
  verb->add_flag("--dry-run", options->dry_run, "With --all: change nothing, tell how many");
  session.declare_server(*verb);
  session.declare_json(*verb, fmt::format("Print {}, with --all {}", kResultsJson, kBulkJson));
  verb->callback([options, move = std::move(move), &session] {
    session.run = [options, move, &session] { return run_move(move, *options, session); };
  });
}

}  // namespace

void declare_retry(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "retry", "Make failed or completed jobs ready once more",
      "  emq retry mail 274557032793636864 BAT0KHTOWnGLuC\n"
      "  emq retry mail --all --dry-run\n"
      "  emq retry mail --all --state completed --limit 1000\n"
      "Jobs keep their data, options and priority, and go behind those that are ready. With --all "
      "the oldest go first, and jobs that end meanwhile are left out.\n");
  auto options = std::make_shared<MoveOptions>();
  options->state = "failed";
  verb->add_option("--state", options->state, "With --all: failed or completed")
      ->type_name("STATE")
      ->capture_default_str();
  verb->add_flag("--keep-attempts", options->keep_attempts,
                 "Count the attempts made so far; otherwise a job has all of its attempts again");
  declare_move(verb, options,
               {.done = "retried",
                .some =
                    [](echomq::Queue<>& queue, const std::vector<std::string>& ids,
                       const MoveOptions& typed) {
                      return queue.retry(ids, {.reset_attempts = !typed.keep_attempts});
                    },
                .all =
                    [](echomq::Queue<>& queue, JobState state, const BulkOptions& how,
                       const MoveOptions& typed) {
                      return queue.retry_all(state, {.reset_attempts = !typed.keep_attempts}, how);
                    }},
               session);
}

void declare_promote(CLI::App& app, Session& session) {
  auto* verb = session.declare(app, "promote", "Make delayed jobs ready now",
                               "  emq promote mail 274557032793636864\n"
                               "  emq promote mail --all\n"
                               "Jobs keep their priority, and go behind those that are ready.\n");
  auto options = std::make_shared<MoveOptions>();
  options->state = "delayed";
  declare_move(verb, options,
               {.done = "promoted",
                .some = [](echomq::Queue<>& queue, const std::vector<std::string>& ids,
                           const MoveOptions&) { return queue.promote(ids); },
                .all = [](echomq::Queue<>& queue, JobState, const BulkOptions& how,
                          const MoveOptions&) { return queue.promote_all(how); }},
               session);
}

void declare_remove(CLI::App& app, Session& session) {
  auto* verb =
      session.declare(app, "remove", "Remove jobs for good, with their logs; not running ones",
                      "  emq remove mail 274557032793636864\n"
                      "  emq remove mail --all --state completed --dry-run\n"
                      "A job that runs is refused, and left out of --all.\n");
  auto options = std::make_shared<MoveOptions>();
  verb->add_option("--state", options->state, "With --all: the state, any but active")
      ->type_name("STATE");
  declare_move(verb, options,
               {.done = "removed",
                .some = [](echomq::Queue<>& queue, const std::vector<std::string>& ids,
                           const MoveOptions&) { return queue.remove(ids); },
                .all = [](echomq::Queue<>& queue, JobState state, const BulkOptions& how,
                          const MoveOptions&) { return queue.remove_all(state, how); }},
               session);
}

}  // namespace emq
