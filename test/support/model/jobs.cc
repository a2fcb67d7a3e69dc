// SPDX-License-Identifier: MIT
// Adding jobs, claiming them, and the ends of claims.
#include <algorithm>
#include <ranges>
#include <stdexcept>

#include "protocol/lease.h"
#include "support/model/queue_model.h"

namespace echomq::test {
namespace {

constexpr std::uint64_t kTokens = 1U << 21;  // a lease modulo this is its token

}  // namespace

std::string blank_joined(const Ids& words) {
  std::string all;
  for (const auto& word : words) all += (&word == words.data() ? "" : " ") + word;
  return all;
}

std::string bracketed(const Ids& items) {
  std::string all = "[";
  for (const auto& item : items) all += (all.size() > 1 ? " " : "") + item;
  return all + "]";
}

std::vector<std::pair<std::string, std::int64_t>> in_order(const Scores& scores) {
  std::vector<std::pair<std::string, std::int64_t>> all(scores.begin(), scores.end());
  std::ranges::stable_sort(all, {}, &std::pair<std::string, std::int64_t>::second);
  return all;
}

ModelJob* QueueModel::find(const std::string& id) {
  const auto found = jobs.find(id);
  return found == jobs.end() ? nullptr : &found->second;
}

bool QueueModel::stands(const std::string& id) const {
  return std::ranges::find(wait, id) != wait.end() ||
         std::ranges::find(crashed, id) != crashed.end() || prioritized.contains(id) ||
         active.contains(id) || delayed.contains(id) || completed.contains(id) ||
         failed.contains(id) || waiting_children.contains(id) || trash.contains(id);
}

// ---- what all calls do ----

void QueueModel::write_event(const std::string& fields) {
  events.push_back(bracketed({std::to_string(++event_seq) + "-0", "[" + fields + "]"}));
  has_stream = true;
  if (event_trim == "=")
    while (events.size() > std::stoull(event_cap)) events.pop_front();
}

// One entry for the whole call, none where nothing is to be told.
void QueueModel::tell(const std::vector<Told>& told) {
  std::string fields = "at " + std::to_string(now);
  bool any = false;
  for (const auto& [name, ids] : told) {
    if (ids.empty()) continue;
    any = true;
    fields += " " + name + " " + blank_joined(ids);
  }
  if (any) write_event(fields);
}

void QueueModel::wake() {
  if (!paused) marker["0"] = 0;
}

void QueueModel::wake_at(std::int64_t due) {
  const auto [mark, is_new] = marker.emplace("1", due);
  if (!is_new) mark->second = std::min(mark->second, due);
}

// So many have left `active`: whoever waits for a slot is woken when that opened the gate.
void QueueModel::free_slots(std::size_t left) {
  if (!limits || limits->concurrency == 0) return;
  const auto most = static_cast<std::size_t>(limits->concurrency);
  if (active.size() < most && active.size() + left >= most) wake();
}

void QueueModel::count_ended(ModelMetrics& metrics, std::size_t count) {
  if (metrics_kept == 0 || count == 0) return;
  const auto minute = now / 60'000;
  const bool is_first = !metrics.minutes.contains(minute);
  metrics.minutes[minute] += count;
  if (!is_first) return;
  auto from = std::min(metrics.from.value_or(minute), minute);
  for (int steps = 0; steps < 256 && from <= minute - metrics_kept; ++steps)
    metrics.minutes.erase(from++);
  metrics.from = from;
}

// ---- where jobs wait ----

void QueueModel::take_place(ModelJob& job) {
  constexpr std::int64_t kPriority = std::int64_t{1} << 32;
  job.place = job.priority * kPriority + static_cast<std::int64_t>(++priority_seq);
}

void QueueModel::get_ready(const std::string& id, bool front) {
  const auto& job = jobs.at(id);
  if (job.run && job.run->crashes > 0)
    crashed.push_back(id);
  else if (job.place)
    prioritized[id] = *job.place;
  else if (front)
    wait.push_front(id);
  else
    wait.push_back(id);
  wake();
}

void QueueModel::get_ready_by_itself(const std::string& id) { get_ready(id, jobs.at(id).lifo); }

// All that there is of a job but its place in a state.
void QueueModel::forget(const std::string& id) {
  jobs.erase(id);
  logs.erase(id);
  children.erase(id);
  subkeys.erase(id);
}

// ---- adding ----

std::optional<Ids> QueueModel::said_before(const Flush& flush, std::size_t count) const {
  const auto found = producers.find(flush.lane);
  if (found == producers.end()) return std::nullopt;
  const auto& last = found->second;
  if (last.grant > flush.grant) return Ids{"EMQARG"};
  if (last.grant < flush.grant || last.number < *flush.number) return std::nullopt;
  return last.number == *flush.number ? last.statuses : Ids(count, "done");
}

// A minted id may never be there; a custom one may when it is only waiting for its deletion.
bool QueueModel::is_taken(const JobToAdd& job) const {
  if (!jobs.contains(job.id) && !trash.contains(job.id) && stands(job.id))
    throw std::logic_error(job.id + " has lost its hash, and is added again");
  return jobs.contains(job.id) && !(job.custom && trash.contains(job.id));
}

std::optional<std::int64_t> QueueModel::room_left() const {
  if (!limits || limits->length == 0) return std::nullopt;
  const auto ghosts = std::ranges::count(wait, "");
  const auto entries = wait.size() + crashed.size() + prioritized.size() + delayed.size();
  return limits->length - static_cast<std::int64_t>(entries) + ghosts;
}

void QueueModel::store(const JobToAdd& job) {
  if (trash.erase(job.id) == 1) forget(job.id);
  ModelJob stored{.added = now,
                  .name = job.name,
                  .opts = job.opts,
                  .data = job.data,
                  .deid = job.de,
                  .priority = job.priority,
                  .lifo = job.lifo};
  if (job.delay > 0) {
    stored.delay = job.delay;
    delayed[job.id] = now + job.delay;
  }
  jobs[job.id] = stored;
}

// Jobs that were stored get where they wait, in their order.
void QueueModel::line_up(const Ids& stored) {
  for (const auto& id : stored) {
    if (delayed.contains(id)) {
      wake_at(delayed.at(id));
    } else {
      auto& job = jobs.at(id);
      if (job.priority > 0) take_place(job);
      get_ready_by_itself(id);
    }
  }
}

std::string QueueModel::add(const std::vector<JobToAdd>& items, const Flush& flush) {
  if (const auto before = said_before(flush, items.size()))
    return before->front() == "EMQARG" ? before->front() : bracketed(*before);
  ModelFlush applied{.grant = flush.grant, .number = *flush.number};
  Ids added;
  Ids later;
  auto room = room_left();
  for (const auto& job : items) {
    if (is_taken(job)) {
      applied.statuses.emplace_back(job.custom ? "dup" : "state");
      continue;
    }
    if (room && (*room)-- <= 0) {
      applied.statuses.emplace_back("full");
      continue;
    }
    store(job);
    applied.statuses.emplace_back("ok");
    added.push_back(job.id);
    if (job.delay > 0) later.push_back(job.id);
  }
  line_up(added);
  tell({{"added", added}, {"delayed", later}});
  producers[flush.lane] = applied;
  return bracketed(applied.statuses);
}

// ---- claiming ----

// An emptied entry that is near an end of the line goes at once.
void QueueModel::drop_from_line(std::size_t at) {
  wait[at] = "";
  if (at < 512)
    wait.erase(std::ranges::find(wait, ""));
  else if (wait.size() - at <= 512)
    wait.erase(std::find(wait.rbegin(), wait.rend(), "").base() - 1);
  else
    has_had_ghosts = true;
}

std::optional<std::size_t> QueueModel::find_in_line(const std::string& id,
                                                    std::int64_t seen) const {
  const auto found = std::ranges::find(wait, id);
  if (found == wait.end()) return std::nullopt;
  const auto at = found - wait.begin();
  const auto length = static_cast<std::int64_t>(wait.size());
  const bool near_seen = seen >= 0 && at >= seen - 256 && at <= std::max(seen, 256L) + 256;
  if (!near_seen && at >= 256 && at < length - 256) return std::nullopt;
  return static_cast<std::size_t>(at);
}

// Ghosts are left out. Once one was met, those that follow it go as well, at most 256.
Ids QueueModel::take_from_line(std::size_t want) {
  Ids taken;
  std::size_t ghosts = 0;
  const auto pop = [&](std::size_t count) {
    for (; count > 0 && !wait.empty(); --count) {
      if (wait.front().empty())
        ++ghosts;
      else
        taken.push_back(wait.front());
      wait.pop_front();
    }
  };
  pop(want);
  if (ghosts == 0) return taken;
  for (int i = 0; i < 256 && !wait.empty() && wait.front().empty(); ++i) pop(1);
  pop(want - taken.size());
  return taken;
}

std::string QueueModel::pop_mark() {
  if (marker.empty()) return "[]";
  const auto first = in_order(marker).front();
  marker.erase(first.first);
  return bracketed({first.first, std::to_string(first.second)});
}

// ---- ends of claims ----

bool QueueModel::is_held(const JobRun& run) const {
  const auto found = active.find(run.id);
  return found != active.end() && static_cast<std::uint64_t>(found->second) % kTokens == run.token;
}

std::string QueueModel::extend(const std::vector<JobRun>& runs, std::int64_t lease_ms) {
  Ids statuses;
  for (const auto& run : runs) {
    const bool is_ours = is_held(run);
    statuses.emplace_back(is_ours ? "ok" : "stale");
    if (is_ours)
      active[run.id] =
          static_cast<std::int64_t>(Lease::deadline_for(now, lease_ms) * kTokens + run.token);
  }
  return bracketed(statuses);
}

std::string QueueModel::progress(const std::vector<Progress>& items) {
  Ids statuses;
  Ids told;
  for (const auto& [run, value] : items) {
    auto* const job = find(run.id);
    statuses.emplace_back(job == nullptr ? "gone" : is_held(run) ? "ok" : "stale");
    if (statuses.back() != "ok") continue;
    job->progress = value;
    told.push_back(run.id);
  }
  tell({{"progress", told}});
  return bracketed(statuses);
}

// What a job takes up is its data and its result or reason.
void QueueModel::note_size(Scores& sizes, const std::string& id, std::size_t value,
                           const Retention& keep) {
  if (keep.bytes > 0) sizes[id] = static_cast<std::int64_t>(jobs.at(id).data.size() + value);
}

void QueueModel::leave_finished(const std::string& id) {
  completed.erase(id);
  failed.erase(id);
  sizes_completed.erase(id);
  sizes_failed.erase(id);
}

// The oldest that are over the count, the age or the bytes leave the set, at most 512.
Ids QueueModel::take_over(Scores& finished, Scores& sizes, const Retention& keep) const {
  const auto ended = in_order(finished);
  std::size_t over = 0;
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(keep.count, 0));
  if (keep.count >= 0 && ended.size() > count) over = ended.size() - count;
  std::size_t aged = 0;
  if (keep.age_ms > 0)
    while (aged < ended.size() && ended[aged].second <= now - keep.age_ms) ++aged;
  std::int64_t bytes = 0;
  for (const auto& [id, size] : sizes) bytes += size;
  std::size_t large = 0;
  for (; keep.bytes > 0 && bytes > keep.bytes && large < ended.size(); ++large)
    if (const auto size = sizes.find(ended[large].first); size != sizes.end())
      bytes -= size->second;
  over = std::min<std::size_t>(std::max({over, aged, large}), 512);
  Ids taken;
  for (std::size_t i = 0; i < over; ++i) {
    taken.push_back(ended[i].first);
    finished.erase(ended[i].first);
    sizes.erase(ended[i].first);
  }
  return taken;
}

Ids QueueModel::with_subkeys(const Ids& ids) const {
  Ids with;
  for (const auto& id : ids)
    if (subkeys.contains(id)) with.push_back(id);
  return with;
}

std::string QueueModel::finish(const std::vector<FinishItem>& items, const OldestSeen& how) {
  const bool is_completed = items.front().completed;
  const bool is_dropped = items.front().drop;
  auto& finished = is_completed ? completed : failed;
  auto& sizes = is_completed ? sizes_completed : sizes_failed;
  const auto& keep = is_completed ? keep_completed : keep_failed;
  Ids statuses;
  Ids told;
  Ids evicted;
  Ids sent;
  std::size_t left = 0;
  for (const auto& item : items) {
    const auto& id = item.run.id;
    auto* const job = find(id);
    if (!is_held(item.run)) {
      const bool is_repeat = job && job->run && job->run->token == std::to_string(item.run.token);
      statuses.emplace_back(job == nullptr ? "gone" : is_repeat ? "done" : "stale");
      continue;
    }
    active.erase(id);
    ++left;
    statuses.emplace_back(job == nullptr ? "gone" : "ok");
    if (job == nullptr) continue;
    told.push_back(id);
    if (how.parents)
      report(id, job->edge, is_completed ? 'c' : 'f', (is_completed ? "+" : "") + item.value, sent);
    if (is_dropped && subkeys.contains(id)) {
      trash.insert(id);
      evicted.push_back(id);
    } else if (is_dropped) {
      forget(id);
    } else {
      job->run = {item.ats,  item.atm, item.stc, now, now, std::to_string(item.run.token),
                  "worker-1"};
      if (!is_completed)
        job->failed_reason = item.value;
      else if (!item.value.empty())
        job->returnvalue = item.value;
      finished[id] = now;
      note_size(sizes, id, item.value.size(), keep);
    }
  }
  std::string oldest;
  std::size_t deleted = 0;
  if (!told.empty() && !is_dropped) {
    auto over = take_over(finished, sizes, keep);
    const auto& seen = how.oldest;
    if (!seen.empty() && seen.size() <= over.size() &&
        std::ranges::equal(seen, over | std::views::take(seen.size())) && subkeys.empty()) {
      for (const auto& id : seen) forget(id);
      deleted = seen.size();
    }
    evicted.assign(over.begin() + static_cast<std::ptrdiff_t>(deleted), over.end());
    trash.insert(evicted.begin(), evicted.end());
    if (!over.empty()) {
      Ids first;
      for (const auto& [id, score] : in_order(finished))
        if (first.size() < how.peek) first.push_back(id);
      oldest = blank_joined(first);
    }
  }
  free_slots(left);
  tell({{is_completed ? "completed" : "failed", told}});
  count_ended(is_completed ? ended_completed : ended_failed, told.size());
  Ids answer{bracketed(statuses), blank_joined(evicted), bracketed(with_subkeys(evicted)), oldest,
             std::to_string(deleted)};
  if (how.parents) answer.push_back(bracketed(sent));
  return bracketed(answer);
}

ModelJob* QueueModel::leave_active(const JobRun& run, Ids& statuses, std::size_t& left) {
  auto* const job = find(run.id);
  const bool is_ours = is_held(run);
  statuses.emplace_back(job == nullptr ? "gone" : is_ours ? "ok" : "stale");
  if (!is_ours) return nullptr;
  active.erase(run.id);
  ++left;
  return job;
}

std::string QueueModel::retry(const std::vector<Retry>& items) {
  Ids statuses;
  Ids told;
  Ids later;
  std::size_t left = 0;
  for (const auto& item : items) {
    const auto& id = item.run.id;
    auto* const job = leave_active(item.run, statuses, left);
    if (job == nullptr) continue;
    told.push_back(id);
    job->run = {item.ats, item.atm, job->run ? job->run->crashes : 0, now, 0, "", "worker-1"};
    job->failed_reason = item.reason;
    job->delay = item.delay;
    if (item.delay > 0) {
      later.push_back(id);
      delayed[id] = now + item.delay;
      wake_at(now + item.delay);
    } else {
      get_ready_by_itself(id);
    }
  }
  free_slots(left);
  tell({{"retried", told}, {"delayed", later}});
  return bracketed(statuses);
}

std::string QueueModel::release(const std::vector<Release>& items, std::int64_t hold) {
  Ids statuses;
  Ids told;
  std::size_t left = 0;
  for (const auto& item : items) {
    const auto& id = item.run.id;
    auto* const job = leave_active(item.run, statuses, left);
    if (job == nullptr) continue;
    told.push_back(id);
    if (item.ats == 0) continue;
    if (!job->run) job->run.emplace();
    job->run->claims = item.ats;
  }
  if (hold > 0 && left > 0) hold_until(hold);
  // To the front in the order in which they were taken: the last of them is put there first.
  const auto is_suspect = [this](const std::string& id) {
    return jobs.at(id).run && jobs.at(id).run->crashes > 0;
  };
  for (const auto& id : told)
    if (is_suspect(id)) get_ready(id, true);
  for (auto id = told.rbegin(); id != told.rend(); ++id)
    if (!is_suspect(*id)) get_ready(*id, true);
  free_slots(left);
  tell({{"released", told}});
  return bracketed(statuses);
}

std::string QueueModel::recover(const std::vector<Seen>& items, unsigned max_crashes) {
  const auto expired_below = static_cast<std::int64_t>(Lease::expired_below(now));
  Ids statuses;
  Ids recovered;
  Ids ended;
  Ids owners;
  Ids sent;
  std::size_t left = 0;
  for (const auto& [id, lease] : items) {
    const auto found = active.find(id);
    if (found == active.end() || std::to_string(found->second) != lease ||
        found->second >= expired_below) {
      statuses.emplace_back("moved");
      continue;
    }
    active.erase(found);
    ++left;
    auto* const job = find(id);
    statuses.emplace_back(job == nullptr ? "gone" : "ok");
    if (job == nullptr) continue;
    if (!job->run) job->run.emplace();
    auto& run = *job->run;
    ++run.claims;
    ++run.crashes;
    run.ended = 0;
    run.token.clear();
    if (run.crashes <= max_crashes) {
      get_ready(id, false);
      recovered.push_back(id);
      continue;
    }
    statuses.back() = "done";
    run.ended = now;
    job->failed_reason = "lease expired " + std::to_string(run.crashes) +
                         " times: the process died or lost the server while the job ran";
    report(id, job->edge, 'f', *job->failed_reason, sent);
    failed[id] = now;
    note_size(sizes_failed, id, 0, keep_failed);
    ended.push_back(id);
    if (!job->deid.empty()) owners.insert(owners.end(), {job->deid, id});
  }
  Ids evicted;
  if (!ended.empty()) evicted = take_over(failed, sizes_failed, keep_failed);
  trash.insert(evicted.begin(), evicted.end());
  free_slots(left);
  tell({{"recovered", recovered}, {"failed", ended}});
  count_ended(ended_failed, ended.size());
  Ids answer{bracketed(statuses), blank_joined(evicted), bracketed(with_subkeys(evicted)),
             bracketed(owners)};
  if (!sent.empty()) answer.push_back(bracketed(sent));
  return bracketed(answer);
}

}  // namespace echomq::test
