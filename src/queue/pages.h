// SPDX-License-Identifier: MIT
// Pages: the jobs of a state, a bounded number at a time (echomq/page.h). First the entries of the
// state, by a script; then, since their keys are known now, what their hashes hold.
#pragma once

#include "echomq/page.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

Result<JobPage> read_page(QueueCore& queue, JobState state, const PageOptions& options);

}  // namespace echomq::inline v2
