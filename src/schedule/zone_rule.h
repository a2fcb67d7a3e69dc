// SPDX-License-Identifier: MIT
// ZoneRule: how the clocks of a time zone change from year to year, where its file does not write
// the changes out any more. Pure.
//
// The text is that of POSIX's TZ variable (IEEE 1003.1, 8.3), with hours from -167 to 167 as zone
// files have them (RFC 9636, 3.3): "CET-1CEST,M3.5.0,M10.5.0/3".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace echomq::inline v2::schedule {

class ZoneRule {
 public:
  static constexpr auto kAlways = std::numeric_limits<std::int64_t>::max() / 4;

  // nullopt: it has another form.
  static std::optional<ZoneRule> read(std::string_view text);

  // A span of time with one offset: begin <= t < end, seconds since 1970, UTC. A clock on the wall
  // shows t + offset.
  struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t offset = 0;
  };
  // One offset for ever, as far as numbers go.
  static Span always(std::int64_t offset) { return {-kAlways, kAlways, offset}; }

  // The one that holds that second.
  [[nodiscard]] Span at(std::int64_t second) const;

  // A day of the year, and a time of it by the clock on the wall.
  struct Change {
    enum class Day { of_month, julian, zero_based };  // Mm.w.d, Jn, n
    Day kind = Day::of_month;
    int month = 0;
    int week = 0;  // 5: the last
    int day = 0;   // of the week (0 is Sunday), or of the year
    int time = 7'200;
  };

 private:
  // When it comes in that year; by a clock that shows UTC + offset until then.
  static std::int64_t instant(const Change& change, int year, std::int64_t offset);

  std::int64_t standard_ = 0;
  std::int64_t summer_ = 0;
  bool changes_ = false;
  Change to_summer_{};
  Change to_standard_{};
};

// What a zone file (TZif, RFC 9636) says for the time behind its last written change.
struct ZoneTail {
  std::int64_t from = 0;  // the last change
  ZoneRule rule;
};
// nullopt: it has no such rule, or another form.
std::optional<ZoneTail> read_zone_tail(std::string_view file);

}  // namespace echomq::inline v2::schedule
