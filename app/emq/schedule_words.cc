// SPDX-License-Identifier: MIT
#include "schedule_words.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <tuple>

#include "argument.h"
#include "moment.h"

namespace emq {

using echomq::Cron;
using echomq::Every;
using echomq::Missed;
using echomq::Overlap;
using echomq::Result;
using echomq::Schedule;
using std::chrono::milliseconds;

void ScheduleWords::declare(CLI::App& verb) {
  verb.add_option("--tz", zone, "The time zone of the pattern: Europe/Berlin")
      ->type_name("ZONE")
      ->capture_default_str();
  auto* interval =
      verb.add_option("--every", every, "At an interval, instead of a pattern: 10ms to ten years")
          ->type_name("TIME");
  verb.add_option("--offset", offset,
                  "With --every: that much after the whole intervals since 1970, or since --start")
      ->type_name("TIME")
      ->needs(interval);
  verb.add_option("--start", start, "Not before: 2026-02-03 or 2026-02-03T04:05Z")
      ->type_name("MOMENT");
  verb.add_option("--end", end, "And not after")->type_name("MOMENT");
}

Result<Schedule> ScheduleWords::read() const {
  Schedule schedule;
  if (pattern.has_value() == every.has_value())
    return bad_value("--every", every.value_or("not given"), "either a pattern or --every TIME");
  if (every) {
    const auto interval = duration("--every", *every, echomq::kMinInterval);
    if (!interval) return interval.error();
    const auto behind = duration("--offset", offset);
    if (!behind) return behind.error();
    schedule.when = Every{*interval, *behind};
  } else {
    schedule.when = Cron{*pattern, zone};
  }
  for (const auto& [option, text, time] : {std::tuple{"--start", &start, &schedule.start_ms},
                                           std::tuple{"--end", &end, &schedule.end_ms}}) {
    if (!*text) continue;
    const auto at = moment(option, **text);
    if (!at) return at.error();
    *time = *at;
  }
  return schedule;
}

std::string local(std::int64_t at_ms, const std::string& zone) {
  const auto offset = echomq::utc_offset(zone, at_ms);
  if (!offset) return utc(at_ms);
  auto text = utc(at_ms + milliseconds(*offset).count());
  text.resize(text.find('.'));
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(*offset).count();
  return text + fmt::format("{}{:02}:{:02}", minutes < 0 ? '-' : '+', std::abs(minutes) / 60,
                            std::abs(minutes) % 60);
}

std::string zone_of(const Schedule& schedule) {
  const auto* const cron = std::get_if<Cron>(&schedule.when);
  return cron == nullptr ? std::string("UTC") : cron->zone;
}

std::string when_of(const Schedule& schedule) {
  if (const auto* const cron = std::get_if<Cron>(&schedule.when))
    return cron->pattern + (cron->zone == "UTC" ? "" : " (" + cron->zone + ")");
  const auto& every = std::get<Every>(schedule.when);
  auto text = "every " + length(every.interval);
  if (every.offset.count() != 0) text += ", offset " + length(every.offset);
  return text;
}

std::string missed_of(const Missed& missed) {
  switch (missed.kind) {
    case Missed::Kind::skip: return "skip";
    case Missed::Kind::run_once: return "once";
    case Missed::Kind::run_all: return "all:" + std::to_string(missed.max);
  }
  return {};
}

Json to_json(const Schedule& schedule) {
  Json out;
  if (const auto* const cron = std::get_if<Cron>(&schedule.when)) {
    out = {{"pattern", cron->pattern}, {"tz", cron->zone}};
  } else {
    const auto& every = std::get<Every>(schedule.when);
    out = {{"every_ms", every.interval.count()}, {"offset_ms", every.offset.count()}};
  }
  out["start_ms"] = time_json(schedule.start_ms);
  out["end_ms"] = time_json(schedule.end_ms);
  out["limit"] = schedule.limit == 0 ? Json(nullptr) : Json(schedule.limit);
  out["immediately"] = schedule.immediately;
  out["missed"] = missed_of(schedule.missed);
  out["overlap"] = schedule.overlap == Overlap::skip ? "skip" : "allow";
  return out;
}

}  // namespace emq
