// SPDX-License-Identifier: MIT
// Jobs that ended, by the minute (echomq/metrics.h).
#pragma once

#include <chrono>
#include <cstdint>

#include "echomq/job.h"
#include "echomq/metrics.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

Result<void> keep_metrics(QueueCore& queue, std::chrono::minutes time);
Result<Metrics> read_metrics(QueueCore& queue, JobState state, std::int64_t from_ms,
                             std::int64_t to_ms);

}  // namespace echomq::inline v2
