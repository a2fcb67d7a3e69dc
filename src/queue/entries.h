// SPDX-License-Identifier: MIT
// The entries of a state, as its structure holds them: a bounded number from one place on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "echomq/job.h"
#include "echomq/page.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

struct SetEntry {
  std::string id;
  std::string score;  // in decimal, as the server wrote it
};

// The sorted set of a state; nothing for `waiting`, which is two lists.
const std::string* set_of(const QueueKeys& keys, JobState state);

// At most `limit` entries of a sorted set behind `from`; from the beginning when its id is empty.
Result<std::vector<SetEntry>> read_set(QueueCore& queue, const std::string& set, PageOrder order,
                                       const SetEntry& from, std::size_t limit);

struct LineEntry {
  std::string id;  // empty: a ghost
  std::int64_t index = 0;
};

// At most `limit` entries of `wait` or `crashed`, behind `from`. When its id is empty: from its
// index on, the last one if that is below 0.
Result<std::vector<LineEntry>> read_line(QueueCore& queue, const std::string& line, PageOrder order,
                                         const LineEntry& from, std::size_t limit);

}  // namespace echomq::inline v2
