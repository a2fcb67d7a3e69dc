// SPDX-License-Identifier: MIT
// The calls of ScriptQueue that read and move jobs from outside.
#include "fence/repair_call.h"
#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

Reply ScriptQueue::reschedule(const std::vector<Delay>& items) {
  using Script = scripts::JobReschedule;
  auto out =
      ScriptCall::of<Script>(keys, {.revision = revision, .now = now, .count = items.size()});
  for (const auto& item : items) {
    out.put_keys(Script::ItemKeys{.job = job(item.id)});
    out.put_args(Script::ItemArgs{.id = item.id, .delay = item.delay});
  }
  return call(out);
}

Reply ScriptQueue::prioritize(const std::vector<std::string>& ids, unsigned priority,
                              std::int64_t seen) {
  using Script = scripts::JobPrioritize;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision, .now = now, .count = ids.size()});
  for (const auto& id : ids) {
    out.put_keys(Script::ItemKeys{.job = job(id)});
    out.put_args(Script::ItemArgs{.id = id, .priority = priority, .seen = seen});
  }
  return call(out);
}

Reply ScriptQueue::remove(const std::vector<std::string>& ids, const RemoveWhere& where) {
  using Script = scripts::JobRemove;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .count = ids.size(),
                                           .from = where.state,
                                           .before = where.before,
                                           .told = now + where.told_in,
                                           .of = where.of});
  for (const auto& id : ids) {
    const SubKeys sub(name_, id);
    out.put_keys(Script::ItemKeys{.job = job(id),
                                  .logs = sub.logs,
                                  .dependencies = sub.dependencies,
                                  .processed = sub.processed,
                                  .failed_children = sub.failed,
                                  .unsuccessful = sub.unsuccessful,
                                  .checkpoint = sub.checkpoint});
    out.put_args(Script::ItemArgs{.id = id, .seen = where.seen});
  }
  return call(out);
}

Reply ScriptQueue::retry_finished(const std::vector<std::string>& ids, const RetryOfFinished& how) {
  using Script = scripts::JobRetryFinished;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .count = ids.size(),
                                           .take_completed = how.completed,
                                           .take_failed = how.failed,
                                           .reset_attempts = how.reset_attempts});
  for (const auto& id : ids) {
    out.put_keys(Script::ItemKeys{.job = job(id)});
    out.put_args(Script::ItemArgs{.id = id});
  }
  return call(out);
}

Reply ScriptQueue::update(const std::string& id, const std::string& data,
                          const std::string& token) {
  using Script = scripts::JobUpdate;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision, .count = 1});
  out.put_keys(Script::ItemKeys{.job = job(id)});
  out.put_args(Script::ItemArgs{.id = id, .token = token, .data = data});
  return call(out);
}

Reply ScriptQueue::log(const std::vector<LogLine>& lines, unsigned keep) {
  using Script = scripts::JobLog;
  auto out =
      ScriptCall::of<Script>(keys, {.revision = revision, .count = lines.size(), .keep = keep});
  for (const auto& line : lines) {
    out.put_keys(Script::ItemKeys{.job = job(line.id), .logs = job_key(name_, line.id, Sub::logs)});
    out.put_args(Script::ItemArgs{.id = line.id, .token = line.token, .line = line.line});
  }
  return call(out);
}

Reply ScriptQueue::read_logs(const std::string& id, int first, int last) {
  const auto hash = job(id);
  const auto logs = job_key(name_, id, Sub::logs);
  return call(ScriptCall::of<scripts::JobReadLogs>(
      {.meta = keys.meta, .trash = keys.trash, .job = hash, .logs = logs},
      {.revision = revision, .id = id, .first = first, .last = last}));
}

Reply ScriptQueue::page(const std::string& set, bool descending, const Seen& from, unsigned limit) {
  return call(
      ScriptCall::of<scripts::QueuePage>({.meta = keys.meta, .set = set}, {.revision = revision,
                                                                           .descending = descending,
                                                                           .score = from.score,
                                                                           .id = from.id,
                                                                           .limit = limit}));
}

Reply ScriptQueue::line(const std::string& list, bool descending, std::int64_t seen,
                        const std::vector<std::string>& passed, unsigned limit) {
  using Script = scripts::QueueLine;
  auto out = ScriptCall::of<Script>({.meta = keys.meta, .line = list}, {.revision = revision,
                                                                        .descending = descending,
                                                                        .seen = seen,
                                                                        .limit = limit,
                                                                        .count = passed.size()});
  for (const auto& id : passed) out.put_args(Script::ItemArgs{.id = id});
  return call(out);
}

Reply ScriptQueue::priorities(unsigned from, unsigned limit) {
  return call(ScriptCall::of<scripts::QueuePriorities>(
      keys, {.revision = revision, .from = from, .limit = limit}));
}

Reply ScriptQueue::pause(bool paused) {
  return call(ScriptCall::of<scripts::QueuePause>(
      keys, {.revision = revision, .now = now, .paused = paused}));
}

Reply ScriptQueue::repair() { return call(fence::repair_call(keys, name_, revision, now)); }

Reply ScriptQueue::obliterate(bool all, std::size_t outbox) {
  return call(ScriptCall::of<scripts::QueueObliterate>(
      keys, {.revision = revision, .now = now, .all = all, .outbox = outbox}));
}

Reply ScriptQueue::keep_metrics(std::int64_t minutes) {
  return call(
      ScriptCall::of<scripts::QueueKeepMetrics>(keys, {.revision = revision, .minutes = minutes}));
}

Reply ScriptQueue::metrics(bool completed, std::int64_t from, std::int64_t count) {
  return call(ScriptCall::of<scripts::QueueMetrics>(
      {.meta = keys.meta, .metrics = completed ? keys.metrics_completed : keys.metrics_failed},
      {.revision = revision, .from = from, .count = count}));
}

Reply ScriptQueue::limit(const LimitsToSet& limits) {
  return call(ScriptCall::of<scripts::QueueLimit>(keys, {.revision = revision,
                                                         .concurrency = limits.concurrency,
                                                         .max = limits.max,
                                                         .duration = limits.duration,
                                                         .burst = limits.burst,
                                                         .length = limits.length}));
}

Reply ScriptQueue::hold(std::int64_t duration) {
  return call(ScriptCall::of<scripts::QueueHold>(
      keys, {.revision = revision, .now = now, .duration = duration}));
}

Reply ScriptQueue::gate() {
  return call(ScriptCall::of<scripts::QueueGate>(keys, {.revision = revision, .now = now}));
}

}  // namespace echomq::inline v2::probe
