// SPDX-License-Identifier: MIT
// Obliterating a queue (Queue::obliterate): its jobs state by state, what waits to be deleted, and
// at last its structures, in bounded calls of which any may be the last one.
#pragma once

#include "echomq/bulk.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

Result<BulkReport> obliterate(QueueCore& queue, const ObliterateOptions& options);

}  // namespace echomq::inline v2
