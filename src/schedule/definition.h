// SPDX-License-Identifier: MIT
// A scheduler as it is stored: the text of its schedule, what its ticks left behind, and what is to
// be done about those that are due. Pure, but for the zone files that a Timetable reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/schedule.h"
#include "job/encode.h"
#include "schedule/timetable.h"

namespace echomq::inline v2::schedule {

// The schedule in one field, `def`, by which two are compared:
// `<start>:<end>:<limit>:<immediately>:<missed>:<max>:<overlap>:` and then `cron:<zone>:<pattern>`
// or `every:<interval>:<offset>`. Equal schedules have equal texts.
std::string definition_of(const Schedule& schedule);
// nullopt: it has another form.
std::optional<Schedule> read_definition(std::string_view text);

// What the jobs of a scheduler have in common besides their data, in one field, `shape`:
// `<priority>:<lifo>:<bytes of name>:<name><opts>`.
std::string shape_of(const job::EncodedJob& job);

// What the ticks left behind, in one field, `ran`: `<last>:<made>:<skipped>:<job>`. Only scripts
// write it (lua/lib/ran.lua). One that has another form reads as one that says nothing.
struct Ran {
  std::int64_t last_ms = 0;   // of the last tick that was made or skipped
  std::uint64_t made = 0;     // jobs
  std::uint64_t skipped = 0;  // ticks
  std::string job{};          // the id of the last one
};
Ran read_ran(std::string_view text);

// A tick as scripts are told of it; empty: there is none.
std::string tick_text(std::int64_t ms);

// "nightly", 1700000000000 -> "nightly.1700000000000"
std::string tick_id(std::string_view scheduler, std::int64_t tick_ms);

// A step of one scheduler: from the tick that was next to another one.
struct TickStep {
  std::int64_t seen_ms = 0;
  std::int64_t tick_ms = 0;   // a job is made for it; 0: for none
  std::int64_t next_ms = 0;   // 0: it has ended
  std::uint64_t skipped = 0;  // ticks before it that are not made
};

// What is to be done about a scheduler whose next tick is due, at most `room` steps, one behind the
// other.
std::vector<TickStep> steps(const Schedule& schedule, const Timetable& timetable,
                            std::int64_t next_ms, std::uint64_t made, std::int64_t now_ms,
                            std::size_t room);

}  // namespace echomq::inline v2::schedule
