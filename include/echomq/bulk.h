// SPDX-License-Identifier: MIT
// Operations on many jobs: on a list of ids, answered one by one, or on all jobs of a state.
//
// All of them go to the server in calls of at most 256 jobs, so that none blocks it for long. Other
// clients work on between two calls: a job that has moved meanwhile is left alone.
//
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "echomq/result.h"

namespace echomq::inline v2 {

// One result for each id, in order. Errors: not_found (no such job), wrong_state (it is not in a
// state that allows this; the field "value" is the id).
using JobResults = std::vector<Result<void>>;

// How far an operation on all jobs of a state has come.
struct BulkProgress {
  std::int64_t done = 0;
  std::int64_t skipped = 0;  // had moved, were running or were gone when their turn came
  // How many there were to begin with, or BulkOptions::limit. Where only a look at a job tells
  // whether it is one of them, it falls with each that is not.
  std::int64_t total = 0;
};

struct BulkOptions {
  std::int64_t limit = 0;  // at most so many jobs; 0: all that are there when it begins
  bool dry_run = false;    // change nothing, tell how many it would be
  // Called after each call to the server, on the caller's thread; answers whether to go on.
  std::function<bool(const BulkProgress&)> on_progress{};
};

struct BulkReport {
  std::int64_t done = 0;  // with dry_run: would be
  std::int64_t skipped = 0;
  bool stopped = false;  // by on_progress
  // Of an obliteration: keys under the queue's prefix that belonged to no job and that nothing in
  // the queue named; they were deleted. Jobs that stood in no state are among those that are done.
  // Absent: nobody looked, because the server's ACL denies SCAN (AclOptions::scan).
  std::optional<std::int64_t> strays{};
};

// Which jobs a drain removes beside those that are ready.
struct DrainOptions {
  bool delayed = false;  // those that wait for a time too
};

// What becomes of a queue that is obliterated.
struct ObliterateOptions {
  // Though jobs run: they are removed under their workers, and what those tell of them later is
  // refused (gone). Otherwise one that runs refuses the whole (wrong_state).
  bool force = false;
  // The queue itself goes too, and its entry in the list of queues. A worker or a producer that is
  // still there makes it again.
  bool all = false;
  bool dry_run = false;  // change nothing, tell how many jobs it would be
  // As BulkOptions::on_progress. Stopped, the queue stays paused, and another call goes on.
  std::function<bool(const BulkProgress&)> on_progress{};
};

// How finished jobs are made ready once more.
struct RetryOptions {
  // Give the job all of its attempts again. Otherwise those made count, and a job that used up all
  // of them gets this one.
  bool reset_attempts = true;
};

}  // namespace echomq::inline v2
