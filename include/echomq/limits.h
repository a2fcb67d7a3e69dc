// SPDX-License-Identifier: MIT
// The limits of a queue: how many of its jobs may run at the same time, and how many may start in a
// time, over all its workers; and how many may wait. They stand in the queue, so every worker and
// every producer keeps to them whatever its own options say, and a change takes effect with the
// next claim or add.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "echomq/export.h"

namespace echomq::inline v2 {

inline constexpr unsigned kMaxQueueConcurrency = 1'000'000;
inline constexpr unsigned kMaxRate = 1'000'000;  // jobs in a duration
inline constexpr std::int64_t kMaxQueueLength = 1'000'000'000;
inline constexpr std::chrono::milliseconds kMaxLimitTime = std::chrono::hours(24 * 30);

// At most `max` jobs start in `duration`. A job counts when a worker takes it, whatever becomes of
// it: a retry counts again, and so does a job that was given back unworked.
//   window: the first job opens a window of that length; once `max` have started in it, the next
//           one waits for its end. Around the end of a window up to twice `max` may start shortly
//           after each other.
//   smooth: evenly spaced, duration / max apart. After an idle time up to `burst` start at once;
//           in any span of the length d at most burst + d * max / duration do. With a burst of 1
//           what a worker is late is lost; a few more let it make up for that.
struct RateLimit {
  unsigned max = 1;                           // 1..1,000,000
  std::chrono::milliseconds duration{1'000};  // 1 ms..30 days
  unsigned burst = 0;                         // 0: window; 1..max: smooth

  static RateLimit window(unsigned max, std::chrono::milliseconds duration) {
    return {max, duration, 0};
  }
  static RateLimit smooth(unsigned max, std::chrono::milliseconds duration, unsigned burst = 1) {
    return {max, duration, burst};
  }
  friend bool operator==(const RateLimit&, const RateLimit&) = default;
};

// What keeps the workers of a queue from its jobs.
enum class QueueGate {
  open,
  paused,       // Queue::pause
  held,         // Queue::rate_limit, or a handler that asked for it
  concurrency,  // as many jobs run as may
  rate,         // as many jobs have started as may
};

// "open", "paused"...
ECHOMQ_API std::string_view name(QueueGate gate) noexcept;

// The limits of a queue, and which gate is closed, at one moment. Times are milliseconds since 1970
// by the server's clock.
struct Limits {
  std::optional<unsigned> concurrency{};
  std::optional<RateLimit> rate{};
  std::optional<std::int64_t> max_length{};
  std::int64_t held_until_ms = 0;    // 0: the queue is not held
  QueueGate gate = QueueGate::open;  // the first one that is closed, in their order
  std::int64_t opens_ms = 0;         // held, rate: when; 0: no time will open it
};

}  // namespace echomq::inline v2
