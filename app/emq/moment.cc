// SPDX-License-Identifier: MIT
#include "moment.h"

#include <fmt/core.h>

#include <array>
#include <ctime>

#include "argument.h"

namespace emq {
namespace {

// What stands in the places of the digits 0 of `form` as numbers, one for each run of them; false
// where the text has another form.
bool numbers_of(std::string_view text, std::string_view form, std::array<int, 6>& numbers) {
  if (text.size() != form.size()) return false;
  std::size_t count = 0;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] != '0' ? text[i] != form[i] : !digit) return false;
    if (form[i] != '0') continue;
    if (i == 0 || form[i - 1] != '0') ++count;
    numbers[count - 1] = numbers[count - 1] * 10 + (text[i] - '0');
  }
  return true;
}

}  // namespace

echomq::Result<std::int64_t> moment(std::string_view option, const std::string& text) {
  for (const auto* const form : {"0000-00-00", "0000-00-00T00:00Z", "0000-00-00T00:00:00Z"}) {
    std::array<int, 6> numbers{};
    if (!numbers_of(text, form, numbers)) continue;
    std::tm parts{};
    parts.tm_year = numbers[0] - 1900;
    parts.tm_mon = numbers[1] - 1;
    parts.tm_mday = numbers[2];
    parts.tm_hour = numbers[3];
    parts.tm_min = numbers[4];
    parts.tm_sec = numbers[5];
    auto same = parts;
    const auto seconds = ::timegm(&same);
    // timegm() reads the 30th of February as the 2nd of March.
    if (seconds < 0 || same.tm_mon != parts.tm_mon || same.tm_mday != parts.tm_mday ||
        same.tm_hour != parts.tm_hour || same.tm_min != parts.tm_min)
      break;
    return std::int64_t{seconds} * 1'000;
  }
  if (const auto ms = whole_number(option, text, 0, 253'402'300'799'999))
    return static_cast<std::int64_t>(*ms);
  return bad_value(option, text,
                   "a time in UTC such as 2026-02-03, 2026-02-03T04:05Z or 2026-02-03T04:05:06Z, "
                   "or milliseconds since 1970");
}

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
