// SPDX-License-Identifier: MIT
// CronPattern: what a cron pattern says, in wall time: which moments of a calendar and a clock on
// the wall match it. Of time zones it knows nothing; schedule/timetable.h puts the two together.
// Pure.
//
//   [second] minute hour day-of-month month day-of-week
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "echomq/result.h"

namespace echomq::inline v2::schedule {

// Seconds that a clock on the wall has counted since it showed 1970-01-01 00:00:00.
using Wall = std::int64_t;

// How far a next time is looked for. The rarest days that come back at all (a fifth Monday of
// February) are at most forty years apart.
inline constexpr std::int64_t kCronHorizonDays = 36'525;  // a hundred years
inline constexpr std::size_t kMaxPatternBytes = 255;

class CronPattern {
 public:
  // Errors: invalid_argument; the fields "field" and "position" (of the byte, from 1) tell where.
  // A pattern that matches no day at all (30 February) is refused too.
  static Result<CronPattern> parse(std::string_view pattern);

  // The first match from that time on; nullopt: none within kCronHorizonDays.
  [[nodiscard]] std::optional<Wall> next(Wall from) const;

  // The hour field begins with `*`: the pattern is meant to go by the hours that pass, not by
  // certain ones. That matters on the days on which clocks are changed.
  [[nodiscard]] bool any_hour() const noexcept { return any_hour_; }

 private:
  friend class CronReader;
  CronPattern() = default;

  [[nodiscard]] bool matches_day(int year, unsigned month, unsigned day) const;
  // The first match of a day from that second of it on.
  [[nodiscard]] std::optional<Wall> time_from(Wall second_of_day) const;

  // A bit for each value that matches.
  std::uint64_t seconds_ = 1;
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;                   // Sunday is 0
  std::uint64_t days_before_last_ = 0;           // L is 0, L-3 is 3
  std::uint64_t near_days_ = 0;                  // 15W
  bool last_working_day_ = false;                // LW
  std::uint64_t last_weekdays_ = 0;              // 5L
  std::array<std::uint64_t, 6> nth_weekdays_{};  // MON#2 is in [2]
  bool any_day_ = false;                         // the field begins with * or is ?
  bool any_weekday_ = false;
  bool any_hour_ = false;
};

}  // namespace echomq::inline v2::schedule
