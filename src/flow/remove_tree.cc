// SPDX-License-Identifier: MIT
#include "flow/remove_tree.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flow/read_children.h"
#include "job/reference.h"
#include "queue/ask.h"
#include "queue/moves.h"
#include "queue/relay.h"
#include "wire/command.h"

namespace echomq::inline v2::flow {
namespace {

constexpr std::size_t kEdgesPerRead = 256;

class TreeRemover {
 public:
  explicit TreeRemover(std::shared_ptr<ClientCore> client) : client_(std::move(client)) {}

  Result<FlowRemoval> remove(const std::string& queue, const std::string& id) {
    if (auto ok = collect(queue, id); !ok) return ok.error();
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      for (const auto& family : *level)
        if (auto ok = remove_children(family); !ok) return ok.error();
    if (auto ok = remove_some(queue, {id}, {}); !ok) return ok.error();
    return std::move(removal_);
  }

 private:
  // A parent, and its children that are there.
  struct Family {
    std::string queue{};
    std::string id{};
    std::map<std::string, Ids> children{};  // queue -> ids
  };
  using Level = std::vector<Family>;

  // Which jobs there are below it, by their depth.
  Result<void> collect(const std::string& queue, const std::string& id) {
    std::unordered_set<std::string> seen{job::reference(queue, id)};
    std::vector<job::Reference> parents{{queue, id}};
    while (!parents.empty()) {
      Level level;
      for (auto& parent : std::exchange(parents, {})) {
        Family family{.queue = std::move(parent.queue), .id = std::move(parent.id)};
        if (auto ok = collect_children(family, seen); !ok) return ok;
        if (family.children.empty()) continue;
        for (const auto& [of, ids] : family.children)
          for (const auto& one : ids) parents.push_back({of, one});
        level.push_back(std::move(family));
      }
      levels_.push_back(std::move(level));
    }
    return {};
  }

  // What a parent has noted of a child stays when that is gone, and its id may be of another job by
  // then: whose child a job is, its own edge tells.
  Result<void> collect_children(Family& family, std::unordered_set<std::string>& seen) {
    auto core = QueueCore::of(client_, family.queue);
    std::vector<Child> noted;
    auto ok = each_child(*core, family.id, kChildStates, [&](Child child) {
      noted.push_back({.queue = std::move(child.queue), .id = std::move(child.id)});
      return true;
    });
    if (!ok) return ok;
    const auto ending = job::edge_ending(family.queue, family.id);
    for (std::size_t from = 0; from < noted.size(); from += kEdgesPerRead) {
      const auto end = std::min(noted.size(), from + kEdgesPerRead);
      std::vector<std::string> commands;
      for (std::size_t i = from; i < end; ++i)
        commands.push_back(wire::command({"HGET", job_key(noted[i].queue, noted[i].id), "edge"}));
      const auto edges = ask_plainly(*core, std::move(commands));
      if (!edges) return edges.error();
      for (std::size_t i = from; i < end; ++i)
        if ((*edges)[i - from].text.ends_with(ending) &&
            seen.insert(job::reference(noted[i].queue, noted[i].id)).second)
          family.children[noted[i].queue].push_back(std::move(noted[i].id));
    }
    return {};
  }

  // A parent that runs will stay, so it is told at once. One that does not is told only if it turns
  // out later that it stays: a message may let it run before its turn comes. The outbox, which
  // survives this process, has either.
  Result<void> remove_children(const Family& family) {
    auto core = QueueCore::of(client_, family.queue);
    const auto lease =
        ask_plainly(*core, wire::command({"ZSCORE", core->keys().active, family.id}));
    if (!lease) return lease.error();
    RemoveFrom from{.parent = job::reference(family.queue, family.id)};
    for (const auto& [queue, ids] : family.children) {
      std::vector<EndMessage> untold;
      if (lease->is_null()) from.untold = &untold;
      if (auto ok = remove_some(queue, ids, from); !ok) return ok;
      if (!untold.empty()) untold_[from.parent].emplace_back(queue, std::move(untold));
    }
    return {};
  }

  Result<void> remove_some(const std::string& queue, const Ids& ids, const RemoveFrom& from) {
    auto core = QueueCore::of(client_, queue);
    for (std::size_t at = 0; at < ids.size(); at += kMaxBatchJobs) {
      const auto end = std::min(ids.size(), at + kMaxBatchJobs);
      const Ids some(ids.begin() + static_cast<std::ptrdiff_t>(at),
                     ids.begin() + static_cast<std::ptrdiff_t>(end));
      const auto statuses = remove_batch(*core, some, from);
      const bool gone = !statuses && statuses.error().code == ErrorCode::not_found;
      if (!statuses && !gone) return statuses.error();
      for (std::size_t i = 0; i < some.size(); ++i)
        if (auto ok = note(queue, some[i], gone ? "gone" : (*statuses)[i]); !ok) return ok;
    }
    return {};
  }

  // One that is gone already, or is no child any more (`state`), is as good as removed.
  Result<void> note(const std::string& queue, const std::string& id, const std::string& status) {
    if (status == "ok") ++removal_.removed;
    const bool stays = status == "lock" || status == "moved";
    if (stays) {
      const std::string why = status == "lock" ? "it runs" : "it moved each time it was looked for";
      removal_.left.push_back(
          {queue, id,
           Error{ErrorCode::wrong_state,
                 "job " + id + " of queue \"" + queue + "\" was not removed: " + why,
                 {{"queue", queue}, {"value", id}}}});
    }
    const auto untold = untold_.extract(job::reference(queue, id));
    if (untold.empty()) return {};
    for (const auto& [of, messages] : untold.mapped()) {
      auto children = QueueCore::of(client_, of);
      if (stays) {
        if (const auto told = deliver(*children, messages); !told) return told.error();
      } else if (auto ok = forget(*children, messages); !ok) {
        return ok;
      }
    }
    return {};
  }

  std::shared_ptr<ClientCore> client_;
  std::vector<Level> levels_;
  // What the children of a parent would have told it, by the parent and the queue of the children.
  std::unordered_map<std::string, std::vector<std::pair<std::string, std::vector<EndMessage>>>>
      untold_;
  FlowRemoval removal_;
};

}  // namespace

Result<FlowRemoval> remove_tree(const std::shared_ptr<ClientCore>& client, const std::string& queue,
                                const std::string& id) {
  return TreeRemover(client).remove(queue, id);
}

}  // namespace echomq::inline v2::flow
