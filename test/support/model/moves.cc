// SPDX-License-Identifier: MIT
// What is done to jobs from outside, and looks.
#include <algorithm>

#include "support/model/queue_model.h"

namespace echomq::test {
namespace {

std::string shown_scores(const std::vector<std::pair<std::string, std::int64_t>>& entries) {
  Ids all;
  for (const auto& [id, score] : entries) all.insert(all.end(), {id, std::to_string(score)});
  return bracketed(all);
}

template <class Container>
std::string size_of(const Container& container) {
  return std::to_string(container.size());
}

}  // namespace

// ---- time and place ----

std::string QueueModel::promote(const std::vector<Seen>& items) {
  Ids statuses;
  Ids told;
  for (const auto& [id, due] : items) {
    const auto found = delayed.find(id);
    if (found == delayed.end() || std::to_string(found->second) != due || found->second > now) {
      statuses.emplace_back("moved");
      continue;
    }
    delayed.erase(found);
    auto* const job = find(id);
    statuses.emplace_back(job == nullptr ? "gone" : "ok");
    if (job == nullptr) continue;
    told.push_back(id);
    end_delay(id);
  }
  const auto next = delayed.empty() ? 0 : in_order(delayed).front().second;
  if (next != 0) wake_at(next);
  tell({{"promoted", told}});
  return bracketed({bracketed(statuses), std::to_string(next)});
}

// A job with a priority that was never ready gets its place now.
void QueueModel::end_delay(const std::string& id) {
  auto& job = jobs.at(id);
  job.delay = 0;
  if (job.priority > 0 && !job.place) take_place(job);
  get_ready_by_itself(id);
}

std::string QueueModel::reschedule(const std::vector<Delay>& items) {
  Ids statuses;
  Ids promoted;
  Ids later;
  for (const auto& [id, delay] : items) {
    auto* const job = trash.contains(id) ? nullptr : find(id);
    const bool is_delayed = delayed.contains(id);
    statuses.emplace_back(job == nullptr ? "gone" : is_delayed ? "ok" : "state");
    if (job == nullptr) delayed.erase(id);
    if (job == nullptr || !is_delayed) continue;
    if (delay == 0) {
      delayed.erase(id);
      end_delay(id);
      promoted.push_back(id);
    } else {
      job->delay = delay;
      delayed[id] = now + delay;
      wake_at(now + delay);
      later.push_back(id);
    }
  }
  tell({{"promoted", promoted}, {"delayed", later}});
  return bracketed(statuses);
}

std::string QueueModel::prioritize(const Ids& ids, unsigned priority, std::int64_t seen) {
  Ids statuses;
  Ids told;
  for (const auto& id : ids) {
    auto* const job = trash.contains(id) ? nullptr : find(id);
    const bool has_ended = completed.contains(id) || failed.contains(id);
    statuses.emplace_back(job == nullptr ? "gone" : has_ended ? "state" : "ok");
    if (statuses.back() != "ok" || job->priority == priority) continue;
    const bool is_suspect = std::ranges::find(crashed, id) != crashed.end();
    const bool is_out =
        active.contains(id) || delayed.contains(id) || waiting_children.contains(id);
    const bool is_ready = !is_suspect && !is_out;
    if (is_ready && prioritized.erase(id) == 0) {
      const auto at = find_in_line(id, seen);
      if (!at) {
        statuses.back() = "moved";
        continue;
      }
      drop_from_line(*at);
    }
    job->priority = priority;
    job->place.reset();
    // One that waits for a time or for children gets its place when it is ready.
    if (priority > 0 && !delayed.contains(id) && !waiting_children.contains(id)) take_place(*job);
    if (is_ready) get_ready_by_itself(id);
    told.push_back(id);
  }
  tell({{"prioritized", told}});
  return bracketed(statuses);
}

std::string QueueModel::retry_finished(const Ids& ids, const RetryOfFinished& how) {
  Ids statuses;
  Ids told;
  Ids sent;
  for (const auto& id : ids) {
    auto* const job = trash.contains(id) ? nullptr : find(id);
    const bool is_taken =
        (completed.contains(id) && how.completed) || (failed.contains(id) && how.failed);
    statuses.emplace_back(job == nullptr ? "gone" : is_taken ? "ok" : "state");
    if (statuses.back() == "state" || trash.contains(id)) continue;
    leave_finished(id);
    if (job == nullptr) continue;
    const auto before = job->run.value_or(ModelRun{});
    job->run = {.claims = before.claims,
                .attempts = how.reset_attempts ? 0 : before.attempts,
                .crashes = before.crashes};
    job->returnvalue.reset();
    job->failed_reason.reset();
    job->failed_by.reset();
    job->fails.reset();
    job->progress.reset();
    job->delay.reset();
    if (job->priority > 0) take_place(*job);
    get_ready_by_itself(id);
    // It does not own again what it owned until its end.
    const auto owned = de.find(job->deid);
    if (owned != de.end() && owned->second.owner == id && owned->second.until == 0 &&
        !owned->second.kept) {
      de_due.erase(job->deid);
      de.erase(owned);
    }
    reopen(id, sent);
    told.push_back(id);
  }
  tell({{"retried", told}});
  return sent.empty() ? bracketed(statuses) : bracketed({bracketed(statuses), bracketed(sent)});
}

// ---- removing ----

std::string QueueModel::remove(const Ids& ids, const RemoveWhere& where) {
  Ids statuses;
  Ids told;
  Ids kept;
  Ids sent;
  std::size_t left = 0;
  for (const auto& id : ids) {
    auto* const job = find(id);
    const std::string state = active.contains(id)             ? "active"
                              : prioritized.contains(id)      ? "prioritized"
                              : delayed.contains(id)          ? "delayed"
                              : completed.contains(id)        ? "completed"
                              : failed.contains(id)           ? "failed"
                              : waiting_children.contains(id) ? "waiting-children"
                                                              : "waiting";
    // As old as its end, or as its add.
    const auto age = completed.contains(id) ? completed.at(id)
                     : failed.contains(id)  ? failed.at(id)
                     : job != nullptr       ? job->added
                                            : 0;
    const bool is_other = !where.state.empty() && where.state != state;
    const bool is_younger = !where.before.empty() && age > std::stoll(where.before);
    statuses.emplace_back(job == nullptr ? "gone" : "ok");
    if (trash.contains(id)) {
      statuses.back() = "gone";
      continue;
    }
    if (job != nullptr && !where.of.empty() && !job->edge.ends_with(":" + where.of)) {
      statuses.back() = "state";
      continue;
    }
    if (state == "active" && where.state != "active") {
      statuses.back() = "lock";
      continue;
    }
    if (is_other || is_younger) {
      if (job != nullptr) statuses.back() = "state";
      continue;
    }
    if (state == "waiting" && std::erase(crashed, id) == 0) {
      const auto at = find_in_line(id, where.seen);
      if (!at && job != nullptr && where.seen != -2) {
        statuses.back() = "moved";
        continue;
      }
      if (at) drop_from_line(*at);
    }
    left += active.erase(id);
    for (auto* const set : {&prioritized, &delayed, &waiting_children}) set->erase(id);
    leave_finished(id);
    const auto deid = job == nullptr ? std::string() : job->deid;
    const bool has_ended = state == "completed" || state == "failed";
    if (job != nullptr && !has_ended)
      report(id, job->edge, 'f', "removed before its end", sent, where.told_in);
    forget(id);
    if (job == nullptr) continue;
    told.push_back(id);
    const auto owned = de.find(deid);
    if (owned == de.end() || owned->second.owner != id) continue;
    if (owned->second.kept) {
      kept.insert(kept.end(), {deid, id, owned->second.kept->id});
    } else {
      de_due.erase(deid);
      de.erase(owned);
    }
  }
  free_slots(left);
  tell({{"removed", told}});
  Ids answer{bracketed(statuses), bracketed(kept)};
  if (!sent.empty()) answer.push_back(bracketed(sent));
  return bracketed(answer);
}

std::string QueueModel::evict(const Ids& ids, const std::set<std::string>& declared) {
  Ids statuses;
  for (const auto& id : ids) {
    const bool is_deletable = declared.contains(id) || !subkeys.contains(id);
    const bool is_deleted = trash.contains(id) && is_deletable;
    statuses.emplace_back(is_deleted ? "ok" : "moved");
    if (!is_deleted) continue;
    trash.erase(id);
    forget(id);
  }
  // Its rules have no bytes.
  const auto but_bytes = [](Retention keep) {
    keep.bytes = 0;
    return keep;
  };
  auto evicted = take_over(completed, sizes_completed, but_bytes(keep_completed));
  const auto more = take_over(failed, sizes_failed, but_bytes(keep_failed));
  evicted.insert(evicted.end(), more.begin(), more.end());
  trash.insert(evicted.begin(), evicted.end());
  return bracketed({bracketed(statuses), blank_joined(evicted), bracketed(with_subkeys(evicted))});
}

// ---- data and lines ----

std::string QueueModel::update(const std::string& id, const std::string& data,
                               const std::string& token) {
  auto* const job = trash.contains(id) ? nullptr : find(id);
  if (job == nullptr) return "[gone]";
  if (!token.empty() && !is_held({.id = id, .token = std::stoull(token)})) return "[stale]";
  job->data = data;
  return "[ok]";
}

std::string QueueModel::log(const std::vector<LogLine>& lines, unsigned keep) {
  Ids statuses;
  for (const auto& [id, line, token] : lines) {
    const bool is_there = !trash.contains(id) && jobs.contains(id);
    const bool is_ours = token.empty() || is_held({.id = id, .token = std::stoull(token)});
    statuses.emplace_back(!is_there ? "gone" : is_ours ? "ok" : "stale");
    if (statuses.back() != "ok") continue;
    subkeys.insert(id);
    logs[id].push_back(line);
    while (logs[id].size() > keep) logs[id].pop_front();
  }
  return bracketed(statuses);
}

std::string QueueModel::read_logs(const std::string& id, int first, int last) {
  if (trash.contains(id) || !jobs.contains(id)) return "[]";
  const auto& lines = logs[id];
  Ids answer{size_of(lines)};
  const auto end = last < 0 ? static_cast<int>(lines.size()) : last + 1;
  for (int i = first; i < end && i < static_cast<int>(lines.size()); ++i)
    answer.push_back(lines[static_cast<std::size_t>(i)]);
  return bracketed(answer);
}

// ---- looks ----

std::string QueueModel::counts() {
  const auto ghosts = static_cast<std::size_t>(std::ranges::count(wait, ""));
  return bracketed({std::to_string(wait.size() - ghosts + crashed.size()), size_of(prioritized),
                    size_of(active), size_of(delayed), size_of(completed), size_of(failed),
                    size_of(waiting_children), size_of(trash), paused ? "1" : "0",
                    limits ? "1" : "0"});
}

std::string QueueModel::read(const std::string& id) {
  if (trash.contains(id) || !jobs.contains(id)) return "[]";
  Ids answer{"waiting", "0"};
  const std::vector<std::pair<std::string, const Scores*>> states{
      {"active", &active},       {"delayed", &delayed}, {"prioritized", &prioritized},
      {"completed", &completed}, {"failed", &failed},   {"waiting-children", &waiting_children}};
  for (const auto& [state, set] : states)
    if (const auto found = set->find(id); found != set->end())
      answer = {state, std::to_string(found->second)};
  for (const auto& [field, value] : fields_of(jobs.at(id)))
    answer.insert(answer.end(), {field, value});
  return bracketed(answer);
}

const Scores& QueueModel::scores_at(const std::string& key) const {
  for (const auto& [at, set] :
       {std::pair(&keys.prioritized, &prioritized), std::pair(&keys.active, &active),
        std::pair(&keys.delayed, &delayed), std::pair(&keys.completed, &completed),
        std::pair(&keys.waiting_children, &waiting_children)})
    if (*at == key) return *set;
  return failed;
}

std::string QueueModel::page(const std::string& set, bool descending, const Seen& from,
                             unsigned limit) {
  auto entries = in_order(scores_at(set));
  if (descending) std::ranges::reverse(entries);
  if (!from.id.empty()) {
    const std::pair seen(std::stoll(from.score), from.id);
    std::erase_if(entries, [&](const auto& entry) {
      const std::pair at(static_cast<long long>(entry.second), entry.first);
      return descending ? at >= seen : at <= seen;
    });
  }
  if (entries.size() > limit) entries.resize(limit);
  return shown_scores(entries);
}

std::string QueueModel::line(const std::string& list, bool descending, std::int64_t seen,
                             const Ids& passed, unsigned limit) {
  const auto& entries = list == keys.wait ? wait : crashed;
  const auto length = static_cast<std::int64_t>(entries.size());
  const std::int64_t step = descending ? -1 : 1;
  std::int64_t at = seen < 0 ? length - 1 : seen;
  std::string behind;
  for (const auto& id : passed) {
    const auto found = std::ranges::find(entries, id);
    if (found == entries.end()) continue;
    behind = id;
    at = found - entries.begin() + step;
    break;
  }
  if (!passed.empty() && behind.empty()) return "[]";
  if (descending) at = std::min(at, length - 1);
  const auto goes_on = [&] { return at >= 0 && at < length; };
  Ids answer{std::to_string(at), behind, "0"};
  for (unsigned taken = 0; taken < limit && goes_on(); at += step) {
    const auto& id = entries[static_cast<std::size_t>(at)];
    answer.push_back(id);
    if (!id.empty()) ++taken;
  }
  if (goes_on()) answer[2] = "1";
  return bracketed(answer);
}

std::string QueueModel::priorities(unsigned from, unsigned limit) {
  std::map<unsigned, int> of;
  for (const auto& [id, score] : prioritized) ++of[static_cast<unsigned>(score >> 32)];
  Ids answer;
  for (const auto& [priority, count] : of)
    if (priority >= from && limit > 0) {
      --limit;
      answer.insert(answer.end(), {std::to_string(priority), std::to_string(count)});
    }
  return bracketed(answer);
}

}  // namespace echomq::test
