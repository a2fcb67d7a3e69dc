// SPDX-License-Identifier: MIT
#include "support/workload.h"

#include <algorithm>
#include <map>

namespace echomq::test {
namespace {

// Few, so that duplicates and re-adds of evicted ids happen.
constexpr std::size_t kCustomIds = 60;

}  // namespace

Workload::Workload(ScriptQueue& queue, std::uint32_t seed) : q_(queue), random_(seed) {
  q_.keep_completed = {.count = 15, .age_ms = 300'000};
  q_.keep_failed = {.count = 10};
  q_.open();
  q_.keep_metrics(3);
}

void Workload::run(int steps) {
  for (int i = 0; i < steps; ++i) step();
}

void Workload::step() {
  switch (below(13)) {
    case 0:
    case 1: return add();
    case 2:
    case 3: return claim();
    case 4:
    case 5: return finish();
    case 6: return retry();
    case 7: return one_in(2) ? release() : report();
    case 8: return pass_time();
    case 9: return move();
    case 10: return deduplicate();
    case 11: return end_owners();
    default: return sweep();
  }
}

std::vector<JobToAdd> Workload::new_jobs() {
  std::vector<JobToAdd> jobs(1 + below(6));
  for (auto& job : jobs) {
    job.custom = one_in(2);
    job.id =
        job.custom ? "custom-" + std::to_string(below(kCustomIds)) : std::to_string(next_minted_++);
    if (one_in(3)) job.delay = 1 + static_cast<std::int64_t>(below(20'000));
    if (one_in(3)) job.priority = 1 + static_cast<unsigned>(below(5));
    job.lifo = job.priority == 0 && one_in(4);
    job.data = std::to_string(random_());
  }
  return jobs;
}

void Workload::add() {
  if (last_added_.empty() || !one_in(6)) {
    last_added_ = new_jobs();
    ++flush_;
  }
  q_.add(last_added_, {.number = flush_});  // the next one, or the last one again
}

// Under few deduplication ids, in all ways; now and then as one who knows another owner.
void Workload::deduplicate() {
  if (last_deduplicated_.empty() || !one_in(6)) {
    last_deduplicated_ = new_jobs();
    for (auto& job : last_deduplicated_) {
      if (one_in(5)) continue;
      const std::vector<std::string> ways{"", "", "e", "r", "er", "k", "k"};
      job.de = "de-" + std::to_string(below(8));
      job.how = ways[below(ways.size())];
      if (job.how == "e" || job.how == "er" || (job.how.empty() && one_in(2)))
        job.ttl = 1 + static_cast<std::int64_t>(below(60'000));
      job.seen = one_in(8) ? "custom-1" : q_.owned(job.de).owner;
    }
    ++deduplicated_flush_;
  }
  q_.add_deduplicated(last_deduplicated_, {.lane = "1.1", .number = deduplicated_flush_});
}

// What a worker does when jobs are over, and what its sweep does.
void Workload::end_owners() {
  std::vector<OwnedSeen> ids;
  for (const auto& id : texts(q_.redis()({"ZRANGE", q_.keys.de_due, "0", "3"})))
    if (auto seen = q_.owned(id); !seen.owner.empty()) ids.push_back(seen);
  if (ids.empty()) return;
  if (one_in(3)) q_.hold_deduplication(ids);
  q_.read_deduplication(ids.front().de, ids.front().owner);
  q_.end_deduplication(ids, one_in(10));
}

void Workload::claim() {
  const auto claimed =
      q_.claim(below(9), {.lease_ms = 1'000 + static_cast<std::int64_t>(below(60'000)),
                          .node = 1 + static_cast<unsigned>(below(3)),
                          .take_crashed = one_in(2)});
  held_.insert(held_.end(), claimed.runs.begin(), claimed.runs.end());
}

std::vector<JobRun> Workload::some(bool end) {
  std::vector<JobRun> chosen;
  std::shuffle(held_.begin(), held_.end(), random_);
  const auto count = std::min(held_.size(), 1 + below(5));
  chosen.assign(held_.end() - static_cast<std::ptrdiff_t>(count), held_.end());
  if (end) {
    held_.resize(held_.size() - count);
    ended_.insert(ended_.end(), chosen.begin(), chosen.end());
  }
  if (!ended_.empty() && one_in(3)) {
    const auto& late = ended_[below(ended_.size())];
    const auto same = [&late](const JobRun& run) { return run.id == late.id; };
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(late);
  }
  return chosen;
}

void Workload::finish() {
  std::vector<FinishItem> items;
  const bool completed = !one_in(4);
  const bool drop = one_in(4);
  for (const auto& run : some(true))
    items.push_back({.run = run,
                     .completed = completed,
                     .value = one_in(8) ? "" : std::to_string(random_()),
                     .drop = drop});
  if (items.empty()) return;
  q_.finish(items);
  if (one_in(5)) q_.finish(items);  // the reply was lost
}

void Workload::retry() {
  std::vector<Retry> items;
  for (const auto& run : some(true))
    items.push_back(
        {.run = run, .delay = one_in(2) ? 0 : static_cast<std::int64_t>(below(10'000))});
  if (!items.empty()) q_.retry(items);
}

void Workload::release() {
  std::vector<Release> items;
  for (const auto& run : some(true)) items.push_back({.run = run, .ats = one_in(2) ? 1U : 0U});
  if (!items.empty()) q_.release(items);
}

void Workload::report() {
  const auto runs = some(false);
  if (runs.empty()) return;
  q_.extend(runs, 1'000 + static_cast<std::int64_t>(below(60'000)));
  std::vector<Progress> items;
  for (const auto& run : runs) items.push_back({.run = run, .value = std::to_string(below(100))});
  q_.progress(items);
}

// What an operator does, to jobs in whatever state.
void Workload::move() {
  std::vector<std::string> ids;
  for (auto count = 1 + below(4); count > 0; --count)
    ids.push_back("custom-" + std::to_string(below(kCustomIds)));
  if (const auto minted = next_minted_ - kFirstMinted; minted > 0)
    ids.push_back(std::to_string(kFirstMinted + below(minted)));
  switch (below(8)) {
    case 0: {
      std::vector<Delay> items;
      for (const auto& id : ids)
        items.push_back({id, one_in(2) ? 0 : static_cast<std::int64_t>(1 + below(20'000))});
      q_.reschedule(items);
      return;
    }
    case 1: q_.prioritize(ids, static_cast<unsigned>(below(5))); return;
    case 2: {
      if (one_in(2)) {
        q_.remove(ids);
        return;
      }
      // As a clean does, or an obliteration of what runs.
      const std::vector<std::string> states{"waiting", "delayed", "active", "completed", "failed"};
      const auto age = static_cast<std::int64_t>(below(60'000));
      q_.remove(ids,
                {.state = states[below(states.size())], .before = std::to_string(q_.now - age)});
      return;
    }
    case 3: q_.retry_finished(ids, {.reset_attempts = one_in(2)}); return;
    case 4: q_.update(ids.front(), std::to_string(random_())); return;
    case 5: q_.log({{.id = ids.front(), .line = std::to_string(random_())}}, 3); return;
    case 6: {
      const auto limit = [this] { return std::to_string(below(6)); };
      if (one_in(3)) q_.hold(static_cast<std::int64_t>(below(20'000)));
      if (one_in(3)) q_.limit({.concurrency = limit()});
      q_.limit({.max = limit(), .duration = "5000", .burst = one_in(2) ? "1" : "0"});
      return;
    }
    default: q_.pause(one_in(3)); return;
  }
}

void Workload::pass_time() {
  auto due = q_.peek_due(50);
  q_.now += static_cast<std::int64_t>(below(30'000));
  // Sometimes what was seen a while ago, to meet what has moved since.
  if (one_in(2) || due.empty()) due = q_.peek_due(50);
  if (!due.empty()) q_.promote(due);
  q_.counts();
}

void Workload::sweep() {
  const auto expired = q_.peek_expired(50);
  if (!expired.empty()) {
    if (one_in(3) && !held_.empty()) q_.extend(held_);  // heard of again just in time
    q_.recover(expired, 2);
  }
  auto trash = q_.peek_trash(50);
  std::sort(trash.begin(), trash.end());
  if (!trash.empty() && one_in(2)) q_.evict(trash);
  if (!last_added_.empty()) q_.read(last_added_.front().id);
}

std::vector<std::string> jobs_out_of_state(ScriptQueue& queue) {
  auto& redis = queue.redis();
  std::map<std::string, std::string> states;
  const auto look = [&](const std::string& key, const std::vector<std::string>& ids) {
    for (const auto& id : ids)
      states[id] += (states[id].empty() ? "" : " ") + key.substr(key.find('}') + 2);
  };
  for (const auto& key : {queue.keys.wait, queue.keys.crashed})
    look(key, texts(redis({"LRANGE", key, "0", "-1"})));
  for (const auto& key : {queue.keys.prioritized, queue.keys.active, queue.keys.delayed,
                          queue.keys.completed, queue.keys.failed})
    look(key, texts(redis({"ZRANGEBYSCORE", key, "-inf", "(inf"})));
  look(queue.keys.trash, texts(redis({"SMEMBERS", queue.keys.trash})));

  std::vector<std::string> wrong;
  for (const auto& [id, state] : states) {
    const bool exists = show(redis({"HGET", queue.job(id), "head"})) != "(nil)";
    if (state.find(' ') != std::string::npos) wrong.push_back(id + " is in " + state);
    if (!exists) wrong.push_back(id + " is in " + state + " and has no hash");
  }
  for (const auto& key : texts(redis({"KEYS", queue.job("*")}))) {
    const auto parsed = parse_key(key);
    if (parsed && parsed->kind == KeyKind::job && !states.contains(parsed->id))
      wrong.push_back(parsed->id + " is in no state");
  }
  return wrong;
}

}  // namespace echomq::test
