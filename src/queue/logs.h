// SPDX-License-Identifier: MIT
// The logs of jobs (echomq/logs.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "echomq/logs.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

// With the token of a run: only while its lease is its own (stale). Blocks; not from the loop.
Result<void> append_log(QueueCore& queue, std::string_view id, std::optional<std::uint64_t> token,
                        const std::string& line);

Result<JobLogs> read_logs(QueueCore& queue, std::string_view id, const LogOptions& options);

}  // namespace echomq::inline v2
