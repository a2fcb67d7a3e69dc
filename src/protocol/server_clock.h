// SPDX-License-Identifier: MIT
// What time is it on the server? Scripts take the time as an argument, so every process must stamp
// the server's time, not its own: with clocks an hour apart, leases would otherwise be stolen or
// never end.
//
// A sample is one TIME command: sent at a, answered at b (our monotonic clock), with the server's
// time s read somewhere between. So the difference of the clocks lies in [s - b, s - a], and its
// middle is wrong by at most half the round trip. The estimate is the middle of the shortest round
// trip among the last 8 samples that are at most a minute older than the newest: a slow answer
// never spoils a good one, and two quartz clocks drift apart by only a few milliseconds in that
// time.
//
// When the server's clock is set, a new sample's interval does not meet the older ones any more:
// those are then wrong about the present, and are dropped at once. A step too small to be told from
// the round trips takes effect when the older samples leave the window.
//
// One estimator belongs to one connection and one run of the server: reset() it for the next. The
// monotonic clock must count the time that the machine was suspended.
// Pure: both clocks are arguments. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace echomq::inline v2 {

class ServerClock {
 public:
  static constexpr std::size_t kWindow = 8;
  static constexpr std::int64_t kMaxAgeUs = 60'000'000;

  // Microseconds: our monotonic clock when TIME was sent and when its answer came, and the time
  // that the server answered, since 1970. An answer before its question is ignored.
  void sample(std::int64_t sent_mono_us, std::int64_t received_mono_us,
              std::int64_t server_unix_us);

  // Whether there has been a sample; now_ms is meaningless before.
  [[nodiscard]] bool ready() const noexcept { return !samples_.empty(); }

  // Milliseconds since 1970 on the server, at this moment of our monotonic clock.
  [[nodiscard]] std::int64_t now_ms(std::int64_t mono_us) const noexcept;

  void reset() noexcept;

 private:
  // The server's time less ours lies in [low_us, high_us].
  struct Sample {
    std::int64_t received_us;
    std::int64_t low_us;
    std::int64_t high_us;
  };

  std::vector<Sample> samples_;  // oldest first
  std::int64_t offset_us_ = 0;
};

}  // namespace echomq::inline v2
