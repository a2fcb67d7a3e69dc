// SPDX-License-Identifier: MIT
// Cron patterns that are too simple to be wrong: fields as lists of what they say, matched one
// value after the other, and ticks that are found by walking through time step by step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/zone.h"

namespace echomq::test {

// One item of a field.
struct SlowItem {
  enum class Kind { any, range, last_day, near_day, last_working_day, last_weekday, nth_weekday };
  Kind kind = Kind::any;
  int from = 0;  // of range; the day of near_day, the weekday of the last two; of last_day how far
  int to = 0;    // of range; the count of nth_weekday
  int step = 1;  // of any and range
  bool open = false;  // a range to the end, written without it
};

struct SlowField {
  std::vector<SlowItem> items{};
};

struct SlowPattern {
  bool with_seconds = false;
  SlowField fields[6]{};  // second minute hour day month weekday

  [[nodiscard]] std::string text() const;
  // A wall time: seconds since it showed 1970-01-01 00:00.
  [[nodiscard]] bool matches(std::int64_t wall) const;
  [[nodiscard]] bool any_hour() const { return fields[2].items[0].kind == SlowItem::Kind::any; }
  // Ticks of a zone from one instant up to before another, seconds since 1970. `step` is 60 where
  // there are no seconds.
  [[nodiscard]] std::vector<std::int64_t> ticks(const schedule::Zone& zone, std::int64_t from,
                                                std::int64_t to) const;
};

// Any pattern, by rapidcheck.
SlowPattern any_pattern(bool with_seconds);

}  // namespace echomq::test
