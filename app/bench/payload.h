// SPDX-License-Identifier: MIT
// The job that every row uses: 140 bytes of data that begin with the moment of the add, so that a
// worker in another process can tell how long it was on its way. The clock is the machine's
// monotonic one, which all processes share.
#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::size_t kPayloadBytes = 140;
inline constexpr std::size_t kStampDigits = 20;

inline std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline std::string payload(std::int64_t stamp_ns) {
  const auto digits = std::to_string(stamp_ns);
  std::string data(kStampDigits - digits.size(), '0');
  data += digits;
  data.resize(kPayloadBytes, 'x');
  return data;
}

// 0 where there is none.
inline std::int64_t stamp_of(std::string_view data) {
  std::int64_t stamp = 0;
  if (data.size() >= kStampDigits) std::from_chars(data.data(), data.data() + kStampDigits, stamp);
  return stamp;
}

}  // namespace bench
