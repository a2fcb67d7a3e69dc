// SPDX-License-Identifier: MIT
// Where ids stand in `wait` or `crashed`. A list can only be looked through, so this is done from
// outside, in bounded reads; the script that acts looks around the place that it is told.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

// The index of each of the ids that were found, in the line in which it stands. One that was not
// found may have moved meanwhile.
Result<std::unordered_map<std::string, std::int64_t>> locate(QueueCore& queue,
                                                             const std::vector<std::string>& ids);

}  // namespace echomq::inline v2
