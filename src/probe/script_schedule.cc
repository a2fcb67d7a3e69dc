// SPDX-License-Identifier: MIT
// The calls of ScriptQueue that concern schedulers.
#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

Reply ScriptQueue::put_scheduler(const SchedulerToPut& scheduler_to_put) {
  const auto& s = scheduler_to_put;
  const auto hash = scheduler(s.id);
  const auto seen = s.seen.value_or(redis_({"HGET", hash, "ran"}).text);
  return call(ScriptCall::of<scripts::SchedulePut>(
      {.meta = keys.meta, .schedules = keys.schedules, .marker = keys.marker, .schedule = hash},
      {.revision = revision,
       .id = s.id,
       .def = s.def,
       .seen = seen,
       .next = s.next,
       .shape = s.shape,
       .data = s.data}));
}

Reply ScriptQueue::fire(const std::vector<FireStep>& steps) {
  using Script = scripts::ScheduleFire;
  auto out =
      ScriptCall::of<Script>(keys, {.revision = revision, .now = now, .count = steps.size()});
  for (const auto& step : steps) {
    const auto hash = scheduler(step.id);
    const auto seen = step.seen ? *step.seen : redis_({"ZSCORE", keys.schedules, step.id}).text;
    const auto def = step.def ? *step.def : redis_({"HGET", hash, "def"}).text;
    out.put_keys(
        Script::ItemKeys{.schedule = hash,
                         .last = step.last_job.empty() ? hash : job(step.last_job),
                         .job = step.tick.empty() ? hash : job(step.id + "." + step.tick)});
    out.put_args(Script::ItemArgs{.id = step.id,
                                  .def = def,
                                  .seen = seen,
                                  .tick = step.tick,
                                  .next = step.next,
                                  .skipped = step.skipped,
                                  .last_job = step.last_job});
  }
  return call(out);
}

Reply ScriptQueue::pause_scheduler(const std::string& id, bool paused, const std::string& next,
                                   const std::optional<std::string>& seen,
                                   const std::optional<std::string>& def) {
  const auto hash = scheduler(id);
  const auto ran = seen ? *seen : redis_({"HGET", hash, "ran"}).text;
  const auto stored = def ? *def : redis_({"HGET", hash, "def"}).text;
  return call(ScriptCall::of<scripts::SchedulePause>(
      {.meta = keys.meta, .schedules = keys.schedules, .marker = keys.marker, .schedule = hash},
      {.revision = revision,
       .id = id,
       .paused = paused,
       .def = stored,
       .seen = ran,
       .next = next}));
}

Reply ScriptQueue::remove_schedulers(const std::vector<std::string>& ids) {
  using Script = scripts::ScheduleRemove;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision, .count = ids.size()});
  for (const auto& id : ids) {
    out.put_keys(Script::ItemKeys{.schedule = scheduler(id)});
    out.put_args(Script::ItemArgs{.id = id});
  }
  return call(out);
}

Reply ScriptQueue::read_scheduler(const std::string& id) {
  const auto hash = scheduler(id);
  return call(ScriptCall::of<scripts::ScheduleRead>(
      {.meta = keys.meta, .schedules = keys.schedules, .schedule = hash},
      {.revision = revision, .id = id}));
}

}  // namespace echomq::inline v2::probe
