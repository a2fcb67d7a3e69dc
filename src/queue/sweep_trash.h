// SPDX-License-Identifier: MIT
// What retention took out of a finished set and nobody has deleted yet (protocol.md, section 6),
// for whoever does not want to wait until a worker sweeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echomq/bulk.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

// Deletes the keys of jobs in trash, kEvictedPerCall of them at most; answers how many those were:
// what has left trash meanwhile is none.
Result<std::int64_t> evict_from_trash(QueueCore& queue, const std::vector<std::string>& ids);

Result<BulkReport> sweep_trash(QueueCore& queue, const BulkOptions& options);

}  // namespace echomq::inline v2
