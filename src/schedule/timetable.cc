// SPDX-License-Identifier: MIT
#include "schedule/timetable.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bad_option.h"

namespace echomq::inline v2::schedule {
namespace {

constexpr std::int64_t kSecond = 1'000;
// No two clocks of a deployment are further apart.
constexpr std::int64_t kClocksApartMs = 3'600'000;

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

struct Instant {
  std::int64_t at = 0;
  Zone::Span span{};  // of the offset by which it was found
};

// The first span that ends, on the wall, behind that time either holds it or begins behind the gap
// in which it lies.
Instant find_instant(Wall wall, const Zone& zone) {
  constexpr std::int64_t kMoreThanAnyOffset = 172'800;  // two days
  auto span = zone.at(wall - kMoreThanAnyOffset);
  while (wall >= span.end + span.offset) span = zone.at(span.end);
  return {std::max(wall - span.offset, span.begin), span};
}

// A wall clock that goes on by itself: every instant whose wall time matches.
std::int64_t next_by_hours(const CronPattern& pattern, const Zone& zone, std::int64_t second) {
  const auto deadline = second + kCronHorizonDays * 86'400;
  while (second <= deadline) {
    const auto span = zone.at(second);
    const auto wall = pattern.next(second + span.offset);
    if (!wall) return 0;
    if (const auto found = *wall - span.offset; found < span.end) return found;
    second = span.end;
  }
  return 0;
}

// Certain wall times: each of them once.
std::int64_t next_by_clock(const CronPattern& pattern, const Zone& zone, std::int64_t second) {
  // That of the second before, so that a gap that ends right now is not behind us.
  auto wall = second + zone.at(second - 1).offset;
  for (;;) {
    const auto match = pattern.next(wall);
    if (!match) return 0;
    const auto [at, span] = find_instant(*match, zone);
    if (at >= second) return at;
    // It comes a second time, and we are there: nothing up to the end of those times is left.
    wall = std::max(*match + 1, span.end + span.offset);
  }
}

Result<void> check_times(const Schedule& schedule) {
  for (const auto& [option, time] :
       {std::pair("start_ms", schedule.start_ms), std::pair("end_ms", schedule.end_ms)})
    if (time < 0 || time > kMaxScheduleMs)
      return bad_option(option, std::to_string(time),
                        "0 (none) or milliseconds since 1970, before the year 10000");
  if (schedule.end_ms != 0 && schedule.end_ms < schedule.start_ms)
    return bad_option("end_ms", std::to_string(schedule.end_ms),
                      "not before start_ms, which is " + std::to_string(schedule.start_ms));
  if (schedule.limit > kMaxScheduleLimit)
    return bad_option("limit", std::to_string(schedule.limit), "0 (none) to 1,000,000,000");
  if (schedule.missed.max < 1 || schedule.missed.max > kMaxMissedRuns)
    return bad_option("missed.max", std::to_string(schedule.missed.max), "1 to 100");
  if (!schedule.immediately) return {};
  if (schedule.start_ms != 0)
    return bad_option("immediately", "true with start_ms " + std::to_string(schedule.start_ms),
                      "one of the two");
  if (std::holds_alternative<Cron>(schedule.when))
    return bad_option("immediately", "true with a cron pattern",
                      "false: the times of a pattern are those that it says; add a job beside it");
  return {};
}

Result<void> check_every(const Every& every) {
  if (every.interval < kMinInterval || every.interval > kMaxInterval)
    return bad_option("interval", std::to_string(every.interval.count()),
                      "10 milliseconds to ten years");
  if (every.offset.count() < 0 || every.offset >= every.interval)
    return bad_option("offset", std::to_string(every.offset.count()),
                      "0 to less than the interval, which is " +
                          std::to_string(every.interval.count()) + " milliseconds");
  return {};
}

}  // namespace

std::int64_t instant_of(Wall wall, const Zone& zone) { return find_instant(wall, zone).at; }

Result<Timetable> Timetable::of(const Schedule& schedule) {
  if (auto ok = check_times(schedule); !ok) return ok.error();
  if (const auto* const every = std::get_if<Every>(&schedule.when)) {
    if (auto ok = check_every(*every); !ok) return ok.error();
    return Timetable(schedule, *every);
  }
  const auto& cron = std::get<Cron>(schedule.when);
  auto pattern = CronPattern::parse(cron.pattern);
  if (!pattern) return pattern.error();
  auto zone = Zone::find(cron.zone);
  if (!zone) return zone.error();
  return Timetable(schedule, Calendar{*std::move(pattern), *zone});
}

std::int64_t Timetable::next_of(const Calendar& calendar, std::int64_t after_ms) {
  const auto second = floor_div(after_ms, kSecond) + 1;
  const auto& [pattern, zone] = calendar;
  return kSecond * (pattern.any_hour() ? next_by_hours(pattern, zone, second)
                                       : next_by_clock(pattern, zone, second));
}

std::int64_t Timetable::next_of(const Every& every, std::int64_t after_ms) const {
  const auto interval = every.interval.count();
  const auto from = start_ms_ + every.offset.count();
  if (start_ms_ != 0 && after_ms < from) return from;
  return from + (floor_div(after_ms - from, interval) + 1) * interval;
}

std::int64_t Timetable::next(std::int64_t after_ms) const {
  if (after_ms >= end_ms_) return 0;
  after_ms = std::max(after_ms, start_ms_ - 1);
  const auto* const every = std::get_if<Every>(&when_);
  const auto tick =
      every != nullptr ? next_of(*every, after_ms) : next_of(std::get<Calendar>(when_), after_ms);
  return tick > end_ms_ ? 0 : tick;
}

std::int64_t Timetable::first(std::int64_t now_ms, std::int64_t last_ms) const {
  if (last_ms > now_ms + kClocksApartMs) last_ms = 0;
  if (immediately_ && now_ms > last_ms && now_ms <= end_ms_) return now_ms;
  return next(std::max(now_ms, last_ms));
}

DueTicks Timetable::due_of(const Every& every, std::int64_t next_ms, std::int64_t last_ms,
                           std::size_t most) const {
  const auto interval = every.interval.count();
  // The first one may stand beside the others (immediately, or an interval that was another).
  const auto second = next_of(every, next_ms);
  const auto others = second > last_ms ? 0 : (last_ms - second) / interval + 1;
  const auto taken = std::min<std::int64_t>(others, static_cast<std::int64_t>(most));
  DueTicks ticks;
  ticks.older = static_cast<std::uint64_t>(others - taken);
  if (taken < static_cast<std::int64_t>(most))
    ticks.newest.push_back(next_ms);
  else
    ++ticks.older;
  for (auto k = others - taken; k < others; ++k) ticks.newest.push_back(second + k * interval);
  return ticks;
}

// How many ticks there are behind that time up to the last one; no more than `most` are counted.
std::size_t Timetable::count(std::int64_t after_ms, std::int64_t last_ms, std::size_t most) const {
  std::size_t ticks = 0;
  for (auto tick = next(after_ms); tick != 0 && tick <= last_ms && ticks < most; tick = next(tick))
    ++ticks;
  return ticks;
}

// A time so long before the last one that there are `most` ticks between them, and not many more;
// or `next_ms`, when there are not so many behind it.
std::int64_t Timetable::shortly_before(std::int64_t last_ms, std::int64_t next_ms,
                                       std::size_t most) const {
  auto few = last_ms;  // from here on there are too few
  auto enough = last_ms - kSecond;
  while (enough > next_ms && count(enough, last_ms, most) < most) {
    few = enough;
    enough = last_ms - 2 * (last_ms - enough);
  }
  enough = std::max(enough, next_ms);
  while (few - enough > kSecond && count(enough, last_ms, kMissedCounted) == kMissedCounted) {
    const auto middle = enough + (few - enough) / 2;
    (count(middle, last_ms, most) < most ? few : enough) = middle;
  }
  return enough;
}

DueTicks Timetable::due(std::int64_t next_ms, std::int64_t now_ms, std::size_t most) const {
  const auto last_ms = std::min(now_ms, end_ms_);
  if (const auto* const every = std::get_if<Every>(&when_))
    return due_of(*every, next_ms, last_ms, most);
  DueTicks ticks;
  const auto take = [&](std::int64_t from_ms) {
    std::uint64_t count = 0;
    for (auto tick = from_ms; tick != 0 && tick <= last_ms && count < kMissedCounted;
         tick = next(tick), ++count) {
      if (ticks.newest.size() == most) {
        ticks.newest.erase(ticks.newest.begin());
        ++ticks.older;
      }
      ticks.newest.push_back(tick);
    }
    return count;
  };
  if (take(next_ms) == kMissedCounted && count(ticks.newest.back(), last_ms, 1) > 0) {
    ticks.newest.clear();
    take(next(shortly_before(last_ms, next_ms, most)));
    ticks.older = kMissedCounted;
  }
  return ticks;
}

}  // namespace echomq::inline v2::schedule

namespace echomq::inline v2 {

Result<void> check_schedule(const Schedule& schedule) {
  const auto timetable = schedule::Timetable::of(schedule);
  if (!timetable) return timetable.error();
  return {};
}

Result<std::chrono::seconds> utc_offset(std::string_view zone, std::int64_t at_ms) {
  if (at_ms < 0 || at_ms > schedule::kMaxScheduleMs)
    return bad_option("at_ms", std::to_string(at_ms),
                      "milliseconds since 1970, before the year 10000");
  const auto found = schedule::Zone::find(zone);
  if (!found) return found.error();
  return std::chrono::seconds(found->at(at_ms / schedule::kSecond).offset);
}

Result<std::vector<std::int64_t>> next_times(const Schedule& schedule, std::int64_t from_ms,
                                             std::size_t count) {
  if (from_ms < 0 || from_ms > schedule::kMaxScheduleMs)
    return bad_option("from_ms", std::to_string(from_ms),
                      "milliseconds since 1970, before the year 10000");
  if (count < 1 || count > kMaxTicksAtOnce)
    return bad_option("count", std::to_string(count), "1 to 10,000");
  const auto timetable = schedule::Timetable::of(schedule);
  if (!timetable) return timetable.error();
  if (schedule.limit != 0) count = std::min<std::size_t>(count, schedule.limit);
  std::vector<std::int64_t> ticks;
  for (auto tick = timetable->first(from_ms); tick != 0 && ticks.size() < count;
       tick = timetable->next(tick))
    ticks.push_back(tick);
  return ticks;
}

}  // namespace echomq::inline v2
