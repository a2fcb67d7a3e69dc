// SPDX-License-Identifier: MIT
// Schedulers: what they were put as, and the jobs of their ticks.
#include <algorithm>
#include <utility>

#include "support/model/queue_model.h"

namespace echomq::test {
namespace {

// No two clocks are further apart: what lies further ahead is left of one that was set back.
constexpr std::int64_t kClocksApart = 3'600'000;

// "<start>:<limit>" of a schedule.
std::string counted_by(const std::string& def) {
  Ids parts;
  std::string part;
  for (const char c : def + ":") {
    if (c != ':') {
      part += c;
      continue;
    }
    parts.push_back(std::exchange(part, {}));
  }
  return parts.size() > 3 ? parts[0] + ":" + parts[2] : "";
}

std::string next_text(const ModelScheduler& scheduler) {
  return scheduler.next ? std::to_string(*scheduler.next) : "";
}

// "<priority>:<lifo>:<bytes of name>:<name><opts>"
JobToAdd job_of(const ModelScheduler& scheduler, const std::string& id) {
  const auto& shape = scheduler.shape;
  const auto first = shape.find(':');
  const auto second = shape.find(':', first + 1);
  const auto third = shape.find(':', second + 1);
  const auto bytes = std::stoul(shape.substr(second + 1));
  return {.id = id,
          .priority = static_cast<unsigned>(std::stoul(shape)),
          .lifo = shape[first + 1] == '1',
          .name = shape.substr(third + 1, bytes),
          .data = scheduler.data,
          .opts = shape.substr(third + 1 + bytes)};
}

}  // namespace

std::string ran_text(const ModelScheduler& scheduler) {
  if (!scheduler.ran) return "";
  const auto& ran = *scheduler.ran;
  return std::to_string(ran.last) + ":" + std::to_string(ran.made) + ":" +
         std::to_string(ran.skipped) + ":" + ran.job;
}

void QueueModel::mark_tick(std::int64_t at) {
  const auto [mark, is_new] = marker.emplace("3", at);
  if (!is_new) mark->second = std::min(mark->second, at);
}

std::string QueueModel::put_scheduler(const SchedulerToPut& put) {
  const auto found = schedulers.find(put.id);
  const bool is_there = found != schedulers.end();
  const auto before = is_there ? found->second : ModelScheduler{};
  const auto answer = [&](const std::string& status, const std::string& next) {
    return bracketed({"[" + status + "]", before.def, ran_text(before), next});
  };
  const bool stays = is_there && before.def == put.def;
  if (stays && before.shape == put.shape && before.data == put.data)
    return answer("done", next_text(before));
  if (!stays && ran_text(before) != *put.seen) return answer("moved", "");
  auto& scheduler = schedulers[put.id];
  scheduler.def = put.def;
  scheduler.shape = put.shape;
  scheduler.data = put.data;
  if (stays) return answer("ok", next_text(scheduler));
  if (scheduler.ran && counted_by(before.def) != counted_by(put.def)) scheduler.ran->made = 0;
  scheduler.next.reset();
  if (!put.next.empty() && !scheduler.paused) {
    scheduler.next = std::stoll(put.next);
    mark_tick(*scheduler.next);
  }
  return answer("ok", next_text(scheduler));
}

std::string QueueModel::fire(const std::vector<FireStep>& steps) {
  Ids statuses;
  Ids added;
  auto room = room_left();
  for (const auto& step : steps) {
    auto& status = statuses.emplace_back("ok");
    const auto found = schedulers.find(step.id);
    if (found == schedulers.end()) {
      status = "gone";
      continue;
    }
    auto& scheduler = found->second;
    const auto ran = scheduler.ran.value_or(ModelRan{});
    const auto id = step.id + "." + step.tick;
    const auto tick = step.tick.empty() ? 0 : std::stoll(step.tick);
    const bool is_behind = tick <= ran.last && ran.last <= now + kClocksApart;
    if (next_text(scheduler) != *step.seen || !scheduler.next || *scheduler.next > now ||
        scheduler.def != *step.def || (tick != 0 && (tick > now || is_behind)) ||
        (!step.last_job.empty() && step.last_job != ran.job)) {
      status = "moved";
      continue;
    }
    const auto& last = step.last_job;
    const bool is_over = !jobs.contains(last) || completed.contains(last) ||
                         failed.contains(last) || trash.contains(last);
    if (tick == 0) {
    } else if (jobs.contains(id) || trash.contains(id)) {
      status = "dup";
    } else if (!last.empty() && !is_over) {
      status = "lock";
    } else if (room && (*room)-- <= 0) {
      status = "full";
    } else {
      store(job_of(scheduler, id));
      added.push_back(id);
    }
    auto& after = scheduler.ran.emplace(ran);
    after.skipped += step.skipped + (status == "lock" || status == "full" ? 1 : 0);
    after.last = tick == 0 ? *scheduler.next : tick;
    if (tick != 0 && (status == "ok" || status == "dup")) {
      ++after.made;
      after.job = id;
    }
    scheduler.next.reset();
    if (!step.next.empty()) scheduler.next = std::stoll(step.next);
  }
  line_up(added);
  std::optional<std::int64_t> earliest;
  for (const auto& [id, scheduler] : schedulers)
    if (scheduler.next && *scheduler.next > now)
      earliest = std::min(earliest.value_or(*scheduler.next), *scheduler.next);
  if (earliest) mark_tick(*earliest);
  tell({{"added", added}});
  return bracketed({bracketed(statuses), std::to_string(earliest.value_or(0))});
}

std::string QueueModel::pause_scheduler(const std::string& id, bool pause, const std::string& next,
                                        const std::optional<std::string>& seen,
                                        const std::optional<std::string>& def) {
  const auto found = schedulers.find(id);
  if (found == schedulers.end()) return bracketed({"[gone]", "", "", ""});
  auto& scheduler = found->second;
  const auto answer = [&scheduler](const std::string& status, const std::string& at) {
    return bracketed({"[" + status + "]", scheduler.def, ran_text(scheduler), at});
  };
  if (scheduler.paused == pause) return answer("done", next_text(scheduler));
  if (!pause && (scheduler.def != *def || ran_text(scheduler) != *seen)) return answer("moved", "");
  scheduler.paused = pause;
  scheduler.next.reset();
  if (!pause && !next.empty()) {
    scheduler.next = std::stoll(next);
    mark_tick(*scheduler.next);
  }
  return answer("ok", next_text(scheduler));
}

std::string QueueModel::remove_schedulers(const Ids& ids) {
  Ids statuses;
  for (const auto& id : ids) statuses.push_back(schedulers.contains(id) ? "ok" : "gone");
  for (const auto& id : ids) schedulers.erase(id);
  return bracketed(statuses);
}

std::string QueueModel::read_scheduler(const std::string& id) {
  const auto found = schedulers.find(id);
  if (found == schedulers.end()) return "[]";
  Ids answer{found->second.next ? next_text(found->second) : "inf"};
  for (const auto& [field, value] : fields_of(found->second))
    answer.insert(answer.end(), {field, value});
  return bracketed(answer);
}

std::map<std::string, std::string> fields_of(const ModelScheduler& scheduler) {
  std::map<std::string, std::string> fields{
      {"def", scheduler.def}, {"shape", scheduler.shape}, {"data", scheduler.data}};
  if (scheduler.ran) fields["ran"] = ran_text(scheduler);
  if (scheduler.paused) fields["paused"] = "1";
  return fields;
}

}  // namespace echomq::test
