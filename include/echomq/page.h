// SPDX-License-Identifier: MIT
// Pages of jobs: what a queue holds, state by state, a bounded number at a time.
//
//   echomq::PageOptions how{.limit = 100};
//   do {
//     auto page = queue.jobs(echomq::JobState::failed, how).value();
//     for (const auto& job : page.jobs) show(job);
//     how.cursor = page.next;
//   } while (!how.cursor.empty());
//
// Thread-safety: plain values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "echomq/job.h"

namespace echomq::inline v2 {

// The most jobs of a page.
inline constexpr std::size_t kMaxPageJobs = 256;

// Ascending, the next one first: waiting and prioritized jobs as they will be taken (those that
// have been through a crash before the others), delayed ones by their time, active ones by the end
// of their lease, finished ones by the time of their end.
enum class PageOrder { ascending, descending };

struct PageOptions {
  PageOrder order = PageOrder::ascending;
  std::size_t limit = 50;  // jobs, 1..256
  // JobPage::next of the page before, of the same queue, state and order; empty: from the start.
  std::string cursor{};
  // With data, progress and result too, which may be large; without, those members are empty.
  bool data = false;
};

// Page by page no job that stays is left out, in either order, whatever others take, add or remove
// meanwhile. A waiting one may be shown twice (see Queue::jobs).
struct JobPage {
  std::vector<JobInfo> jobs;  // may be fewer than the limit although more pages follow
  std::string next;           // opaque; empty: this was the last page
};

}  // namespace echomq::inline v2
