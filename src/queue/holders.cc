// SPDX-License-Identifier: MIT
#include "queue/holders.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/number.h"
#include "protocol/lease.h"
#include "queue/ask.h"
#include "queue/entries.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

// An entry of `nodes`: "<until ms> <grant> <owner>", the owner "-" when it was given back.
void read_node(std::string_view entry, std::int64_t now_ms, WorkerInfo& out) {
  const auto first = entry.find(' ');
  const auto second = entry.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return;
  const auto owner = entry.substr(second + 1);
  if (owner == "-") return;
  out.node_until_ms = to_number<std::int64_t>(entry.substr(0, first));
  out.process = owner;
  out.alive = out.node_until_ms >= now_ms;
}

}  // namespace

Result<std::vector<WorkerInfo>> read_holders(QueueCore& queue) {
  std::map<unsigned, WorkerInfo> nodes;
  std::unordered_set<std::string> seen;
  SetEntry from;
  for (;;) {
    auto entries = read_set(queue, queue.keys().active, PageOrder::ascending, from, kMaxPageJobs);
    if (!entries) return entries.error();
    for (const auto& entry : *entries) {
      // A lease that is extended while this reads stands further on once more.
      if (!seen.insert(entry.id).second) continue;
      const auto lease = Lease::from_score(to_number<std::uint64_t>(entry.score));
      auto& info = nodes[lease.node];
      info.node = lease.node;
      // It has expired when its last second is over.
      info.jobs.push_back(
          {entry.id, kIdEpochMs + (static_cast<std::int64_t>(lease.deadline_s) + 1) * 1'000});
    }
    if (entries->size() < kMaxPageJobs) break;
    from = std::move(entries->back());
  }
  std::vector<WorkerInfo> workers;
  if (nodes.empty()) return workers;
  std::string bytes;
  const auto key_of_nodes = reserve_key(Reserve::nodes);
  wire::append_header(bytes, 2 + nodes.size());
  wire::append_bulk(bytes, std::string_view("HMGET"));
  wire::append_bulk(bytes, std::string_view(key_of_nodes));
  for (const auto& [node, info] : nodes) wire::append_bulk(bytes, static_cast<std::int64_t>(node));
  const auto reply = ask_plainly(queue, std::move(bytes));
  if (!reply) return reply.error();
  const auto now = queue.client()->now_ms();
  std::size_t i = 0;
  for (auto& [node, info] : nodes) {
    if (i < reply->items.size()) read_node(reply->items[i].text, now, info);
    ++i;
    workers.push_back(std::move(info));
  }
  return workers;
}

}  // namespace echomq::inline v2
