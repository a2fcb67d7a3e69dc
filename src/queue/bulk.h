// SPDX-License-Identifier: MIT
// The same for all jobs of a state (echomq/bulk.h): reads a bounded number of ids, moves those, and
// goes on behind them.
#pragma once

#include "echomq/bulk.h"
#include "echomq/job.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

Result<BulkReport> promote_all(QueueCore& queue, const BulkOptions& options);
Result<BulkReport> retry_all(QueueCore& queue, JobState state, const RetryOptions& how,
                             const BulkOptions& options);
Result<BulkReport> remove_all(QueueCore& queue, JobState state, const BulkOptions& options);

}  // namespace echomq::inline v2
