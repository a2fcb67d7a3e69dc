// SPDX-License-Identifier: MIT
// Schedules. An input is three lines: a cron pattern, the name of a time zone, and a time in
// milliseconds since 1970; and the whole of it is a schedule as it is stored.
#include <algorithm>
#include <string>
#include <utility>

#include "fuzz/errors.h"
#include "fuzz/lines.h"
#include "fuzz/target.h"
#include "schedule/cron_pattern.h"
#include "schedule/definition.h"
#include "schedule/timetable.h"

namespace echomq::fuzz {
namespace {

using schedule::CronPattern;
using schedule::Timetable;

void check_refused_pattern(const Error& error, std::string_view pattern) {
  require(error.code == ErrorCode::invalid_argument, "a bad pattern is an invalid argument",
          error.detail);
  require_loggable(error);
  const auto* const value = error.field("value");
  require(value != nullptr && *value == pattern, "the error holds the pattern", error.detail);
  const auto* const position = error.field("position");
  require(error.field("field") != nullptr && position != nullptr,
          "the error names the field and the position", error.detail);
  const auto at = std::stoul(*position);
  // A name of a pattern is no place for a finding in what it stands for.
  require(at >= 1 && at <= pattern.size() + 1, "the position lies in the pattern", error.detail);
}

void check_pattern(const CronPattern& pattern, std::int64_t from) {
  auto at = from;
  for (int i = 0; i < 4; ++i) {
    const auto match = pattern.next(at);
    if (!match) return;
    require(*match >= at, "a match is not before the time that is asked for");
    require(pattern.next(*match) == match, "a match matches");
    const auto between = at + (*match - at) / 2;
    require(pattern.next(between) == match, "nothing matches before the next match");
    at = *match + 1;
  }
}

void check_ticks(const Schedule& schedule, std::int64_t from_ms) {
  const auto timetable = Timetable::of(schedule);
  if (!timetable) return require_loggable(timetable.error());
  const auto first = timetable->next(from_ms);
  require(first == 0 || (first > from_ms && timetable->next(first - 1) == first),
          "the next tick is one, and comes after the time that is asked for");
  for (auto [tick, count] = std::pair(first, 0); tick != 0 && count < 3; ++count) {
    const auto next = timetable->next(tick);
    require(next == 0 || next > tick, "a tick comes after the one before");
    tick = next;
  }
}

void check_definition(std::string_view text) {
  const auto schedule = schedule::read_definition(text);
  if (!schedule) return;
  const auto written = schedule::definition_of(*schedule);
  const auto again = schedule::read_definition(written);
  require(again.has_value(), "a schedule that was written can be read", written);
  require(schedule::definition_of(*again) == written, "and is written the same again", written);
}

}  // namespace

void cron(std::string_view input) {
  check_definition(input);
  Lines lines(input);
  const auto text = lines.next();
  const auto zone = lines.next();
  const auto from_ms =
      std::clamp<std::int64_t>(lines.number<std::int64_t>(), 0, schedule::kMaxScheduleMs);
  const auto pattern = CronPattern::parse(text);
  if (!pattern) return check_refused_pattern(pattern.error(), text);
  check_pattern(*pattern, from_ms / 1'000);
  check_ticks({.when = Cron{std::string(text), std::string(zone)}}, from_ms);
}

}  // namespace echomq::fuzz
