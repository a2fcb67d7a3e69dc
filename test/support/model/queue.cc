// SPDX-License-Identifier: MIT
// What concerns a queue as a whole, and the node ids.
#include <algorithm>
#include <utility>

#include "support/model/queue_model.h"

namespace echomq::test {

std::string QueueModel::open() {
  if (is_open) return "0";
  is_open = true;
  created = now;
  event_cap = "10000";
  return "1";
}

std::string QueueModel::pause(bool pause) {
  if (paused == pause) return "0";
  paused = pause;
  wake();
  tell({{pause ? "paused" : "resumed", {""}}});
  return "1";
}

std::string QueueModel::obliterate(bool all, std::size_t seen_in_outbox) {
  const auto ghosts = static_cast<std::size_t>(std::ranges::count(wait, ""));
  const auto unseen = outbox.size() - std::min(outbox.size(), seen_in_outbox);
  const auto left = wait.size() - ghosts + crashed.size() + prioritized.size() + active.size() +
                    delayed.size() + completed.size() + failed.size() + waiting_children.size() +
                    trash.size() + schedulers.size() + unseen;
  if (left > 0) return std::to_string(left);
  QueueModel after(name_);
  after.now = now;
  after.keep_completed = keep_completed;
  after.keep_failed = keep_failed;
  after.nodes = nodes;
  after.grants = grants;
  after.logs = logs;  // of hashes that were deleted by hand
  after.children = children;
  after.plans = plans;  // whoever seals one closes it
  if (!all) {
    after.is_open = true;
    after.created = now;
    after.event_cap = event_cap;
    after.event_trim = event_trim;
    after.event_seq = event_seq;
    after.metrics_kept = metrics_kept;
    // A hold is over with the jobs that it was for.
    after.limits = limits;
    if (limits == ModelLimits{}) after.limits.reset();
  }
  *this = std::move(after);
  return "0";
}

std::string QueueModel::keep_metrics(std::int64_t minutes) {
  const auto before = std::exchange(metrics_kept, minutes);
  if (minutes == 0) {
    ended_completed = {};
    ended_failed = {};
  }
  return std::to_string(before);
}

std::string QueueModel::metrics(bool of_completed, std::int64_t from, std::int64_t count) {
  const auto& ended = (of_completed ? ended_completed : ended_failed).minutes;
  Ids answer{std::to_string(metrics_kept)};
  for (auto minute = from; minute < from + count; ++minute)
    answer.push_back(ended.contains(minute) ? std::to_string(ended.at(minute)) : "0");
  return bracketed(answer);
}

std::string QueueModel::emit(const std::string& event, const std::string& payload) {
  write_event("at " + std::to_string(now) + " custom " + event + " payload " + payload);
  return std::to_string(event_seq);
}

std::string QueueModel::trim(std::uint64_t keep, const Trim& how) {
  std::uint64_t removed = 0;
  for (; events.size() > keep && removed < how.most; ++removed) events.pop_front();
  const auto left = events.size() - std::min<std::size_t>(keep, events.size());
  if (left == 0 && !how.cap.empty()) {
    event_cap = how.cap;
    event_trim = how.trim;
  }
  return bracketed({std::to_string(removed), std::to_string(left)});
}

std::string QueueModel::lease_node(const NodeRequest& request) {
  for (const auto number : request.nodes) {
    auto& node = nodes[number];
    const bool is_free = node.grant == 0 || node.owner == "-" || node.until < request.now;
    if (!is_free && node.owner != request.owner) continue;
    const auto floor = node.until;
    if (node.owner != request.owner) node.grant = ++grants;
    node.until = request.until;
    node.owner = request.keep ? request.owner : "-";
    return bracketed({std::to_string(number), std::to_string(node.grant), std::to_string(floor)});
  }
  return "[]";
}

Ids jobs_out_of_state(const QueueModel& model) {
  std::map<std::string, std::string> states;
  const auto note = [&states](const std::string& id, const char* state) {
    if (!id.empty()) states[id] += (states[id].empty() ? "" : " ") + std::string(state);
  };
  for (const auto& id : model.wait) note(id, "wait");
  for (const auto& id : model.crashed) note(id, "crashed");
  for (const auto& [state, set] :
       {std::pair("prioritized", &model.prioritized), std::pair("active", &model.active),
        std::pair("delayed", &model.delayed), std::pair("completed", &model.completed),
        std::pair("failed", &model.failed), std::pair("waiting-children", &model.waiting_children)})
    for (const auto& [id, score] : *set) note(id, state);
  for (const auto& id : model.trash) note(id, "trash");

  Ids wrong;
  for (const auto& [id, state] : states) {
    if (state.find(' ') != std::string::npos) wrong.push_back(id + " is in " + state);
    if (!model.jobs.contains(id) && !model.lost.contains(id))
      wrong.push_back(id + " is in " + state + " and has no hash");
  }
  for (const auto& [id, job] : model.jobs)
    if (!states.contains(id)) wrong.push_back(id + " is in no state");
  return wrong;
}

}  // namespace echomq::test
