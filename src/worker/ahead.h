// SPDX-License-Identifier: MIT
// Ahead: how many jobs a worker claims beyond those that it can run at once. Where runs are shorter
// than the round trips that bring the next jobs, slots that are filled only once they are free stay
// empty most of the time, so a worker holds as many more as it is going to begin within a
// millisecond. Where runs take longer there is nothing to gain, and a job that is held could run
// elsewhere: then none are, and none with a concurrency of 1, which works one after the other.
// Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace echomq::inline v2 {

class Ahead {
 public:
  // A job that was claimed ahead and has not begun after this time goes back: runs have become
  // longer than they were.
  static constexpr std::chrono::milliseconds kPatience{10};

  // One run is over.
  void ran(std::chrono::nanoseconds took) {
    mean_ += (std::min(took, kLong) - mean_) / kRunsThatCount;
  }
  // A job had to wait. It takes some short runs until any is claimed ahead again.
  void kept_waiting() { mean_ = kLong; }
  // Never more than three for each that runs: whatever else happens to a worker happens to those
  // too.
  [[nodiscard]] static unsigned most(unsigned concurrency) {
    return concurrency == 1 ? 0 : 3 * concurrency;
  }
  [[nodiscard]] unsigned jobs(unsigned concurrency) const {
    const auto in_time = kHorizon * concurrency / std::max(mean_, kShort);
    return static_cast<unsigned>(
        std::min<std::chrono::nanoseconds::rep>(in_time, most(concurrency)));
  }

 private:
  static constexpr std::chrono::nanoseconds kHorizon{1'000'000};
  static constexpr std::chrono::nanoseconds kShort{1'000};
  static constexpr std::chrono::nanoseconds kLong{1'000'000'000};
  static constexpr int kRunsThatCount = 64;

  std::chrono::nanoseconds mean_{kLong};  // of how long runs take, the last ones counting most
};

}  // namespace echomq::inline v2
