// SPDX-License-Identifier: MIT
// Parents that wait for what does not come (Flows::stuck). From any thread but the loop's.
#pragma once

#include "echomq/flow.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2::flow {

Result<StuckPage> find_stuck(QueueCore& queue, const PageOptions& options);

}  // namespace echomq::inline v2::flow
