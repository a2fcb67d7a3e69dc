// SPDX-License-Identifier: MIT
// Going on through `wait` or `crashed` behind what was passed, while others claim, add and remove.
// What stays in the line is met, whatever leaves it or comes back; what was passed may be met again
// where nothing near it has stayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "echomq/page.h"
#include "echomq/result.h"
#include "queue/entries.h"
#include "queue/line_place.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

struct LineJobs {
  std::vector<LineEntry> jobs;  // ghosts are left out
  bool more = false;            // the line goes on behind them
  // So many of those that were passed, at most, are met again.
  std::int64_t again = 0;
  std::int64_t read_ms = 0;  // when that was, on the clock of the protocol
};

// At most `limit` jobs, at least one of them if there is any. Leaves in `place` only what the
// answer begins behind and what was passed before that; nothing when it begins anew.
Result<LineJobs> read_behind(QueueCore& queue, const std::string& line, PageOrder order,
                             LinePlace& place, std::size_t limit);

// Looks at the jobs of a place that were not looked at yet since the line was read, which must be
// done before it is gone on from.
Result<void> note_marks(QueueCore& queue, LinePlace& place, std::int64_t read_ms);

}  // namespace echomq::inline v2
