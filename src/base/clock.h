// SPDX-License-Identifier: MIT
// The local clock that everything is measured by: monotonic, and counting while the machine is
// suspended (CLOCK_BOOTTIME), because leases run on while we sleep.
#pragma once

#include <ctime>

#include <chrono>
#include <cstdint>

namespace echomq::inline v2 {

inline std::int64_t monotonic_us() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

inline std::chrono::milliseconds monotonic_ms() noexcept {
  return std::chrono::milliseconds(monotonic_us() / 1'000);
}

}  // namespace echomq::inline v2
