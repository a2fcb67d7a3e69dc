// SPDX-License-Identifier: MIT
// Flows: jobs that wait for others, what these tell them, and plans of what is to be added.
#include <algorithm>
#include <set>
#include <utility>

#include "support/model/queue_model.h"

namespace echomq::test {
namespace {

// `<epoch>:<policy>:<parent queue>:<parent>`
struct Edge {
  std::uint64_t epoch = 0;
  std::string policy;
  std::string parent;
};

Edge read_edge(const std::string& text) {
  const auto first = text.find(':');
  const auto second = text.find(':', first + 1);
  return {std::stoull(text), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

// Of a settled edge: `<epoch>:...`.
std::uint64_t epoch_of(const std::string& text) { return std::stoull(text); }
bool fails_parent(const std::string& text) {
  return text.substr(text.find(':') + 1).starts_with("f:");
}

// How many of its children failed a job, and the one that did last.
struct Fails {
  std::int64_t count = 0;
  std::string ref;
};

Fails read_fails(const std::optional<std::string>& text) {
  if (!text) return {};
  return {std::stoll(*text), text->substr(text->find(':') + 1)};
}

}  // namespace

void QueueModel::report(const std::string& id, const std::string& edge, char kind,
                        const std::string& value, Ids& sent, std::int64_t later) {
  if (edge.empty()) return;
  const auto [epoch, policy, parent] = read_edge(edge);
  const auto field = id + " " + parent;
  const auto text = std::to_string(epoch) + ":" + kind + ":" + std::to_string(now + later) + ":" +
                    policy + ":" + value;
  outbox[field] = text;
  sent.insert(sent.end(), {field, text});
}

// The child gets another run.
void QueueModel::reopen(const std::string& id, Ids& sent) {
  auto& job = jobs.at(id);
  if (job.edge.empty()) return;
  const auto [epoch, policy, parent] = read_edge(job.edge);
  job.edge = std::to_string(epoch + 1) + ":" + policy + ":" + parent;
  report(id, job.edge, 'r', "", sent);
}

// The parent ends in `failed` because of a child.
void QueueModel::fall(const std::string& id, const std::string& ref, const std::string& why,
                      Ids& sent) {
  auto& job = jobs.at(id);
  if (!job.run) job.run.emplace();
  job.run->ended = now;
  job.run->token.clear();
  job.failed_by = ref;
  job.failed_reason = "child " + ref + " failed: " + why;
  failed[id] = now;
  report(id, job.edge, 'f', *job.failed_reason, sent);
}

// Parents that fell are kept by a rule without bytes, and nobody is told what leaves the set.
void QueueModel::retain_fallen(std::size_t fallen) {
  if (fallen == 0) return;
  auto keep = keep_failed;
  keep.bytes = 0;
  const auto over = take_over(failed, sizes_failed, keep);
  trash.insert(over.begin(), over.end());
}

// ---- plans ----

std::string QueueModel::plan(const std::string& id, const flow::Plan& entries, std::size_t first,
                             bool sealed) {
  const auto field = "flow:" + id;
  const auto length = plans[id].size();
  const bool is_noted = outbox.contains(field);
  std::string status = "ok";
  if (is_noted && length > first)
    status = "done";
  else if (length < first || (!is_noted && first > 0))
    status = "gone";
  if (status == "ok") {
    for (const auto& entry : entries) plans[id].push_back(entry.encode());
    outbox[field] =
        (sealed ? "s:" : "o:") + std::to_string(now) + ":" + std::to_string(plans[id].size());
  }
  if (plans[id].empty()) plans.erase(id);
  return status;
}

std::string QueueModel::close_plan(const std::string& id, const std::string& seen) {
  const auto note = outbox.find("flow:" + id);
  if (note == outbox.end()) return "gone";
  if (!note->second.starts_with(seen)) return "moved";
  outbox.erase(note);
  plans.erase(id);
  return "ok";
}

// ---- adding ----

std::string QueueModel::add_flow(const std::string& plan, const flow::Plan& entries) {
  const auto receipt = outbox.find("from:" + plan);
  const auto last = receipt == outbox.end() ? -1 : std::stoll(receipt->second);
  std::set<std::string> made;  // by this call
  Ids statuses;
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    if (entry.queue != name_) continue;
    own.push_back(i);
    const bool is_new = std::cmp_greater(i, last);
    const auto* const job = find(entry.id);
    const bool is_trashed = trash.contains(entry.id);
    if (entry.kind == flow::PlanEntry::Kind::job) {
      const bool is_taken = job != nullptr && !(entry.custom() && is_trashed);
      statuses.emplace_back(!is_new ? "done" : is_taken || made.contains(entry.id) ? "dup" : "ok");
      if (statuses.back() == "ok") {
        (void)this->is_taken({.id = entry.id, .custom = entry.custom()});
        made.insert(entry.id);
      }
    } else {
      const bool is_there = job != nullptr && !is_trashed;
      const bool is_its = (made.contains(entry.id) && entry.owner == plan) ||
                          (is_there && (entry.owner == "-" || job->plan == entry.owner));
      statuses.emplace_back(!is_its ? "gone" : is_new ? "ok" : "done");
    }
  }
  if (std::ranges::any_of(statuses, [](const auto& s) { return s == "ok" || s == "dup"; }))
    outbox["from:" + plan] = std::to_string(own.back()) + ":" + std::to_string(now);

  Ids added;
  Ids ready;
  Ids later;
  Ids waiting;
  Ids sent;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto& entry = entries[own[i]];
    if (statuses[i] == "dup")
      report(entry.id, entry.edge, 'f', "a job with this id exists already", sent);
    if (statuses[i] != "ok") continue;
    if (entry.kind == flow::PlanEntry::Kind::edges) {
      name_children(plan, entry);
      continue;
    }
    if (trash.erase(entry.id) == 1) forget(entry.id);
    ModelJob job{.added = now,
                 .name = entry.name,
                 .opts = entry.opts,
                 .data = entry.data,
                 .priority = entry.priority,
                 .lifo = entry.lifo};
    job.edge = entry.edge;
    if (entry.delay_ms > 0) job.delay = entry.delay_ms;
    added.push_back(entry.id);
    if (entry.waits) {
      job.plan = plan;
      waiting_children[entry.id] = now;
      waiting.push_back(entry.id);
    } else {
      ready.push_back(entry.id);
      if (entry.delay_ms > 0) {
        delayed[entry.id] = now + entry.delay_ms;
        later.push_back(entry.id);
      }
    }
    jobs[entry.id] = job;
  }
  line_up(ready);
  tell({{"added", added}, {"delayed", later}});
  tell({{"waiting-children", waiting}});
  return bracketed({bracketed(statuses), bracketed(sent)});
}

// A child that the job has had before is awaited anew.
void QueueModel::name_children(const std::string& plan, const flow::PlanEntry& entry) {
  auto& job = jobs.at(entry.id);
  auto& edges = children[entry.id];
  subkeys.insert(entry.id);
  std::int64_t failures = 0;
  std::string ref;
  for (const char c : entry.refs + " ") {
    if (c != ' ') {
      ref += c;
      continue;
    }
    if (entry.owner == "-") {
      edges.processed.erase(ref);
      edges.ignored.erase(ref);
      const auto before = edges.unsuccessful.find(ref);
      if (before != edges.unsuccessful.end()) {
        if (fails_parent(before->second)) ++failures;
        edges.unsuccessful.erase(before);
      }
    }
    edges.pending[std::exchange(ref, {})] = std::stoull(entry.epoch);
  }
  if (entry.owner != "-") return;
  job.plan = plan;
  if (failures == 0 || !job.fails) return;
  const auto fails = read_fails(job.fails);
  job.fails = std::to_string(std::max<std::int64_t>(fails.count - failures, 0)) + ":" + fails.ref;
}

// ---- what children tell ----

std::string QueueModel::settle(const std::vector<EndOfChild>& ends) {
  Ids statuses;
  Ids sent;
  Ids waits;
  Ids ready;
  Ids later;
  Ids fallen;
  for (std::size_t i = 0; i < ends.size();) {
    const auto& id = ends[i].parent;
    auto* const job = trash.contains(id) ? nullptr : find(id);
    const bool did_fall = job != nullptr && failed.contains(id) && job->failed_by;
    const bool is_waiting = waiting_children.contains(id);
    auto fails = read_fails(job == nullptr ? std::nullopt : job->fails);
    const auto fails_before = fails.count;
    bool goes_on = false;
    std::optional<std::string> why;
    for (; i < ends.size() && ends[i].parent == id; ++i) {
      const auto& end = ends[i];
      statuses.emplace_back(job == nullptr ? "gone" : "moved");
      if (job == nullptr) continue;
      auto& edges = children[id];
      const auto pending = edges.pending.find(end.ref);
      const bool is_pending = pending != edges.pending.end();
      std::optional<std::uint64_t> present;
      if (is_pending) present = pending->second;
      for (const auto* const settled : {&edges.processed, &edges.ignored, &edges.unsuccessful})
        if (const auto found = settled->find(end.ref); !present && found != settled->end())
          present = epoch_of(found->second);
      if (!present || end.epoch < *present) continue;
      if (end.epoch == *present && (!is_pending || end.kind == 'r')) continue;
      if (!is_pending && !is_waiting && !did_fall) continue;
      statuses.back() = "ok";
      if (!is_pending) {
        const auto before = edges.unsuccessful.find(end.ref);
        const bool did_fail = before != edges.unsuccessful.end() && fails_parent(before->second);
        if (did_fail) fails.count = std::max<std::int64_t>(fails.count - 1, 0);
        for (auto* const settled : {&edges.processed, &edges.ignored, &edges.unsuccessful})
          settled->erase(end.ref);
      }
      const auto epoch = std::to_string(end.epoch) + ":";
      if (end.kind == 'r') {
        edges.pending[end.ref] = end.epoch;
        continue;
      }
      edges.pending.erase(end.ref);
      if (end.kind == 'c')
        edges.processed[end.ref] = epoch + end.value;
      else if (end.policy == 'i')
        edges.ignored[end.ref] = epoch + end.value;
      else if (end.policy != 'r')
        edges.unsuccessful[end.ref] = epoch + end.policy + ":" + end.value;
      if (end.kind != 'f') continue;
      goes_on = goes_on || end.policy == 'c';
      if (end.policy != 'f') continue;
      ++fails.count;
      fails.ref = end.ref;
      why = end.value;
    }
    if (job == nullptr) continue;
    if (fails.count != fails_before) job->fails = std::to_string(fails.count) + ":" + fails.ref;
    if (did_fall && fails.count == 0) {
      leave_finished(id);
      job->failed_by.reset();
      job->failed_reason.reset();
      job->run->ended = 0;
      job->run->token.clear();
      waiting_children[id] = now;
      reopen(id, sent);
      waits.push_back(id);
    }
    if (!waiting_children.contains(id)) continue;
    if (why && fails.count > 0) {
      waiting_children.erase(id);
      fall(id, fails.ref, *why, sent);
      fallen.push_back(id);
    } else if (goes_on || children[id].pending.empty()) {
      waiting_children.erase(id);
      if (job->delay.value_or(0) > 0) {
        delayed[id] = now + *job->delay;
        wake_at(delayed[id]);
        later.push_back(id);
      } else {
        if (job->priority > 0 && !job->place) take_place(*job);
        get_ready_by_itself(id);
        ready.push_back(id);
      }
    }
  }
  retain_fallen(fallen.size());
  tell({{"waiting-children", waits}, {"ready", ready}});
  tell({{"delayed", later}, {"failed", fallen}});
  count_ended(ended_failed, fallen.size());
  return bracketed({bracketed(statuses), bracketed(sent)});
}

std::string QueueModel::delivered(const std::vector<Delivered>& items) {
  Ids statuses;
  Ids orphans;
  for (const auto& item : items) {
    const auto found = outbox.find(item.field);
    const bool is_same = found != outbox.end() && found->second.starts_with(item.seen);
    statuses.emplace_back(is_same ? "ok" : "moved");
    if (!is_same) continue;
    outbox.erase(found);
    if (item.orphaned) orphans.push_back(item.field.substr(0, item.field.find(' ')));
  }
  tell({{"orphaned", orphans}});
  return bracketed(statuses);
}

std::string QueueModel::wait_for_children(const std::vector<Release>& items) {
  Ids statuses;
  Ids sent;
  Ids waits;
  Ids ready;
  Ids fallen;
  std::size_t left = 0;
  for (const auto& item : items) {
    const auto& id = item.run.id;
    auto* const job = leave_active(item.run, statuses, left);
    if (job == nullptr) continue;
    if (!job->run) job->run.emplace();
    job->run->claims = item.ats;
    const auto fails = read_fails(job->fails);
    if (fails.count > 0) {
      const auto& edges = children[id].unsuccessful;
      const auto text = edges.contains(fails.ref) ? edges.at(fails.ref) : std::string();
      const auto policy = text.find(':');
      fall(id, fails.ref, text.empty() ? "" : text.substr(text.find(':', policy + 1) + 1), sent);
      fallen.push_back(id);
    } else if (!children[id].pending.empty()) {
      waiting_children[id] = now;
      waits.push_back(id);
    } else {
      get_ready(id, true);
      ready.push_back(id);
    }
  }
  free_slots(left);
  retain_fallen(fallen.size());
  tell({{"waiting-children", waits}, {"ready", ready}});
  tell({{"failed", fallen}});
  count_ended(ended_failed, fallen.size());
  return bracketed({bracketed(statuses), bracketed(sent)});
}

}  // namespace echomq::test
