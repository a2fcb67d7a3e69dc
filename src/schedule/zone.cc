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
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/bad_option.h"
#include "base/text.h"
#include "schedule/zone_rule.h"

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

const Found* found(const std::string& name) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, Found>;  // outlives everybody who asks
  const std::lock_guard lock(mutex);
  const auto [it, is_new] = all.try_emplace(name);
  if (is_new) it->second = {date::locate_zone(name), tail_of(name)};
  return &it->second;
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
    // Its file is read now, so that at() finds it good.
    (void)date::locate_zone(std::string(name))->get_info(date::sys_seconds{});
    return Zone(found(std::string(name)));
  } catch (const std::exception&) {
    return unknown(name);
  }
}

Zone::Span Zone::at(std::int64_t second) const {
  constexpr auto kAlways = std::numeric_limits<std::int64_t>::max() / 4;
  if (data_ == nullptr) return {-kAlways, kAlways, 0};
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
