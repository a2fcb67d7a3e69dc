// SPDX-License-Identifier: MIT
// How many jobs of a queue ended in each minute (Queue::metrics).
//
//   queue.keep_metrics(std::chrono::hours(24)).value();
//   ...
//   const auto now = client.server_time_ms();
//   const auto day = queue.metrics(echomq::JobState::failed, now - 86'400'000, now).value();
//   for (const auto failed : day.counts) draw(failed);
//
// Off until somebody asks for it: counting costs the server a call for each batch of jobs that
// ends, which is little beside a full batch and a few percent of a single job's end.
//
// Thread-safety: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace echomq::inline v2 {

// The most minutes of one answer: two weeks.
inline constexpr std::size_t kMaxMetricsMinutes = std::size_t{14} * 24 * 60;
// The longest time for which they are kept: a year.
inline constexpr std::chrono::minutes kMaxMetricsKept = std::chrono::hours(24 * 365);

struct Metrics {
  std::chrono::minutes kept{0};        // for how long they are kept; 0: they are not counted
  std::int64_t first_ms = 0;           // the begin of the first minute
  std::vector<std::int64_t> counts{};  // one for each minute, 0 where no job ended
};

}  // namespace echomq::inline v2
