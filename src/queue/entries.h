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
  std::string id;
  std::int64_t index = 0;
};

// Where a look at `wait` or `crashed` begins: behind the first of these ids that stands around the
// index; without an id at the index itself, the last one if that is below 0.
struct LineStart {
  std::int64_t index = 0;
  std::vector<std::string> behind;
};

struct LineRead {
  std::string behind;           // the id that was found; empty with ids: none was
  std::vector<LineEntry> jobs;  // ghosts are left out
  std::int64_t next = 0;        // the index that comes next in that order
  bool more = false;            // something stands there
};

// At most `limit` jobs of `wait` or `crashed`.
Result<LineRead> read_line(QueueCore& queue, const std::string& line, PageOrder order,
                           const LineStart& from, std::size_t limit);

}  // namespace echomq::inline v2
