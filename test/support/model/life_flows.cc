// SPDX-License-Identifier: MIT
// Flows, in a life: trees in this queue and, as far as this one hears of it, in another one.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/id.h"
#include "support/model/life.h"
#include "support/model/life_text.h"

namespace echomq::test {
namespace {

constexpr auto kHere = "model:";
constexpr auto kElsewhere = "other:";

constexpr std::size_t kRecords = 3;

std::string described_plan(const flow::Plan& entries) {
  std::string all;
  for (const auto& entry : entries)
    all += entry.kind == flow::PlanEntry::Kind::edges
               ? " " + entry.id + " -> (" + entry.refs + ")"
               : " " + entry.queue + ":" + entry.id + (entry.waits ? " waits" : "") +
                     " edge=" + entry.edge + " delay=" + std::to_string(entry.delay_ms) +
                     " priority=" + std::to_string(entry.priority) + (entry.lifo ? " lifo" : "");
  return all;
}

std::string described_end(const EndOfChild& end) {
  return " " + end.parent + " of " + end.ref + " " + std::to_string(end.epoch) + ":" + end.kind +
         ":" + end.policy + ":" + end.value + ";";
}

}  // namespace

// A small tree, or children of a job that runs.
flow::Plan Life::new_plan(const std::string& name) {
  static constexpr std::array kPolicies{ChildFailure::fail_parent, ChildFailure::continue_parent,
                                        ChildFailure::ignore, ChildFailure::remove_dependency};
  std::vector<flow::PlannedJob> jobs(1 + below(5));
  const bool are_children = one_in(3) && !model_.active.empty();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto& job = jobs[i];
    const bool is_root = i == 0 && !are_children;
    job.queue = !is_root && one_in(4) ? "other" : "model";
    job.id = one_in(2) ? "c" + std::to_string(below(kCustomIds)) : std::to_string(next_minted_++);
    job.on_failure = kPolicies[below(kPolicies.size())];
    job.parent =
        is_root || (are_children && one_in(2)) || i == 0 ? -1 : static_cast<std::int64_t>(below(i));
    if (i > 0 && !are_children && job.parent < 0) job.parent = 0;
    job.job.name = "job";
    job.job.data = std::to_string(below(9));
    if (one_in(4)) job.job.delay_ms = 1 + up_to(5'000);
    if (one_in(4)) job.job.priority = 1 + static_cast<unsigned>(below(3));
    job.job.lifo = job.job.priority == 0 && one_in(4);
  }
  // Level by level, as a tree is walked.
  std::ranges::stable_sort(jobs, {}, &flow::PlannedJob::parent);
  for (auto& job : jobs)
    if (job.parent >= 0) job.parent = are_children ? -1 : 0;
  if (!are_children) return flow::make_plan(name, jobs, now());
  auto running = model_.active.begin();
  std::advance(running, static_cast<std::ptrdiff_t>(below(model_.active.size())));
  return flow::make_plan(name, "model", running->first, jobs, now());
}

// Some of a plan, or of one that was added before.
Step Life::add_flow() {
  if (plans_.empty() || !one_in(3)) {
    const auto name = kHere + std::to_string(next_minted_++);
    plans_.push_back({name, new_plan(name)});
  }
  if (plans_.size() > 12) plans_.erase(plans_.begin());
  auto [name, entries] = one_in(2) ? plans_.back() : plans_[below(plans_.size())];
  if (one_in(3)) entries.resize(1 + below(entries.size()));
  return step("add_flow " + name + described_plan(entries),
              [name, entries](auto& q) { return q.add_flow(name, entries); });
}

Step Life::wait_for_children() {
  std::vector<Release> items;
  for (const auto& run : some_runs())
    items.push_back({.run = run, .ats = 1U + static_cast<unsigned>(below(3))});
  maybe_twice(items);
  const auto keep = some_rule(8);
  return step("wait_for_children" + runs_of(items) + described(keep), [=](auto& q) {
    q.keep_failed = keep;
    return q.wait_for_children(items);
  });
}

// How a child of another queue ended.
EndOfChild Life::end_told_by(const std::string& parent, const std::string& ref,
                             std::uint64_t epoch) {
  static constexpr std::string_view kKinds = "ccffffr";
  static constexpr std::string_view kLetters = "fcir";
  EndOfChild end{.parent = parent,
                 .ref = ref,
                 .epoch = epoch,
                 .kind = kKinds[below(kKinds.size())],
                 .policy = kLetters[below(kLetters.size())],
                 .value = std::to_string(below(3))};
  if (one_in(4)) end.epoch += below(3);
  if (end.kind == 'r') end.value.clear();
  return end;
}

Step Life::settle() {
  std::vector<EndOfChild> ends;
  for (const auto& [field, text] : model_.outbox) {
    const auto blank = field.find(' ');
    if (blank == std::string::npos || !field.substr(blank + 1).starts_with(kHere)) continue;
    EndOfChild end{.parent = field.substr(blank + 1 + std::string(kHere).size()),
                   .ref = kHere + field.substr(0, blank),
                   .epoch = std::stoull(text)};
    std::size_t at = text.find(':') + 1;
    end.kind = text[at];
    at = text.find(':', at + 2) + 1;
    end.policy = text[at];
    end.value = text.substr(at + 2);
    ends.push_back(end);
  }
  for (const auto& [id, edges] : model_.children) {
    for (const auto& [ref, epoch] : edges.pending)
      if (ref.starts_with(kElsewhere) && one_in(2)) ends.push_back(end_told_by(id, ref, epoch));
    for (const auto* const settled : {&edges.processed, &edges.ignored, &edges.unsuccessful})
      for (const auto& [ref, text] : *settled)
        if (one_in(4)) ends.push_back(end_told_by(id, ref, std::stoull(text) + below(2)));
  }
  std::ranges::shuffle(ends, random_);
  ends.resize(std::min(ends.size(), 1 + below(6)));
  maybe_twice(ends);
  if (!ends.empty() && one_in(6)) {  // a child that ended again meanwhile
    auto again = end_told_by(ends.front().parent, ends.front().ref, ends.front().epoch + 1);
    ends.push_back(again);
  }
  if (ends.empty()) ends.push_back(end_told_by("c0", "other:x", 1));
  std::ranges::stable_sort(ends, {}, &EndOfChild::parent);
  std::string text = "settle";
  for (const auto& end : ends) text += described_end(end);
  const auto keep = some_rule(8);
  return step(text + described(keep), [=](auto& q) {
    q.keep_failed = keep;
    return q.settle(ends);
  });
}

Step Life::delivered() {
  std::vector<Delivered> items;
  std::string text = "delivered";
  for (const auto& [field, message] : model_.outbox) {
    if (field.find(' ') == std::string::npos || one_in(2)) continue;
    items.push_back({.field = field,
                     .seen = one_in(6) ? "1:c:" : message.substr(0, message.find(':') + 3),
                     .orphaned = one_in(3)});
  }
  if (items.empty()) items.push_back({"c0 other:x", "1:c:"});
  for (const auto& item : items)
    text += " " + item.field + "='" + item.seen + "'" + (item.orphaned ? " orphaned;" : ";");
  return step(text, [=](auto& q) { return q.delivered(items); });
}

// ---- records of plans ----

Step Life::plan() {
  const auto id = std::to_string(below(kRecords));
  const auto entries = new_plan(kHere + id);
  const auto recorded = model_.plans.find(id);
  const auto length = recorded == model_.plans.end() ? 0 : recorded->second.size();
  const auto first = one_in(4) ? below(4) : length;
  const bool sealed = one_in(2);
  return step("plan " + id + " from " + std::to_string(first) + (sealed ? " to its end" : "") +
                  described_plan(entries),
              [=](auto& q) { return q.plan(id, entries, first, sealed); });
}

Step Life::close_plan() {
  const auto id = model_.plans.empty() ? std::string("0") : model_.plans.begin()->first;
  const auto note = model_.outbox.find("flow:" + id);
  const auto seen =
      note == model_.outbox.end() || one_in(4) ? std::string("s:") : note->second.substr(0, 2);
  return step("close_plan " + id + " seen '" + seen + "'",
              [=](auto& q) { return q.close_plan(id, seen); });
}

}  // namespace echomq::test
