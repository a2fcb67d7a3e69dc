// SPDX-License-Identifier: MIT
// The log of a job: lines that its handlers (RawJob::log) or anybody else (Queue::log) wrote. The
// newest 1,000 are kept, with the job, and go when it goes.
//
// Thread-safety: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace echomq::inline v2 {

inline constexpr std::size_t kMaxLogLines = 1'000;                     // kept for each job
inline constexpr std::size_t kMaxLogLineBytes = std::size_t{8} << 10;  // of one line

struct LogOptions {
  // The first line wanted, counted from the oldest that is kept; negative: from the newest, -1.
  std::int64_t first = 0;
  std::size_t limit = 100;  // lines, 1..1,000
};

struct JobLogs {
  std::vector<std::string> lines;  // the oldest first
  std::int64_t count = 0;          // lines that are kept in all
};

}  // namespace echomq::inline v2
