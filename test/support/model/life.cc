// SPDX-License-Identifier: MIT
#include "support/model/life.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "echomq/id.h"
#include "protocol/lease.h"
#include "support/model/life_text.h"

namespace echomq::test {
namespace {

constexpr std::size_t kDeduplicationIds = 6;

}  // namespace

Life::Life(const QueueModel& model, std::uint32_t seed, bool is_long)
    : model_(model), random_(seed), is_long_(is_long) {
  clients_[1].skew = -150;
  clients_[2].skew = 200;
}

Step Life::next() {
  client_ = below(kClients);
  clock_ += up_to(40);
  if (one_in(12)) clock_ += up_to(20'000);
  if (one_in(300)) clock_ -= up_to(120'000);  // it was set back
  if (!model_.is_open) return one_in(5) ? claim() : open();
  if (is_long_ && model_.wait.size() < 1'300 && !model_.has_had_ghosts) return fill();
  if (is_obliterating_ && !one_in(4)) return obliterate();
  // What is seen now is acted on later, or too late.
  if (one_in(4)) {
    delayed_.clear();
    for (const auto& [id, due] : model_.delayed)
      if (due <= now() || one_in(8)) delayed_.push_back({id, std::to_string(due)});
    leases_.clear();
    for (const auto& [id, lease] : model_.active)
      if (std::cmp_less(lease, Lease::expired_below(now())) || one_in(8))
        leases_.push_back({id, std::to_string(lease)});
  }
  static const std::vector<std::pair<Act, int>> acts{{&Life::add, 12},
                                                     {&Life::add_deduplicated, 12},
                                                     {&Life::repeat_flush, 3},
                                                     {&Life::claim, 16},
                                                     {&Life::finish, 10},
                                                     {&Life::retry, 5},
                                                     {&Life::release, 4},
                                                     {&Life::extend, 2},
                                                     {&Life::progress, 2},
                                                     {&Life::promote, 6},
                                                     {&Life::recover, 5},
                                                     {&Life::evict, 4},
                                                     {&Life::end_owners, 6},
                                                     {&Life::hold_owners, 2},
                                                     {&Life::reschedule, 3},
                                                     {&Life::prioritize, 4},
                                                     {&Life::remove, 5},
                                                     {&Life::retry_finished, 3},
                                                     {&Life::update, 2},
                                                     {&Life::log, 3},
                                                     {&Life::limit, 3},
                                                     {&Life::hold, 1},
                                                     {&Life::pause, 2},
                                                     {&Life::keep_metrics, 1},
                                                     {&Life::emit, 1},
                                                     {&Life::trim, 1},
                                                     {&Life::look, 8},
                                                     {&Life::pop_mark, 5},
                                                     {&Life::lease_node, 2},
                                                     {&Life::lose, 1},
                                                     {&Life::put_scheduler, 4},
                                                     {&Life::fire, 9},
                                                     {&Life::pause_scheduler, 3},
                                                     {&Life::remove_schedulers, 1},
                                                     {&Life::add_flow, 8},
                                                     {&Life::wait_for_children, 5},
                                                     {&Life::settle, 12},
                                                     {&Life::delivered, 3},
                                                     {&Life::plan, 2},
                                                     {&Life::close_plan, 1}};
  if (one_in(400)) is_obliterating_ = true;
  std::size_t sum = 0;
  for (const auto& [act, weight] : acts) sum += static_cast<std::size_t>(weight);
  auto chosen = below(sum);
  for (const auto& [act, weight] : acts) {
    if (chosen < static_cast<std::size_t>(weight)) return (this->*act)();
    chosen -= static_cast<std::size_t>(weight);
  }
  return look();
}

// ---- what there is to act on ----

std::vector<JobToAdd> Life::new_jobs() {
  std::vector<JobToAdd> jobs(1 + below(one_in(8) ? 20 : 5));
  for (auto& job : jobs) {
    job.custom = one_in(2);
    job.id = job.custom ? "c" + std::to_string(below(kCustomIds)) : std::to_string(next_minted_++);
    // Two processes that mint alike.
    if (!job.custom && one_in(40) && !model_.jobs.empty()) job.id = model_.jobs.begin()->first;
    job.custom = !is_minted_id(job.id);
    if (one_in(3)) job.delay = 1 + up_to(20'000);
    if (one_in(3)) job.priority = one_in(5) ? 2'097'151 : 1 + static_cast<unsigned>(below(4));
    job.lifo = job.priority == 0 && one_in(4);
    job.name = one_in(3) ? "a:name" : "job";
    if (one_in(3)) job.opts = R"({"attempts":3})";
    job.data = std::to_string(random_());
  }
  if (one_in(3))  // alike, but for their ids and data
    for (auto& job : jobs)
      job.delay = jobs[0].delay, job.priority = jobs[0].priority, job.lifo = jobs[0].lifo;
  return jobs;
}

Ids Life::some_jobs() {
  Ids ids;
  for (auto count = 1 + below(5); count > 0; --count) {
    if (one_in(3) || model_.jobs.empty()) {
      ids.push_back("c" + std::to_string(below(kCustomIds)));
    } else {
      auto at = model_.jobs.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(below(model_.jobs.size())));
      ids.push_back(at->first);
    }
  }
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  std::ranges::shuffle(ids, random_);
  return ids;
}

Retention Life::some_rule(std::size_t one_without_count_in) {
  return {one_in(one_without_count_in) ? -1 : 4 + up_to(8), one_in(3) ? 60'000 + up_to(60'000) : 0,
          one_in(3) ? 20 + up_to(60) : 0};
}

// Mostly such as this client holds, sometimes those of another or such as have ended.
std::vector<JobRun> Life::some_runs() {
  std::vector<JobRun> runs;
  for (const auto& [id, score] : model_.active) {
    const auto lease = Lease::from_score(static_cast<std::uint64_t>(score));
    if (lease.node != client_ + 1 && !one_in(8)) continue;
    runs.push_back({id, lease.token(), lease.score()});
  }
  // In the order of their leases, as those of one claim come.
  if (one_in(2)) {
    std::ranges::shuffle(runs, random_);
  } else {
    std::ranges::stable_sort(runs, {}, &JobRun::lease);
    const auto from = runs.empty() ? 0 : below(runs.size());
    runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(from));
  }
  runs.resize(std::min(runs.size(), 1 + below(5)));
  if (!runs_.empty() && (runs.empty() || one_in(4))) {
    const auto& late = runs_[below(runs_.size())];
    if (std::ranges::find(runs, late.id, &JobRun::id) == runs.end()) runs.push_back(late);
  }
  for (const auto& run : runs) runs_.push_back(run);
  if (runs_.size() > 60) runs_.erase(runs_.begin(), runs_.end() - 40);
  if (one_in(20))  // of no known deadline, and a wrong token
    for (auto& run : runs) run.lease = 0, run.token += below(2);
  if (runs.empty()) runs.push_back({"c0", 1, 1});
  return runs;
}

std::int64_t Life::seen_in_line(const std::string& id) {
  if (one_in(3)) return -1;
  const auto found = std::ranges::find(model_.wait, id);
  return found == model_.wait.end() ? up_to(50) : found - model_.wait.begin() + up_to(20) - 10;
}

// Now and then of a node that another process has taken since.
Flush Life::next_flush() {
  return {.lane = std::to_string(client_ + 1) + ".0",
          .grant = one_in(200) ? 2U + below(2) : 1U,
          .number = ++client().flushes};
}

// ---- adding ----

Step Life::open() {
  auto opened = step("open", [](auto& q) { return q.open(); });
  opened.of_model = [](QueueModel& q) { return q.open(); };
  return opened;
}

Step Life::add() {
  const auto jobs = new_jobs();
  const auto flush = next_flush();
  auto added =
      step("add" + described(flush) + all_of(jobs), [=](auto& q) { return q.add(jobs, flush); });
  client().repeats.push_back(added);
  return added;
}

Step Life::fill() {
  std::vector<JobToAdd> jobs(250);
  for (auto& job : jobs) {
    job.id = std::to_string(next_minted_++);
    job.custom = false;
  }
  const auto flush = next_flush();
  return step("add 250 jobs up to " + jobs.back().id + described(flush),
              [=](auto& q) { return q.add(jobs, flush); });
}

Step Life::add_deduplicated() {
  static const Ids ways{"", "", "e", "r", "er", "k", "k"};
  auto jobs = new_jobs();
  for (auto& job : jobs) {
    job.seen = "";
    if (one_in(5)) continue;
    job.de = "d" + std::to_string(below(kDeduplicationIds));
    job.how = ways[below(ways.size())];
    const bool is_timed =
        job.how == "e" || job.how == "er" || (job.how.size() < 2 && job.how != "k" && one_in(2));
    if (is_timed) job.ttl = 1 + up_to(60'000);
    const auto owned = model_.de.find(job.de);
    if (owned != model_.de.end() && !one_in(8)) job.seen = owned->second.owner;
    if (one_in(20)) job.seen = "c" + std::to_string(below(kCustomIds));
  }
  const auto flush = next_flush();
  auto added = step("add_deduplicated" + described(flush) + all_of(jobs),
                    [=](auto& q) { return q.add_deduplicated(jobs, flush); });
  client().repeats.push_back(added);
  return added;
}

// The answer was lost, or a call of an earlier owner of the lane comes late.
Step Life::repeat_flush() {
  auto& repeats = client().repeats;
  if (repeats.empty()) return add();
  auto again = repeats[one_in(2) ? repeats.size() - 1 : below(repeats.size())];
  if (repeats.size() > 5) repeats.erase(repeats.begin());
  again.text += " (again)";
  again.now = now();
  return again;
}

// ---- deduplication ----

Step Life::end_owners() {
  std::vector<OwnedSeen> ids;
  for (const auto& [id, entry] : model_.de) {
    if (one_in(2)) continue;
    ids.push_back({id, entry.owner, entry.kept ? entry.kept->id : ""});
    if (one_in(12)) ids.back().owner = "c1";
  }
  if (ids.empty()) ids.push_back({"d0", "c0"});
  maybe_twice(ids);
  const bool force = one_in(8);
  return step((force ? "end_deduplication by force" : "end_deduplication") + all_of(ids),
              [=](auto& q) { return q.end_deduplication(ids, force); });
}

Step Life::hold_owners() {
  std::vector<OwnedSeen> ids;
  for (const auto& [id, entry] : model_.de)
    if (one_in(2)) ids.push_back({id, one_in(8) ? "c1" : entry.owner});
  if (ids.empty()) ids.push_back({"d0", "c0"});
  return step("hold_deduplication" + all_of(ids),
              [=](auto& q) { return q.hold_deduplication(ids); });
}

// ---- claims and their ends ----

Step Life::claim() {
  const auto count = below(one_in(6) ? 40 : 7);
  const ClaimOptions how{.lease_ms = 1'000 + up_to(40'000),
                         .node = static_cast<unsigned>(client_) + 1,
                         .take_crashed = one_in(2),
                         .nonce = ++nonce_};
  return step("claim " + std::to_string(count) + " for " + std::to_string(how.lease_ms) +
                  (how.take_crashed ? " with a crashed one" : ""),
              [=](auto& q) { return q.claim(count, how); });
}

Step Life::finish() {
  std::vector<FinishItem> items;
  const bool is_completed = !one_in(4);
  const bool is_dropped = one_in(4);
  for (const auto& run : some_runs())
    items.push_back({.run = run,
                     .completed = is_completed,
                     .value = one_in(4) ? "" : std::to_string(below(3)),
                     .drop = is_dropped,
                     .ats = 1 + static_cast<unsigned>(below(2))});
  maybe_twice(items);
  OldestSeen how{.peek = static_cast<unsigned>(below(5))};
  if (one_in(2))
    for (const auto& [id, ended] : in_order(is_completed ? model_.completed : model_.failed))
      if (how.oldest.size() < items.size() && (how.oldest.empty() || !one_in(3)))
        how.oldest.push_back(id);
  // An id that is finished already is named once.
  for (const auto& item : items) std::erase(how.oldest, item.run.id);
  const auto has_parent = [this](const FinishItem& item) {
    const auto job = model_.jobs.find(item.run.id);
    return job != model_.jobs.end() && !job->second.edge.empty();
  };
  how.parents = std::ranges::any_of(items, has_parent) || one_in(8);
  const auto keep = some_rule(8);
  return step(std::string("finish") + (is_completed ? "" : " as failed") +
                  (is_dropped ? " and drop" : "") + runs_of(items) + described(keep) + " oldest" +
                  all_of(how.oldest) + " peek " + std::to_string(how.peek) +
                  (how.parents ? " telling parents" : ""),
              [=](auto& q) {
                q.keep_completed = q.keep_failed = keep;
                return q.finish(items, how);
              });
}

Step Life::retry() {
  std::vector<Retry> items;
  for (const auto& run : some_runs())
    items.push_back({.run = run,
                     .delay = one_in(2) ? 0 : up_to(10'000),
                     .ats = 1 + static_cast<unsigned>(below(3))});
  maybe_twice(items);
  std::string delays;
  for (const auto& item : items) delays += " " + std::to_string(item.delay);
  return step("retry" + runs_of(items) + " after" + delays,
              [=](auto& q) { return q.retry(items); });
}

Step Life::release() {
  std::vector<Release> items;
  for (const auto& run : some_runs())
    items.push_back({.run = run, .ats = one_in(2) ? 1U + static_cast<unsigned>(below(3)) : 0U});
  maybe_twice(items);
  const auto hold = one_in(8) ? up_to(5'000) : 0;
  return step("release" + runs_of(items) + " hold " + std::to_string(hold),
              [=](auto& q) { return q.release(items, hold); });
}

Step Life::extend() {
  const auto runs = some_runs();
  const auto lease = 1'000 + up_to(40'000);
  return step("extend by " + std::to_string(lease) + all_of(runs),
              [=](auto& q) { return q.extend(runs, lease); });
}

Step Life::progress() {
  std::vector<Progress> items;
  for (const auto& run : some_runs()) items.push_back({run, std::to_string(below(100))});
  return step("progress" + runs_of(items), [=](auto& q) { return q.progress(items); });
}

Step Life::recover() {
  auto items = leases_;
  items.resize(std::min(items.size(), 1 + below(6)));
  maybe_twice(items);
  if (items.empty()) items.push_back({"c0", "1"});
  const auto most = static_cast<unsigned>(below(3));
  const auto keep = some_rule(8);
  return step("recover" + all_of(items) + " max_crashes " + std::to_string(most) + described(keep),
              [=](auto& q) {
                q.keep_failed = keep;
                return q.recover(items, most);
              });
}

// ---- from outside ----

Step Life::promote() {
  auto items = delayed_;
  std::ranges::shuffle(items, random_);
  items.resize(std::min(items.size(), 1 + below(10)));
  maybe_twice(items);
  if (items.empty()) items.push_back({"c0", "1"});
  return step("promote" + all_of(items), [=](auto& q) { return q.promote(items); });
}

Step Life::evict() {
  Ids ids;
  std::set<std::string> declared;
  for (const auto& id : model_.trash)
    if (!one_in(4)) ids.push_back(id);
  if (one_in(4)) ids.push_back("c" + std::to_string(below(kCustomIds)));
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  for (const auto& id : ids)
    if (model_.subkeys.contains(id) ? !one_in(4) : one_in(8)) declared.insert(id);
  const auto keep = some_rule(2);
  return step("evict" + all_of(ids) + " with sub-keys of" +
                  all_of(Ids(declared.begin(), declared.end())) + described(keep),
              [=](auto& q) {
                q.keep_completed = q.keep_failed = keep;
                return q.evict(ids, declared);
              });
}

Step Life::reschedule() {
  std::vector<Delay> items;
  std::string delays;
  auto ids = some_jobs();
  for (const auto& [id, due] : model_.delayed)
    if (one_in(3) && ids.size() < 6 && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  for (const auto& id : ids) {
    items.push_back({id, one_in(2) ? 0 : 1 + up_to(20'000)});
    delays += " " + std::to_string(items.back().delay);
  }
  return step("reschedule" + all_of(ids) + " to" + delays,
              [=](auto& q) { return q.reschedule(items); });
}

Step Life::prioritize() {
  const auto ids = some_jobs();
  const auto priority = one_in(6) ? 2'097'151U : static_cast<unsigned>(below(5));
  const auto seen = seen_in_line(ids.front());
  return step("prioritize" + all_of(ids) + " to " + std::to_string(priority) + " seen at " +
                  std::to_string(seen),
              [=](auto& q) { return q.prioritize(ids, priority, seen); });
}

Step Life::remove() {
  static const Ids states{"waiting",   "prioritized", "delayed",         "active",
                          "completed", "failed",      "waiting-children"};
  auto ids = some_jobs();
  maybe_twice(ids);
  RemoveWhere where{.seen = seen_in_line(ids.front())};
  if (one_in(2)) where.state = states[below(states.size())];
  if (where.state == "active" || where.state == "delayed")
    for (const auto& [id, score] : where.state == "active" ? model_.active : model_.delayed)
      if (one_in(3) && ids.size() < 8) ids.push_back(id);
  if (one_in(4)) where.before = std::to_string(now() - up_to(30'000));
  if (one_in(8)) where.told_in = up_to(60'000);
  if (!is_long_ && one_in(12)) where.seen = -2;
  const auto of = model_.jobs.find(ids.front());
  if (one_in(8) && of != model_.jobs.end() && !of->second.edge.empty())
    where.of = of->second.edge.substr(of->second.edge.find(':', of->second.edge.find(':') + 1) + 1);
  return step("remove" + all_of(ids) + " seen at " + std::to_string(where.seen) + " from '" +
                  where.state + "' before '" + where.before + "'" + " told in " +
                  std::to_string(where.told_in) + (where.of.empty() ? "" : " of " + where.of),
              [=](auto& q) { return q.remove(ids, where); });
}

Step Life::retry_finished() {
  auto ids = some_jobs();
  for (const auto* const set : {&model_.completed, &model_.failed})
    for (const auto& [id, ended] : *set)
      if (one_in(4) && ids.size() < 6) ids.push_back(id);
  const RetryOfFinished how{!one_in(4), !one_in(4), one_in(2)};
  return step("retry_finished" + all_of(ids) + (how.completed ? " completed" : "") +
                  (how.failed ? " failed" : "") + (how.reset_attempts ? " anew" : ""),
              [=](auto& q) { return q.retry_finished(ids, how); });
}

Step Life::update() {
  auto id = some_jobs().front();
  std::string token;
  if (const auto runs = some_runs(); !runs.empty() && one_in(2)) {
    id = runs.front().id;
    token = std::to_string(runs.front().token);
  }
  const auto data = std::to_string(random_());
  return step("update " + id + "/" + token + " to " + data,
              [=](auto& q) { return q.update(id, data, token); });
}

Step Life::log() {
  std::vector<LogLine> lines;
  std::string text = "log";
  if (one_in(2)) {
    for (const auto& id : some_jobs())
      lines.push_back({.id = id, .line = std::to_string(below(9))});
  } else {
    for (const auto& run : some_runs())
      lines.push_back({.id = run.id, .line = "of a run", .token = std::to_string(run.token)});
  }
  maybe_twice(lines);
  for (const auto& line : lines) text += " " + line.id + "/" + line.token;
  return step(text, [=](auto& q) { return q.log(lines, 3); });
}

// ---- the queue ----

Step Life::limit() {
  LimitsToSet limits;
  if (one_in(2)) limits.concurrency = one_in(2) ? "0" : std::to_string(1 + below(6));
  if (one_in(2)) {
    limits.max = one_in(2) ? "0" : std::to_string(1 + below(6));
    limits.duration = one_in(2) ? "300" : "5000";
    limits.burst = one_in(2) ? "0" : std::to_string(1 + below(3));
  }
  if (one_in(3)) limits.length = one_in(2) ? "0" : std::to_string(20 + below(30));
  return step("limit length '" + limits.length + "' and '" + limits.concurrency + "' '" +
                  limits.max + "' in " + limits.duration + " burst " + limits.burst,
              [=](auto& q) { return q.limit(limits); });
}

Step Life::hold() {
  const auto length = one_in(3) ? 0 : 1 + up_to(10'000);
  return step("hold for " + std::to_string(length), [=](auto& q) { return q.hold(length); });
}

Step Life::pause() {
  const bool paused = one_in(4);
  return step(paused ? "pause" : "resume", [=](auto& q) { return q.pause(paused); });
}

Step Life::keep_metrics() {
  const auto minutes = one_in(4) ? 0 : 1 + up_to(3);
  return step("keep_metrics " + std::to_string(minutes),
              [=](auto& q) { return q.keep_metrics(minutes); });
}

Step Life::emit() {
  return step("emit", [](auto& q) { return q.emit("hello", "to you"); });
}

Step Life::trim() {
  const auto keep = below(30);
  const Trim how{.most = 1 + below(40),
                 .cap = one_in(2) ? std::to_string(5 + below(30)) : "",
                 .trim = one_in(3) ? "~" : "="};
  return step("trim to " + std::to_string(keep) + " most " + std::to_string(how.most) + " cap '" +
                  how.cap + "' " + how.trim,
              [=](auto& q) { return q.trim(keep, how); });
}

Step Life::pop_mark() {
  Step popped = step("pop a mark", [](auto& q) { return q.counts(); });
  popped.of_model = [](QueueModel& q) { return q.pop_mark(); };
  popped.of_scripts = [](ScriptQueue& q) { return by_hand(q, {"ZPOPMIN", q.keys.marker}); };
  return popped;
}

Step Life::lease_node() {
  NodeRequest request{.now = now(),
                      .until = now() + 30'000,
                      .owner = "owner-" + std::to_string(client_),
                      .keep = !one_in(4),
                      .nodes = {}};
  std::string text = "lease_node";
  for (auto count = 1 + below(3); count > 0; --count) {
    request.nodes.push_back(static_cast<unsigned>(below(5)));
    text += " " + std::to_string(request.nodes.back());
  }
  Step leased =
      step(text + (request.keep ? "" : " and return it"), [](auto& q) { return q.counts(); });
  leased.of_model = [request](QueueModel& q) { return q.lease_node(request); };
  leased.of_scripts = [request](ScriptQueue& q) {
    return answer(test::lease_node(q.redis(), request, q.journal));
  };
  return leased;
}

// Of a minted id only, which is never added again.
Step Life::lose() {
  Ids minted;
  for (const auto& [id, job] : model_.jobs)
    if (is_minted_id(id)) minted.push_back(id);
  if (minted.empty()) return look();
  const auto id = minted[below(minted.size())];
  Step lost = step("the hash of " + id + " is deleted by hand", [](auto& q) { return q.counts(); });
  lost.of_model = [id](QueueModel& q) {
    q.lose(id);
    return "";
  };
  lost.of_scripts = [id](ScriptQueue& q) {
    by_hand(q, {"DEL", q.job(id)});
    return "";
  };
  return lost;
}

Step Life::look() {
  const auto id = some_jobs().front();
  const bool descending = one_in(2);
  const auto limit = static_cast<unsigned>(1 + below(10));
  switch (below(11)) {
    case 10: {
      const auto scheduler = some_scheduler();
      Step read = step("read_scheduler " + scheduler, [](auto& q) { return q.counts(); });
      read.of_model = [scheduler](QueueModel& q) {
        return q.is_open ? q.read_scheduler(scheduler) : "EMQFENCE";
      };
      read.of_scripts = [scheduler](ScriptQueue& q) {
        const auto reply = q.read_scheduler(scheduler);
        return reply.is_error() ? answer(reply) : answer_of_read(reply, 1);
      };
      return read;
    }
    case 0: return step("counts", [](auto& q) { return q.counts(); });
    case 1: {
      Step read = step("read " + id, [](auto& q) { return q.counts(); });
      read.of_model = [id](QueueModel& q) { return q.is_open ? q.read(id) : "EMQFENCE"; };
      read.of_scripts = [id](ScriptQueue& q) {
        const auto reply = q.read(id);
        return reply.is_error() ? answer(reply) : answer_of_read(reply);
      };
      return read;
    }
    case 2: {
      const auto first = static_cast<int>(below(3));
      const auto last = one_in(2) ? -1 : static_cast<int>(below(3));
      return step("read_logs " + id, [=](auto& q) { return q.read_logs(id, first, last); });
    }
    case 3: return step("priorities", [=](auto& q) { return q.priorities(limit - 1, limit); });
    case 4: return step("gate", [](auto& q) { return q.gate(); });
    case 5: {
      const auto from = now() / 60'000 - 3;
      return step("metrics", [=](auto& q) { return q.metrics(descending, from, 5); });
    }
    case 6: {
      const std::string de = "d" + std::to_string(below(kDeduplicationIds));
      const auto entry = model_.de.find(de);
      const auto seen = entry == model_.de.end() || one_in(6) ? id : entry->second.owner;
      return step("read_deduplication " + de + " seen " + seen,
                  [=](auto& q) { return q.read_deduplication(de, seen); });
    }
    case 7: {
      const bool of_wait = !one_in(4);
      Ids passed;
      if (!one_in(2)) passed = {id};
      // Now and then the one that was passed last has left, and one before it stayed.
      if (!passed.empty() && !model_.wait.empty()) passed.push_back(model_.wait.front());
      const auto seen = seen_in_line(id);
      return step("line from " + std::to_string(seen) + " behind" + all_of(passed), [=](auto& q) {
        return q.line(of_wait ? q.keys.wait : q.keys.crashed, descending, seen, passed, limit);
      });
    }
    default: {
      const auto which = below(6);
      const auto set_of = [which](const QueueKeys& keys) {
        return std::vector{keys.prioritized, keys.active, keys.delayed,
                           keys.completed,   keys.failed, keys.waiting_children}[which];
      };
      const auto& set =
          *std::vector{&model_.prioritized, &model_.active, &model_.delayed,
                       &model_.completed,   &model_.failed, &model_.waiting_children}[which];
      Seen from;
      if (!one_in(3)) {
        from.id = id;
        const auto near = set.empty() ? 5 : in_order(set)[below(set.size())].second;
        from.score = std::to_string(set.contains(id) ? set.at(id) : near);
      }
      return step("page from" + described(from),
                  [=](auto& q) { return q.page(set_of(q.keys), descending, from, limit); });
    }
  }
}

// Empties the queue, one call after the other, and ends it.
Step Life::obliterate() {
  if (!model_.paused) return step("pause", [](auto& q) { return q.pause(true); });
  if (!model_.trash.empty()) {
    const Ids ids(model_.trash.begin(), model_.trash.end());
    const std::set<std::string> declared(ids.begin(), ids.end());
    return step("evict" + all_of(ids), [=](auto& q) {
      q.keep_completed = q.keep_failed = {};
      return q.evict(ids, declared);
    });
  }
  RemoveWhere where;
  Ids ids;
  const auto take = [&](const std::string& state, const auto& from) {
    if (!ids.empty()) return;
    where.state = state;
    for (const auto& id : from)
      if (ids.size() < 100 && !id.empty()) ids.push_back(id);
  };
  take("waiting", model_.wait);
  take("waiting", model_.crashed);
  for (const auto& [state, set] :
       {std::pair("active", &model_.active), std::pair("prioritized", &model_.prioritized),
        std::pair("delayed", &model_.delayed), std::pair("completed", &model_.completed),
        std::pair("failed", &model_.failed),
        std::pair("waiting-children", &model_.waiting_children)}) {
    Ids all;
    for (const auto& [id, score] : *set) all.push_back(id);
    take(state, all);
  }
  if (!ids.empty())
    return step("remove" + all_of(ids) + " from '" + where.state + "'",
                [=](auto& q) { return q.remove(ids, where); });
  if (!model_.schedulers.empty()) {
    Ids schedulers;
    for (const auto& [id, scheduler] : model_.schedulers) schedulers.push_back(id);
    return step("remove_schedulers" + all_of(schedulers),
                [=](auto& q) { return q.remove_schedulers(schedulers); });
  }
  if (!model_.plans.empty()) return close_plan();
  is_obliterating_ = false;
  const bool all = one_in(2);
  const auto outbox = one_in(4) ? below(3) : model_.outbox.size();
  return step((all ? "obliterate all and " : "obliterate and ") + std::to_string(outbox) +
                  " entries of the outbox",
              [=](auto& q) { return q.obliterate(all, outbox); });
}

}  // namespace echomq::test
