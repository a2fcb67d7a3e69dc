// SPDX-License-Identifier: MIT
// Who holds the jobs of a queue (echomq/worker_info.h): the leases in `active` name node ids, and
// the deployment's list of nodes names processes.
#pragma once

#include <vector>

#include "echomq/result.h"
#include "echomq/worker_info.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

Result<std::vector<WorkerInfo>> read_holders(QueueCore& queue);

}  // namespace echomq::inline v2
