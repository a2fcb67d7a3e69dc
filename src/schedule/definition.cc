// SPDX-License-Identifier: MIT
#include "schedule/definition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/parts.h"
#include "base/text.h"
#include "protocol/registry.h"

namespace echomq::inline v2::schedule {
namespace {

constexpr std::array<std::string_view, 3> kMissedWords{"skip", "once", "all"};
constexpr std::array<std::string_view, 2> kOverlapWords{"allow", "skip"};

// Whether the next part is one of the words, and which.
template <class Words, class Enum>
bool one_of(Parts& parts, const Words& words, Enum& value) {
  const auto* const at = std::find(words.begin(), words.end(), parts.word());
  value = static_cast<Enum>(at - words.begin());
  return at != words.end();
}

}  // namespace

std::string definition_of(const Schedule& schedule) {
  std::string text;
  for (const auto number :
       {static_cast<std::uint64_t>(schedule.start_ms), static_cast<std::uint64_t>(schedule.end_ms),
        schedule.limit, std::uint64_t{schedule.immediately ? 1U : 0U}})
    text += std::to_string(number) + ":";
  text += kMissedWords[static_cast<std::size_t>(schedule.missed.kind)];
  text += ":" + std::to_string(schedule.missed.max) + ":";
  text += kOverlapWords[static_cast<std::size_t>(schedule.overlap)];
  if (const auto* const every = std::get_if<Every>(&schedule.when)) {
    text += ":every:" + std::to_string(every->interval.count()) + ":" +
            std::to_string(every->offset.count());
  } else {
    const auto& cron = std::get<Cron>(schedule.when);
    text += ":cron:" + cron.zone + ":" + cron.pattern;
  }
  return text;
}

std::optional<Schedule> read_definition(std::string_view text) {
  Parts parts(text);
  Schedule schedule;
  unsigned immediately = 0;
  if (!parts.number(schedule.start_ms) || !parts.number(schedule.end_ms) ||
      !parts.number(schedule.limit) || !parts.number(immediately) ||
      !one_of(parts, kMissedWords, schedule.missed.kind) || !parts.number(schedule.missed.max) ||
      !one_of(parts, kOverlapWords, schedule.overlap))
    return std::nullopt;
  schedule.immediately = immediately != 0;
  const auto kind = parts.word();
  if (kind == "cron") {
    Cron cron;
    cron.zone = parts.word();
    cron.pattern = parts.rest();
    schedule.when = std::move(cron);
    return schedule;
  }
  std::int64_t interval = 0;
  std::int64_t offset = 0;
  if (kind != "every" || !parts.number(interval) || !parts.number(offset)) return std::nullopt;
  schedule.when = Every{std::chrono::milliseconds(interval), std::chrono::milliseconds(offset)};
  return schedule;
}

std::string shape_of(const job::EncodedJob& job) {
  return std::to_string(job.priority) + ":" + (job.lifo ? "1:" : "0:") +
         std::to_string(job.name.size()) + ":" + job.name + job.opts;
}

Ran read_ran(std::string_view text) {
  Parts parts(text);
  Ran ran;
  if (!parts.number(ran.last_ms) || !parts.number(ran.made) || !parts.number(ran.skipped))
    return {};
  ran.job = parts.rest();
  return ran;
}

std::string tick_text(std::int64_t ms) { return ms == 0 ? std::string() : std::to_string(ms); }

std::string tick_id(std::string_view scheduler, std::int64_t tick_ms) {
  return std::string(scheduler) + "." + std::to_string(tick_ms);
}

std::vector<TickStep> steps(const Schedule& schedule, const Timetable& timetable,
                            std::int64_t next_ms, std::uint64_t made, std::int64_t now_ms,
                            std::size_t room) {
  const auto left = schedule.limit == 0     ? kMaxMissedRuns
                    : made < schedule.limit ? schedule.limit - made
                                            : 0;
  if (left == 0) return {{next_ms, 0, 0, 0}};
  // Where the last job is looked at, only one can be made before that of the next is known.
  const bool one_at_a_time =
      schedule.missed.kind != Missed::Kind::run_all || schedule.overlap == Overlap::skip;
  const auto most = std::min<std::uint64_t>(one_at_a_time ? 1 : schedule.missed.max, left);
  auto due = timetable.due(next_ms, now_ms, static_cast<std::size_t>(most));
  if (schedule.missed.kind == Missed::Kind::skip && !due.newest.empty() &&
      due.newest.back() < now_ms - kMissedAfter.count()) {
    due.older += due.newest.size();
    due.newest.clear();
  }
  const bool ends = schedule.limit != 0 && due.newest.size() >= left;
  const auto following = ends ? 0 : timetable.next(now_ms);
  if (due.newest.empty()) return {{next_ms, 0, following, due.older}};
  std::vector<TickStep> all;
  for (std::size_t i = 0; i < std::min(due.newest.size(), room); ++i) {
    const bool last = i + 1 == due.newest.size();
    const auto tick = due.newest[i];
    all.push_back({i == 0 ? next_ms : tick, tick, last ? following : due.newest[i + 1],
                   i == 0 ? due.older : 0});
  }
  return all;
}

}  // namespace echomq::inline v2::schedule

namespace echomq::inline v2 {

Result<void> check_scheduler_id(std::string_view id) {
  const auto bad = std::find_if_not(id.begin(), id.end(), registry::is_name_char);
  if (!id.empty() && id.size() <= kMaxSchedulerId && bad == id.end()) return {};
  std::string found = "is empty";
  if (id.size() > kMaxSchedulerId)
    found = "has " + std::to_string(id.size()) + " bytes";
  else if (bad != id.end())
    found = "holds " + quoted({&*bad, 1}) + " at byte " + std::to_string(bad - id.begin() + 1);
  return registry::refusal("scheduler id", id, found + "; expected 1 to 200 of A-Z a-z 0-9 . _ -");
}

std::optional<ScheduledTick> scheduled_tick(std::string_view job_id) {
  const auto dot = job_id.rfind('.');
  if (dot == std::string_view::npos || !check_scheduler_id(job_id.substr(0, dot)))
    return std::nullopt;
  const auto digits = job_id.substr(dot + 1);
  ScheduledTick tick{std::string(job_id.substr(0, dot)), 0};
  const auto* const end = digits.data() + digits.size();
  const auto [at, problem] = std::from_chars(digits.data(), end, tick.tick_ms);
  if (problem != std::errc() || at != end || tick.tick_ms < 0 ||
      schedule::tick_id(tick.scheduler, tick.tick_ms) != job_id)
    return std::nullopt;
  return tick;
}

}  // namespace echomq::inline v2
