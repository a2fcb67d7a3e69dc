// SPDX-License-Identifier: MIT
// Timetable: the ticks of a Schedule that was checked. Pure, but for the system's zone files.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "echomq/schedule.h"
#include "schedule/cron_pattern.h"
#include "schedule/zone.h"

namespace echomq::inline v2::schedule {

// The end of the year 9999.
inline constexpr std::int64_t kMaxScheduleMs = 253'402'300'799'999;
// So many ticks of a pattern are counted when they are due together; beyond it they count as so
// many.
inline constexpr std::uint64_t kMissedCounted = 1'000;

// The instant that a wall time means in a zone: of one that comes twice the first, of one that is
// left out the moment at which the clock leaps.
std::int64_t instant_of(Wall wall, const Zone& zone);

// Those of its ticks that are due.
struct DueTicks {
  std::vector<std::int64_t> newest{};  // rising
  std::uint64_t older = 0;             // how many were due before them
};

class Timetable {
 public:
  // Errors: those of check_schedule.
  static Result<Timetable> of(const Schedule& schedule);

  // The first tick after that time; 0: there is none any more.
  [[nodiscard]] std::int64_t next(std::int64_t after_ms) const;
  // The first tick of a schedule that is new now, after `last_ms`, the last one of what it was
  // before. What lies further ahead than any two clocks is left of a clock that was set back.
  [[nodiscard]] std::int64_t first(std::int64_t now_ms, std::int64_t last_ms = 0) const;
  // `next_ms`, which is due, and those behind it up to now: the newest, `most` of them.
  [[nodiscard]] DueTicks due(std::int64_t next_ms, std::int64_t now_ms, std::size_t most) const;

 private:
  struct Calendar {
    CronPattern pattern;
    Zone zone;
  };

  Timetable(const Schedule& schedule, const std::variant<Calendar, Every>& when)
      : start_ms_(schedule.start_ms),
        end_ms_(schedule.end_ms == 0 ? kMaxScheduleMs : schedule.end_ms),
        immediately_(schedule.immediately),
        when_(when) {}

  static std::int64_t next_of(const Calendar& calendar, std::int64_t after_ms);
  [[nodiscard]] std::int64_t next_of(const Every& every, std::int64_t after_ms) const;
  [[nodiscard]] DueTicks due_of(const Every& every, std::int64_t next_ms, std::int64_t last_ms,
                                std::size_t most) const;
  [[nodiscard]] std::size_t count(std::int64_t after_ms, std::int64_t last_ms,
                                  std::size_t most) const;
  [[nodiscard]] std::int64_t shortly_before(std::int64_t last_ms, std::int64_t next_ms,
                                            std::size_t most) const;

  std::int64_t start_ms_;
  std::int64_t end_ms_;
  bool immediately_;
  std::variant<Calendar, Every> when_;
};

}  // namespace echomq::inline v2::schedule
