// SPDX-License-Identifier: MIT
#include "moment.h"

#include <fmt/core.h>

#include <ctime>

namespace emq {

std::string utc(std::int64_t unix_ms) {
  auto seconds = static_cast<std::time_t>(unix_ms / 1'000);
  auto rest = unix_ms % 1'000;
  if (rest < 0) {
    rest += 1'000;
    --seconds;
  }
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     rest);
}

std::string length(std::chrono::milliseconds time) {
  constexpr std::int64_t kSecond = 1'000;
  constexpr std::int64_t kMinute = 60 * kSecond;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const auto ms = time.count();
  const auto two = [ms](std::int64_t big, const char* big_name, std::int64_t small,
                        const char* small_name) {
    const auto rest = ms % big / small;
    return rest == 0 ? fmt::format("{} {}", ms / big, big_name)
                     : fmt::format("{} {} {} {}", ms / big, big_name, rest, small_name);
  };
  if (ms < kSecond) return fmt::format("{} ms", ms);
  if (ms < kMinute) return fmt::format("{} s", ms / kSecond);
  if (ms < kHour) return two(kMinute, "min", kSecond, "s");
  if (ms < 2 * kDay) return two(kHour, "h", kMinute, "min");
  return two(kDay, "d", kHour, "h");
}

std::string relative(std::int64_t unix_ms, std::int64_t now_ms) {
  if (unix_ms == now_ms) return "now";
  if (unix_ms > now_ms) return "in " + length(std::chrono::milliseconds(unix_ms - now_ms));
  return length(std::chrono::milliseconds(now_ms - unix_ms)) + " ago";
}

}  // namespace emq
