// SPDX-License-Identifier: MIT
#include "queue/logs.h"

#include <algorithm>
#include <utility>

#include "base/bad_option.h"
#include "echomq_scripts.h"
#include "queue/ask.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {

Result<void> append_log(QueueCore& queue, std::string_view id, std::optional<std::uint64_t> token,
                        const std::string& line) {
  using Transition = scripts::JobLog;
  if (queue.name_error()) return *queue.name_error();
  if (auto ok = check_any_job_id(id); !ok) return ok.error();
  if (line.size() > kMaxLogLineBytes)
    return Error{
        ErrorCode::too_large,
        "a log line of " + std::to_string(line.size()) + " bytes; the limit is " +
            std::to_string(kMaxLogLineBytes),
        {{"value", std::to_string(line.size())}, {"expected", std::to_string(kMaxLogLineBytes)}}};
  auto call = ScriptCall::of<Transition>(
      queue.keys(), {.revision = scripts::kRevision, .count = 1, .keep = kMaxLogLines});
  const auto shown = token ? std::to_string(*token) : std::string();
  call.put_keys(Transition::ItemKeys{.job = job_key(queue.name(), id),
                                     .logs = job_key(queue.name(), id, Sub::logs)});
  call.put_args(Transition::ItemArgs{.id = id, .token = shown, .line = line});
  const auto reply = ask(queue, std::move(call));
  if (!reply) return reply.error();
  const auto status = reply->items.empty() ? std::string() : reply->items[0].text;
  return write_result(status, queue.name(), id, "the line was not written");
}

Result<JobLogs> read_logs(QueueCore& queue, std::string_view id, const LogOptions& options) {
  if (queue.name_error()) return *queue.name_error();
  if (auto ok = check_any_job_id(id); !ok) return ok.error();
  if (options.limit == 0 || options.limit > kMaxLogLines)
    return bad_option("limit", std::to_string(options.limit),
                      "1 to " + std::to_string(kMaxLogLines));
  const auto job = job_key(queue.name(), id);
  const auto logs = job_key(queue.name(), id, Sub::logs);
  // More than are ever kept is the same as all; beyond that a sum could overflow.
  const auto most = static_cast<std::int64_t>(kMaxLogLines);
  const auto first = std::clamp(options.first, -most, most);
  auto last = first + static_cast<std::int64_t>(options.limit) - 1;
  if (first < 0) last = std::min<std::int64_t>(last, -1);
  auto reply = ask(
      queue, ScriptCall::of<scripts::JobReadLogs>(
                 {.meta = queue.keys().meta, .trash = queue.keys().trash, .job = job, .logs = logs},
                 {.revision = scripts::kRevision, .id = id, .first = first, .last = last}));
  if (!reply) return reply.error();
  if (reply->items.empty()) return no_such_job(queue.name(), id);
  JobLogs found;
  found.count = wire::number_of(reply->items[0]);
  for (std::size_t i = 1; i < reply->items.size(); ++i)
    found.lines.push_back(std::move(reply->items[i].text));
  return found;
}

}  // namespace echomq::inline v2
