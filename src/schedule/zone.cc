// SPDX-License-Identifier: MIT
// date-tz reports by throwing what it does not find, so this file is compiled with exceptions in a
// library that has none (cmake/library.cmake).
#include "schedule/zone.h"

#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/bad_option.h"
#include "base/text.h"

namespace echomq::inline v2::schedule {
namespace {

constexpr std::size_t kMaxZoneName = 64;

bool is_zone_char(char c) {
  return is_letter(c) || is_digit(c) || c == '/' || c == '_' || c == '-' || c == '+';
}

// What find() has found, for as long as the process lives.
struct Found {
  const date::time_zone* zone = nullptr;
  std::optional<ZoneTail> tail{};  // where its file goes on by a rule
};

// date-tz reads the changes that a zone file writes out, and not the rule that follows them.
std::optional<ZoneTail> tail_of(const std::string& name) {
  std::ifstream in("/usr/share/zoneinfo/" + name, std::ios::binary);
  return read_zone_tail(std::string(std::istreambuf_iterator<char>(in), {}));
}

// Throws what date-tz throws.
const Found* found(const std::string& name) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, Found>;  // outlives everybody who asks
  const std::lock_guard lock(mutex);
  if (const auto it = all.find(name); it != all.end()) return &it->second;
  const auto* const zone = date::locate_zone(name);
  // Its file is read now, so that at() finds it good.
  (void)zone->get_info(date::sys_seconds{});
  return &all.emplace(name, Found{zone, tail_of(name)}).first->second;
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
    return Zone(found(std::string(name)));
  } catch (const std::exception&) {
    return unknown(name);
  }
}

Zone::Span Zone::at(std::int64_t second) const {
  if (data_ == nullptr) return ZoneRule::always(0);
  const auto& [zone, tail] = *static_cast<const Found*>(data_);
  if (tail && second >= tail->from) {
    const auto span = tail->rule.at(second);
    return {std::max(span.begin, tail->from), span.end, span.offset};
  }
  const auto info = zone->get_info(date::sys_seconds(std::chrono::seconds(second)));
  return {info.begin.time_since_epoch().count(), info.end.time_since_epoch().count(),
          info.offset.count()};
}

}  // namespace echomq::inline v2::schedule
