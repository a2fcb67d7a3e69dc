// SPDX-License-Identifier: MIT
#include "migrate/v1_scheduler.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "base/digest.h"
#include "base/number.h"
#include "base/text.h"
#include "echomq/schedule.h"
#include "job/encode.h"
#include "migrate/names.h"
#include "migrate/v1_options.h"
#include "schedule/definition.h"

namespace echomq::inline v2::migrate {
namespace {

struct RepeatableKey {
  std::string name, job, end, zone, when;
};

// The pattern comes last, because only it may hold colons.
RepeatableKey read_key(std::string_view member) {
  RepeatableKey key;
  for (auto* part : {&key.name, &key.job, &key.end, &key.zone}) {
    const auto colon = std::min(member.find(':'), member.size());
    *part = member.substr(0, colon);
    member.remove_prefix(std::min(colon + 1, member.size()));
  }
  key.when = member;
  return key;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// The options of a template are written with long names, those of jobs with brief ones.
std::string with_brief_names(const std::string& text) {
  auto opts = read_object(text);
  constexpr std::array<std::array<const char*, 2>, 2> kNames{
      {{"deduplication", "de"}, {"debounce", "de"}}};
  for (const auto& [full, brief] : kNames)
    if (const auto it = opts.find(full); it != opts.end()) {
      opts[brief] = *it;
      opts.erase(full);
    }
  return opts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// `zone` gets the time zone that v1 was told, if any.
Result<Schedule> schedule_of(std::string_view member, std::int64_t next_ms, const V1Hash& stored,
                             std::string& zone) {
  auto pattern = text_of(stored, "pattern");
  auto every = text_of(stored, "every");
  zone = text_of(stored, "tz");
  auto end = text_of(stored, "endDate");
  if (pattern.empty() && every.empty() && is_repeatable_key(member, stored)) {
    const auto key = read_key(member);
    (is_digits(key.when) ? every : pattern) = key.when;
    zone = key.zone;
    end = key.end;
  }
  Schedule schedule;
  const auto start = v1_number(text_of(stored, "startDate"));
  const auto stop = v1_number(end);
  const auto limit = v1_number(text_of(stored, "limit"));
  const auto interval = v1_number(every);
  if (!start || !stop || !limit || !interval)
    return Error{ErrorCode::unsupported, "one of its times is no number", {}};
  schedule.end_ms = *stop;
  schedule.limit = static_cast<std::uint64_t>(std::max<std::int64_t>(*limit, 0));
  if (*interval > 0) {
    // Where its ticks lie follows from the next one.
    schedule.when =
        Every{std::chrono::milliseconds(*interval), std::chrono::milliseconds(next_ms % *interval)};
  } else {
    schedule.start_ms = *start;
    schedule.when = Cron{pattern, zone.empty() ? "UTC" : zone};
  }
  if (auto ok = check_schedule(schedule); !ok)
    return Error{ErrorCode::unsupported, "2.0 has no such schedule: " + ok.error().detail, {}};
  return schedule;
}

}  // namespace

bool is_repeatable_key(std::string_view member, const V1Hash& stored) {
  return stored.empty() && std::count(member.begin(), member.end(), ':') >= 4;
}

std::string repeatable_id(std::string_view member) {
  const auto key = read_key(member);
  return hex_digest(key.name + key.job + hex_digest(member, EVP_md5()), EVP_md5());
}

Result<MovedScheduler> map_scheduler_of(std::string_view member, std::string_view made_by,
                                        std::int64_t next_ms, const V1Hash& stored,
                                        const V1Hash& job) {
  std::string zone;
  auto schedule = schedule_of(member, next_ms, stored, zone);
  if (!schedule) return schedule.error();
  // A scheduler has its template, a repeatable job has it in the job of its next tick alone.
  const bool own = stored.contains("ic") || stored.contains("data") || stored.contains("opts");
  if (!own && job.empty())
    return Error{
        ErrorCode::unsupported, "the job of its next tick is not there, which had its data", {}};
  const auto& opts_text = text_of(own ? stored : job, "opts");
  auto opts = read_v1_options(own ? with_brief_names(opts_text) : opts_text);
  if (!opts)
    return Error{
        ErrorCode::unsupported, "its opts are no JSON object: " + v2::quoted(opts_text), {}};
  MovedScheduler moved{.id = map_scheduler(made_by)};
  auto& options = opts->options;
  moved.changes = changes_of(*opts);
  if (const auto* cron = std::get_if<Cron>(&schedule->when); cron != nullptr && zone.empty())
    moved.changes.push_back({"zone", "its pattern \"" + cron->pattern +
                                         "\" has no time zone: v1 takes that of the process that "
                                         "reads it, here it is UTC"});
  if (options.deduplication) {
    // Of one tick it would swallow the next.
    options.deduplication.reset();
    moved.changes.push_back(
        {"deduplication", "its jobs have a deduplication id, which they do not have here"});
  }
  options.name = !text_of(stored, "name").empty() ? text_of(stored, "name") : text_of(job, "name");
  const auto priority = opts->all.find("priority");
  if (priority != opts->all.end() && priority->is_number())
    options.priority = static_cast<unsigned>(
        std::clamp<std::int64_t>(saturating_int64(priority->get<double>()), 0, kMaxPriority));
  options.lifo = options.priority == 0 && opts->all.contains("lifo") && opts->all["lifo"] == true;
  const auto encoded = job::encode_checked({}, options);
  auto data = text_of(own ? stored : job, "data");
  if (data.empty()) data = "{}";
  // The job of the next tick is there already and counts when that tick comes.
  const auto count = std::max<std::int64_t>(v1_number(text_of(stored, "ic")).value_or(1), 1) - 1;
  moved.fields = {{"def", schedule::definition_of(*schedule)},
                  {"shape", schedule::shape_of(encoded)},
                  {"data", data}};
  if (count > 0) moved.fields.emplace_back("ran", "0:" + std::to_string(count) + ":0:");
  Json rest = Json::object();
  if (moved.id != member) rest["id"] = std::string(member);
  if (!opts->rest.empty()) rest["opts"] = opts->rest;
  if (!rest.empty())
    moved.fields.emplace_back("v1", rest.dump(-1, ' ', false, Json::error_handler_t::replace));
  return moved;
}

}  // namespace echomq::inline v2::migrate
