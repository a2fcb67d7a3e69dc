// SPDX-License-Identifier: MIT
// A job as one JSON object, the same in every verb.
#pragma once

#include "echomq/job.h"
#include "output.h"

namespace emq {

Json to_json(const echomq::JobInfo& job);
// All but its id and name.
Json options_json(const echomq::JobOptions& options);

}  // namespace emq
