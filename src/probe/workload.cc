// SPDX-License-Identifier: MIT
#include "probe/workload.h"

#include <algorithm>
#include <utility>

#include "probe/planned.h"

namespace echomq::inline v2::probe {

void Workload::step() {
  q_.now += static_cast<std::int64_t>(below(one_in(10) ? 20'000 : 60));
  if (one_in(200)) q_.now -= 5'000;  // the clock was set back
  using Act = void (Workload::*)();
  static constexpr std::pair<Act, std::size_t> kActs[]{
      {&Workload::add, 14},        {&Workload::claim, 16},   {&Workload::end_claim, 22},
      {&Workload::look_after, 14}, {&Workload::operate, 14}, {&Workload::configure, 5},
      {&Workload::look, 8},        {&Workload::schedule, 8}, {&Workload::flow, 10},
      {&Workload::deduplicate, 6}};
  std::size_t sum = 0;
  for (const auto& [act, weight] : kActs) sum += weight;
  auto chosen = below(sum);
  for (const auto& [act, weight] : kActs) {
    if (chosen < weight) return (this->*act)();
    chosen -= weight;
  }
}

std::string Workload::some_id() {
  if (ids_.empty() || one_in(12)) return "never" + std::to_string(below(5));
  // Mostly a recent one: of the others most are gone.
  const auto from = ids_.size() > 40 && !one_in(4) ? ids_.size() - 40 : 0;
  return ids_[from + below(ids_.size() - from)];
}

std::vector<std::string> Workload::some_ids() {
  std::vector<std::string> ids;
  for (auto count = 1 + below(4); count > 0; --count) ids.push_back(some_id());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<JobRun> Workload::some_runs() {
  std::vector<JobRun> runs;
  for (auto count = 1 + below(3); count > 0 && !runs_.empty(); --count) {
    const auto at = below(runs_.size());
    if (std::any_of(runs.begin(), runs.end(),
                    [&](const auto& run) { return run.id == runs_[at].id; }))
      continue;
    runs.push_back(runs_[at]);
    // Some are told of again, late.
    if (!one_in(5)) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (runs.empty()) runs.push_back({"never0", 1});
  return runs;
}

Retention Workload::some_rule() {
  return {one_in(4) ? -1 : static_cast<std::int64_t>(2 + below(6)), one_in(3) ? 60'000 : 0,
          one_in(4) ? 60 : 0};
}

std::vector<JobToAdd> Workload::some_jobs() {
  std::vector<JobToAdd> jobs(1 + below(5));
  for (auto& job : jobs) {
    job.custom = one_in(2);
    job.id = job.custom ? "c" + std::to_string(below(60)) : std::to_string(minted_++);
    if (one_in(3)) job.delay = static_cast<std::int64_t>(1 + below(20'000));
    if (one_in(3)) job.priority = one_in(5) ? 2'097'151 : static_cast<unsigned>(1 + below(4));
    job.lifo = job.priority == 0 && one_in(4);
    job.data = std::to_string(random_());
    ids_.push_back(job.id);
  }
  return jobs;
}

void Workload::add() { q_.add(some_jobs(), {.lane = "2.0"}); }

void Workload::claim() {
  const auto claimed = q_.claim(below(6), {.lease_ms = 1'000 + static_cast<int>(below(30'000)),
                                           .node = static_cast<unsigned>(1 + below(3)),
                                           .take_crashed = one_in(2)});
  runs_.insert(runs_.end(), claimed.runs.begin(), claimed.runs.end());
}

void Workload::end_claim() {
  const auto runs = some_runs();
  const bool completed = !one_in(3);
  const bool drop = one_in(8);
  q_.keep_completed = some_rule();
  q_.keep_failed = some_rule();
  std::vector<FinishItem> ends;
  std::vector<Retry> retries;
  std::vector<Release> releases;
  std::vector<Progress> progress;
  for (const auto& run : runs) {
    ends.push_back({.run = run, .completed = completed, .drop = drop});
    retries.push_back({.run = run, .delay = one_in(2) ? 0 : 500});
    releases.push_back({.run = run, .ats = one_in(2) ? 1U : 0U});
    progress.push_back({.run = run});
  }
  switch (below(8)) {
    case 0: q_.retry(retries); break;
    case 1: q_.release(releases, one_in(6) ? 2'000 : 0); break;
    case 2: q_.extend(runs); break;
    case 3: q_.progress(progress); break;
    case 4: q_.wait_for_children(releases); break;
    default: q_.finish(ends, {.parents = one_in(2)}); break;
  }
}

void Workload::look_after() {
  switch (below(3)) {
    case 0: {
      auto due = q_.peek_due(8);
      due.push_back({some_id(), "5"});
      q_.promote(due);
      break;
    }
    case 1: {
      auto expired = q_.peek_expired(8);
      expired.push_back({some_id(), "5"});
      q_.recover(expired, static_cast<unsigned>(below(3)));
      break;
    }
    default: {
      auto trash = q_.peek_trash(8);
      const std::set<std::string> declared(trash.begin(), trash.end());
      q_.evict(trash, one_in(2) ? declared : std::set<std::string>());
    }
  }
}

void Workload::operate() {
  const auto ids = some_ids();
  switch (below(8)) {
    case 0: {
      std::vector<Delay> delays;
      delays.reserve(ids.size());
      for (const auto& id : ids)
        delays.push_back({id, one_in(3) ? 0 : static_cast<std::int64_t>(below(9'000))});
      q_.reschedule(delays);
      break;
    }
    case 1: q_.prioritize(ids, static_cast<unsigned>(below(4))); break;
    case 2:
    case 3: q_.remove(ids); break;
    case 4: q_.retry_finished(ids, {.reset_attempts = one_in(2)}); break;
    case 5: q_.update(some_id(), "other " + std::to_string(below(100))); break;
    case 6: q_.log({{.id = ids.front()}, {.id = some_id(), .line = "another"}}, 3); break;
    default: q_.emit("noon", "payload");
  }
}

void Workload::configure() {
  switch (below(6)) {
    case 0: q_.pause(one_in(3)); break;
    case 1:
      q_.limit({.concurrency = one_in(2) ? "0" : "6",
                .max = one_in(2) ? "0" : "9",
                .duration = "1000",
                .burst = one_in(2) ? "0" : "3",
                .length = "0"});
      break;
    case 2: q_.hold(one_in(2) ? 0 : 1'500); break;
    case 3: q_.keep_metrics(one_in(3) ? 0 : 5); break;
    case 4: q_.trim(30, {.most = 50, .cap = "100"}); break;
    default: q_.pause(false);
  }
}

void Workload::look() {
  switch (below(8)) {
    case 0: q_.counts(); break;
    case 1: q_.read(some_id()); break;
    case 2: q_.read_logs(some_id()); break;
    case 3: q_.page(q_.keys.completed, one_in(2), {}, 5); break;
    case 4: q_.line(q_.keys.wait, one_in(2), 0, {}, 5); break;
    case 5: q_.priorities(0, 5); break;
    case 6: q_.metrics(one_in(2), q_.now / 60'000 - 3, 5); break;
    default: q_.gate();
  }
}

void Workload::schedule() {
  const auto id = "s" + std::to_string(below(4));
  const auto next = std::to_string(q_.now + static_cast<std::int64_t>(below(3'000)));
  switch (below(6)) {
    case 0: q_.put_scheduler({.id = id, .next = next}); break;
    case 1: q_.put_scheduler({.id = id, .next = next, .shape = "2:0:3:job", .data = "x"}); break;
    case 2: q_.pause_scheduler(id, one_in(2), next); break;
    case 3:
      if (one_in(3)) q_.remove_schedulers({id});
      break;
    case 4: q_.read_scheduler(id); break;
    default: {
      // As a keeper sees it: the tick that stands there, if it is due.
      const auto tick = q_.score(q_.keys.schedules, id);
      if (tick != "(nil)" && tick != "inf") {
        ids_.push_back(id + "." + tick);
        q_.fire({{.id = id, .tick = tick, .next = std::to_string(q_.now + 700), .seen = tick}});
      }
    }
  }
}

void Workload::flow() {
  if (one_in(2)) {
    const auto plan = std::to_string(++plans_);
    const auto root = "r" + plan;
    const auto entries =
        plan_of(q_.name() + ":" + plan,
                {{.queue = q_.name(), .id = root},
                 {.queue = q_.name(), .id = root + ".a", .parent = 0},
                 {.queue = q_.name(),
                  .id = root + ".b",
                  .parent = 0,
                  .policy = one_in(2) ? ChildFailure::ignore : ChildFailure::fail_parent,
                  .delay = one_in(2) ? 0 : 400}});
    q_.plan(plan, entries);
    if (!one_in(6)) q_.add_flow(q_.name() + ":" + plan, entries);
    q_.close_plan(plan, q_.redis()({"HGET", q_.keys.outbox, "flow:" + plan}).text);
    for (const auto* const end : {"", ".a", ".b"}) ids_.push_back(root + end);
    return;
  }
  if (plans_ == 0) return;
  const auto root = "r" + std::to_string(1 + below(static_cast<std::size_t>(plans_)));
  const auto child = q_.name() + ":" + root + (one_in(2) ? ".a" : ".b");
  const char kind = one_in(4) ? 'f' : one_in(6) ? 'r' : 'c';
  q_.settle({{.parent = root,
              .ref = child,
              .epoch = 1 + below(2),
              .kind = kind,
              .value = kind == 'c'   ? "+1"
                       : kind == 'f' ? "no"
                                     : ""}});
  const auto field = root + ".a " + q_.name() + ":" + root;
  const auto message = q_.redis()({"HGET", q_.keys.outbox, field}).text;
  if (message.size() > 4) q_.delivered({{.field = field, .seen = message.substr(0, 4)}});
}

void Workload::deduplicate() {
  const auto de = "d" + std::to_string(below(4));
  switch (below(5)) {
    case 0: {
      const auto owned = q_.owned(de);
      if (!owned.owner.empty()) q_.end_deduplication({owned}, one_in(6));
      break;
    }
    case 1: {
      const auto owned = q_.owned(de);
      if (!owned.owner.empty()) q_.hold_deduplication({owned});
      break;
    }
    case 2: q_.read_deduplication(de, q_.owned(de).owner); break;
    default: {
      static constexpr const char* kWays[]{"", "k", "e", "er"};
      auto jobs = some_jobs();
      for (auto& job : jobs) {
        job.de = "d" + std::to_string(below(4));
        job.how = kWays[below(4)];
        if (job.how == "e" || job.how == "er") job.ttl = 5'000;
      }
      q_.add_deduplicated(jobs, {.lane = "2.1"});
    }
  }
}

}  // namespace echomq::inline v2::probe
