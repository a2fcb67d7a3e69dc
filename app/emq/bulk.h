// SPDX-License-Identifier: MIT
// What the verbs share that do the same to many jobs (echomq/bulk.h): the bar on a terminal, and
// the report at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "echomq/bulk.h"
#include "echomq/queue.h"
#include "session.h"

namespace emq {

// What run_bulk() prints with --json, for the help.
inline constexpr const char* kBulkJson = "{\"done\":N,\"skipped\":N,\"dry_run\":BOOL}";

using OnProgress = std::function<bool(const echomq::BulkProgress&)>;

// Runs the operation with a bar that follows it; then tells how many jobs were `done` ("removed"),
// or with dry_run would be.
Exit run_bulk(
    const std::string& done, bool dry_run, const Session& session,
    const std::function<echomq::Result<echomq::BulkReport>(const OnProgress&)>& operation);

// What clean, drain and sweep are told alike.
struct BulkWords {
  std::string queue{};
  std::optional<std::string> limit{};
  bool dry_run = false;

  // QUEUE, --limit and --dry-run, and what stands at the end of each verb.
  void declare(CLI::App& verb, Session& session);
};

// run_bulk() on the queue, as far as --limit allows.
Exit run_bulk_on(const BulkWords& typed, const std::string& done, const Session& session,
                 const std::function<echomq::Result<echomq::BulkReport>(
                     echomq::Queue<>&, const echomq::BulkOptions&)>& operation);

// What print_results() prints with --json, for the help.
inline constexpr const char* kResultsJson = "{\"done\":[ID..],\"refused\":[ID..]}";

// Tells of each job by itself: those that are done on stdout, why not on stderr. The exit code is
// that of the first that was refused.
Exit print_results(const std::vector<std::string>& ids, const echomq::JobResults& results,
                   const Session& session);

// The jobs that were typed, as plain_id() reads them.
echomq::Result<std::vector<std::string>> plain_ids(const std::vector<std::string>& typed);

// The value of --limit; 0, for all, where it is not given.
echomq::Result<std::int64_t> bulk_limit(const std::optional<std::string>& text);

}  // namespace emq
