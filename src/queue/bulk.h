// SPDX-License-Identifier: MIT
// The same for all jobs of a state (echomq/bulk.h): reads a bounded number of ids, moves those, and
// goes on behind them.
#pragma once

#include <chrono>

#include "echomq/bulk.h"
#include "echomq/job.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

// Errors: invalid_argument.
Result<void> check_limit(const BulkOptions& options);

Result<BulkReport> promote_all(QueueCore& queue, const BulkOptions& options);
Result<BulkReport> retry_all(QueueCore& queue, JobState state, const RetryOptions& how,
                             const BulkOptions& options);
Result<BulkReport> remove_all(QueueCore& queue, JobState state, const BulkOptions& options);
Result<BulkReport> clean(QueueCore& queue, JobState state, std::chrono::milliseconds older_than,
                         const BulkOptions& options);
Result<BulkReport> drain(QueueCore& queue, const DrainOptions& what, const BulkOptions& options);
// Running jobs too. `add_kept`: see RemoveFrom.
Result<BulkReport> remove_any(QueueCore& queue, JobState state, const BulkOptions& options,
                              bool add_kept = true);

std::int64_t counted(const Counts& counts, JobState state);

}  // namespace echomq::inline v2
