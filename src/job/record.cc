// SPDX-License-Identifier: MIT
#include "job/record.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "base/number.h"
#include "job/encode.h"
#include "job/reference.h"

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

// Takes the number that `text` begins with and the colon behind it. False: there is none, or it
// does not fit. `may_miss`: no digit is a number too, 0.
template <class N>
bool take_number(std::string_view& text, N& number, bool may_miss = false) {
  const auto* const end = text.data() + text.size();
  const bool digit = !text.empty() && text.front() >= '0' && text.front() <= '9';
  const auto* next = text.data();
  if (digit) {
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc()) return false;
    next = parsed.ptr;
  } else if (!may_miss) {
    return false;
  }
  if (next == end || *next != ':') return false;
  text.remove_prefix(static_cast<std::size_t>(next - text.data()) + 1);
  return true;
}

// Of options as they are stored, which may also name a parent. Nothing that is odd names one.
template <class Job>
void take_opts(Job& job, std::string_view opts) {
  auto stored = decode_stored(opts);
  job.options = std::move(stored.options);
  auto [queue, id] = read_reference(stored.parent);
  if (queue.empty()) return;
  job.parent_queue = std::move(queue);
  job.parent = std::move(id);
}

void take_head(JobInfo& info, std::string_view text) {
  const auto head = read_head(text).value_or(Head{});
  info.added_ms = head.added_ms;
  info.name = head.name;
  take_opts(info, head.opts);
}

void take_runs(JobInfo& info, std::string_view text) {
  const auto runs = read_runs(text).value_or(Runs{});
  info.attempts_started = runs.claims_ended;
  info.attempts_made = runs.attempts_made;
  info.crashes = runs.crashes;
  info.processed_ms = runs.started_ms;
  info.finished_ms = runs.ended_ms;
  info.worker = runs.worker;
}

void read_field(JobInfo& info, std::string_view field, const std::string& value) {
  if (field == "data") info.data = value;
  if (field == "priority") info.options.priority = to_number<unsigned>(value);
  if (field == "lifo") info.options.lifo = value == "1";
  if (field == "delay")
    info.options.delay = std::chrono::milliseconds(to_number<std::int64_t>(value));
  if (field == "run") take_runs(info, value);
  if (field == "progress") info.progress = value;
  if (field == "returnvalue") info.result = value;
  if (field == "failedReason") info.failed_reason = value;
}

}  // namespace

std::optional<Head> read_head(std::string_view text) {
  Head head;
  std::size_t name_bytes = 0;
  if (!take_number(text, head.added_ms) || !take_number(text, name_bytes) ||
      name_bytes > text.size())
    return std::nullopt;
  head.name = text.substr(0, name_bytes);
  head.opts = text.substr(name_bytes);
  return head;
}

std::optional<Runs> read_runs(std::string_view text) {
  Runs runs;
  std::uint64_t token = 0;
  if (!take_number(text, runs.claims_ended) || !take_number(text, runs.attempts_made) ||
      !take_number(text, runs.crashes) || !take_number(text, runs.started_ms) ||
      !take_number(text, runs.ended_ms) || !take_number(text, token, /*may_miss=*/true))
    return std::nullopt;
  runs.worker = text;
  return runs;
}

std::optional<LoadedJob> read_loaded(std::string id, wire::Reply reply) {
  if (reply.items.size() != kLoadFields.size() || reply.items[0].is_null()) return std::nullopt;
  auto& field = reply.items;
  LoadedJob job;
  job.id = std::move(id);
  // What is odd reads as absent: a job must not be lost over it.
  const auto head = read_head(field[0].text).value_or(Head{});
  job.name = head.name;
  take_opts(job, head.opts);
  job.added_ms = head.added_ms;
  job.data = std::move(field[1].text);
  const auto runs = read_runs(field[2].text).value_or(Runs{});
  job.attempts_made = runs.attempts_made;
  job.attempts_started = runs.claims_ended;
  job.crashes = runs.crashes;
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
    if (reply.items[i].text == "head") take_head(info, reply.items[i + 1].text);
  for (std::size_t i = 2; i + 1 < reply.items.size(); i += 2)
    read_field(info, reply.items[i].text, reply.items[i + 1].text);
  if (info.state == JobState::delayed) info.due_ms = to_number<std::int64_t>(reply.items[1].text);
  return info;
}

}  // namespace job
}  // namespace echomq::inline v2
