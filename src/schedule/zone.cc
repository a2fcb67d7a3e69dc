// SPDX-License-Identifier: MIT
// date-tz reports by throwing what it does not find, so this file is compiled with exceptions in a
// library that has none (cmake/library.cmake).
#include "schedule/zone.h"

#include <date/tz.h>

#include <chrono>
#include <exception>
#include <limits>
#include <string>

#include "base/bad_option.h"
#include "base/text.h"

namespace echomq::inline v2::schedule {
namespace {

constexpr std::size_t kMaxZoneName = 64;

bool is_zone_char(char c) {
  return is_letter(c) || is_digit(c) || c == '/' || c == '_' || c == '-' || c == '+';
}

Error unknown(std::string_view name) {
  return bad_option("zone", quoted(name),
                    "the IANA name of a time zone that this system knows (tzdata), such as "
                    "Europe/Berlin, or UTC");
}

}  // namespace

Result<Zone> Zone::find(std::string_view name) {
  if (name == "UTC") return Zone(nullptr);
  if (name.empty() || name.size() > kMaxZoneName) return unknown(name);
  for (const char c : name)
    if (!is_zone_char(c)) return unknown(name);
  try {
    const auto* const zone = date::locate_zone(std::string(name));
    // Its file is read now, so that at() finds it good.
    (void)zone->get_info(date::sys_seconds{});
    return Zone(zone);
  } catch (const std::exception&) {
    return unknown(name);
  }
}

Zone::Span Zone::at(std::int64_t second) const {
  constexpr auto kAlways = std::numeric_limits<std::int64_t>::max() / 4;
  if (data_ == nullptr) return {-kAlways, kAlways, 0};
  const auto* const zone = static_cast<const date::time_zone*>(data_);
  const auto info = zone->get_info(date::sys_seconds(std::chrono::seconds(second)));
  return {info.begin.time_since_epoch().count(), info.end.time_since_epoch().count(),
          info.offset.count()};
}

}  // namespace echomq::inline v2::schedule
