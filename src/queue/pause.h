// SPDX-License-Identifier: MIT
// Pausing a queue and resuming it. From any thread but the loop's.
#pragma once

#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

// Whether that changed something.
Result<bool> set_paused(QueueCore& queue, bool paused);

}  // namespace echomq::inline v2
