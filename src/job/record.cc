// SPDX-License-Identifier: MIT
#include "job/record.h"

#include <utility>

#include "base/number.h"
#include "job/encode.h"

namespace echomq::inline v2 {

std::string_view name(JobState state) noexcept {
  switch (state) {
    case JobState::waiting: return "waiting";
    case JobState::prioritized: return "prioritized";
    case JobState::delayed: return "delayed";
    case JobState::active: return "active";
    case JobState::completed: return "completed";
    case JobState::failed: return "failed";
    case JobState::waiting_children: return "waiting-children";
  }
  return "unknown";
}

namespace detail {

Error no_result(JobState state, std::string_view failed_reason) {
  const std::string word(name(state));
  Error error{ErrorCode::wrong_state,
              "only a completed job has a result, and this one is " + word,
              {{"state", word}, {"expected", std::string(name(JobState::completed))}}};
  if (state != JobState::failed) return error;
  error.detail = "the job failed: " + std::string(failed_reason);
  error.fields.emplace_back("reason", failed_reason);
  return error;
}

}  // namespace detail

namespace job {
namespace {

JobState state_of(std::string_view word) {
  for (const auto state : {JobState::prioritized, JobState::delayed, JobState::active,
                           JobState::completed, JobState::failed, JobState::waiting_children})
    if (word == name(state)) return state;
  return JobState::waiting;
}

void read_field(JobInfo& info, std::string_view field, const std::string& value) {
  if (field == "name") info.name = value;
  if (field == "data") info.data = value;
  if (field == "timestamp") info.added_ms = to_number<std::int64_t>(value);
  if (field == "priority") info.options.priority = to_number<unsigned>(value);
  if (field == "lifo") info.options.lifo = value == "1";
  if (field == "delay")
    info.options.delay = std::chrono::milliseconds(to_number<std::int64_t>(value));
  if (field == "atm") info.attempts_made = to_number<unsigned>(value);
  if (field == "ats") info.attempts_started = to_number<unsigned>(value);
  if (field == "stc") info.crashes = to_number<unsigned>(value);
  if (field == "processedOn") info.processed_ms = to_number<std::int64_t>(value);
  if (field == "finishedOn") info.finished_ms = to_number<std::int64_t>(value);
  if (field == "pb") info.worker = value;
  if (field == "progress") info.progress = value;
  if (field == "returnvalue") info.result = value;
  if (field == "failedReason") info.failed_reason = value;
}

}  // namespace

std::optional<LoadedJob> read_loaded(std::string id, wire::Reply reply) {
  if (reply.items.size() != kLoadFields.size() || reply.items[0].is_null()) return std::nullopt;
  auto& field = reply.items;
  LoadedJob job;
  job.id = std::move(id);
  job.name = std::move(field[0].text);
  job.data = std::move(field[1].text);
  job.options = decode_opts(field[2].text);
  job.added_ms = to_number<std::int64_t>(field[3].text);
  job.attempts_made = to_number<unsigned>(field[4].text);
  job.attempts_started = to_number<unsigned>(field[5].text);
  job.crashes = to_number<unsigned>(field[6].text);
  return job;
}

std::optional<JobInfo> read_info(std::string_view queue, std::string_view id,
                                 const wire::Reply& reply) {
  if (reply.items.size() < 2) return std::nullopt;
  JobInfo info;
  info.queue = queue;
  info.id = id;
  info.state = state_of(reply.items[0].text);
  // The options first: single fields of the hash refine them.
  for (std::size_t i = 2; i + 1 < reply.items.size(); i += 2)
    if (reply.items[i].text == "opts") info.options = decode_opts(reply.items[i + 1].text);
  for (std::size_t i = 2; i + 1 < reply.items.size(); i += 2)
    read_field(info, reply.items[i].text, reply.items[i + 1].text);
  if (info.state == JobState::delayed) info.due_ms = to_number<std::int64_t>(reply.items[1].text);
  return info;
}

}  // namespace job
}  // namespace echomq::inline v2
