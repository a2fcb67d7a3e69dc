// SPDX-License-Identifier: MIT
#include "probe/states.h"

#include <algorithm>
#include <array>
#include <set>

#include "echomq/keyspace.h"
#include "protocol/v1_names.h"

namespace echomq::inline v2::probe {
namespace {

// Of the table in docs/states.md, by script.
constexpr std::array kTransitions{
    Transition{"deduplication/end", "-", "delayed"},
    Transition{"deduplication/end", "-", "prioritized"},
    Transition{"deduplication/end", "-", "waiting"},
    Transition{"flow/add", "-", "delayed"},
    Transition{"flow/add", "-", "prioritized"},
    Transition{"flow/add", "-", "waiting"},
    Transition{"flow/add", "-", "waiting-children"},
    Transition{"flow/settle", "failed", "waiting-children"},
    Transition{"flow/settle", "waiting-children", "delayed"},
    Transition{"flow/settle", "waiting-children", "failed"},
    Transition{"flow/settle", "waiting-children", "prioritized"},
    Transition{"flow/settle", "waiting-children", "waiting"},
    Transition{"flow/wait", "active", "failed"},
    Transition{"flow/wait", "active", "prioritized"},
    Transition{"flow/wait", "active", "waiting"},
    Transition{"flow/wait", "active", "waiting-children"},
    Transition{"job/add", "-", "delayed"},
    Transition{"job/add", "-", "prioritized"},
    Transition{"job/add", "-", "waiting"},
    Transition{"job/add_deduplicated", "-", "delayed"},
    Transition{"job/add_deduplicated", "-", "prioritized"},
    Transition{"job/add_deduplicated", "-", "waiting"},
    Transition{"job/add_deduplicated", "delayed", "-"},
    Transition{"job/add_deduplicated", "delayed", "evicted"},
    Transition{"job/claim", "prioritized", "active"},
    Transition{"job/claim", "waiting", "active"},
    Transition{"job/evict", "completed", "evicted"},
    Transition{"job/evict", "evicted", "-"},
    Transition{"job/evict", "failed", "evicted"},
    Transition{"job/finish", "active", "-"},
    Transition{"job/finish", "active", "completed"},
    Transition{"job/finish", "active", "evicted"},
    Transition{"job/finish", "active", "failed"},
    Transition{"job/finish", "completed", "-"},
    Transition{"job/finish", "completed", "evicted"},
    Transition{"job/finish", "failed", "-"},
    Transition{"job/finish", "failed", "evicted"},
    Transition{"job/prioritize", "prioritized", "waiting"},
    Transition{"job/prioritize", "waiting", "prioritized"},
    Transition{"job/promote", "delayed", "prioritized"},
    Transition{"job/promote", "delayed", "waiting"},
    Transition{"job/recover", "active", "failed"},
    Transition{"job/recover", "active", "waiting"},
    Transition{"job/recover", "failed", "evicted"},
    Transition{"job/release", "active", "prioritized"},
    Transition{"job/release", "active", "waiting"},
    Transition{"job/remove", "active", "-"},
    Transition{"job/remove", "completed", "-"},
    Transition{"job/remove", "delayed", "-"},
    Transition{"job/remove", "failed", "-"},
    Transition{"job/remove", "prioritized", "-"},
    Transition{"job/remove", "waiting", "-"},
    Transition{"job/remove", "waiting-children", "-"},
    Transition{"job/reschedule", "delayed", "prioritized"},
    Transition{"job/reschedule", "delayed", "waiting"},
    Transition{"job/retry", "active", "delayed"},
    Transition{"job/retry", "active", "prioritized"},
    Transition{"job/retry", "active", "waiting"},
    Transition{"job/retry_finished", "completed", "prioritized"},
    Transition{"job/retry_finished", "completed", "waiting"},
    Transition{"job/retry_finished", "failed", "prioritized"},
    Transition{"job/retry_finished", "failed", "waiting"},
    Transition{"schedule/fire", "-", "prioritized"},
    Transition{"schedule/fire", "-", "waiting"},
};

struct Place {
  std::string_view state;
  std::vector<std::string> read;
};

std::vector<Place> places(const ScriptQueue& q) {
  const auto& keys = q.keys;
  // Where v1 moves what waits when it pauses a queue.
  const auto paused = v1_word_key(q.name(), "paused");
  const auto list = [](const std::string& key) {
    return std::vector<std::string>{"LRANGE", key, "0", "-1"};
  };
  // Without the sentinel of `active`, which stands at infinity.
  const auto set = [](const std::string& key) {
    return std::vector<std::string>{"ZRANGEBYSCORE", key, "-inf", "(inf"};
  };
  return {{"waiting", list(keys.wait)},
          {"waiting", list(paused)},
          {"waiting", list(keys.crashed)},
          {"prioritized", set(keys.prioritized)},
          {"delayed", set(keys.delayed)},
          {"active", set(keys.active)},
          {"waiting-children", set(keys.waiting_children)},
          {"completed", set(keys.completed)},
          {"failed", set(keys.failed)},
          {"evicted", {"SSCAN", keys.trash, "0", "COUNT", "1000000"}}};
}

// A cursor stands before what SSCAN found.
std::vector<std::string> ids_in(const Reply& reply) {
  const bool scanned = reply.items.size() == 2 && reply.items[1].kind == Reply::Kind::array;
  return texts(scanned ? reply.items[1] : reply);
}

// The ids whose hash may be there.
std::vector<std::string> declared_jobs(const ScriptQueue& q) {
  std::vector<std::string> ids;
  for (const auto& key : q.declared)
    if (const auto parsed = parse_key(key); parsed && parsed->kind == KeyKind::job)
      ids.push_back(parsed->id);
  return ids;
}

std::set<std::string> with_hash(Link& link, const ScriptQueue& q,
                                const std::vector<std::string>& ids) {
  std::vector<std::vector<std::string>> commands;
  commands.reserve(ids.size());
  for (const auto& id : ids) commands.push_back({"EXISTS", q.job(id)});
  const auto answers = link.all_of(commands);
  std::set<std::string> there;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (answers[i].integer == 1) there.insert(ids[i]);
  return there;
}

}  // namespace

States states_of(Link& link, const ScriptQueue& q) {
  const auto where = places(q);
  std::vector<std::vector<std::string>> commands;
  commands.reserve(where.size());
  for (const auto& place : where) commands.push_back(place.read);
  const auto answers = link.all_of(commands);
  States states;
  for (std::size_t i = 0; i < where.size(); ++i)
    for (const auto& id : ids_in(answers[i]))
      if (!id.empty()) states[id].push_back(where[i].state);  // an emptied entry of `wait` is none
  return states;
}

std::vector<std::string> jobs_out_of_state(Link& link, const ScriptQueue& q) {
  const auto states = states_of(link, q);
  auto ids = declared_jobs(q);
  const auto there = with_hash(link, q, ids);
  std::vector<std::string> odd;
  for (const auto& [id, in] : states) {
    if (in.size() > 1) {
      std::string all;
      for (const auto state : in) all.append(" ").append(state);
      odd.push_back(std::string(id).append(" is in").append(all));
    }
    if (!there.contains(id))
      odd.push_back(
          std::string(id).append(" is in ").append(in.front()).append(" and has no hash"));
  }
  for (const auto& id : there)
    if (!states.contains(id)) odd.push_back(id + " is in no state");
  return odd;
}

std::span<const Transition> transitions() { return kTransitions; }

std::vector<Transition> changes(std::string_view script, const States& before,
                                const States& after) {
  static constexpr std::string_view kNone = "-";
  const auto state = [](const States& states, const std::string& id) -> std::string_view {
    const auto found = states.find(id);
    return found == states.end() ? kNone : found->second.front();
  };
  std::vector<Transition> all;
  const auto compare = [&](const std::string& id) {
    auto from = state(before, id);
    const auto to = state(after, id);
    // An add may have the id of what is in the trash, which nobody sees as a job any more.
    if (from == "evicted" && to != from && to != kNone) from = kNone;
    if (from != to) all.push_back({script, from, to});
  };
  for (const auto& [id, in] : before) compare(id);
  for (const auto& [id, in] : after)
    if (!before.contains(id)) compare(id);
  return all;
}

}  // namespace echomq::inline v2::probe
