// SPDX-License-Identifier: MIT
#include "echomq/flow.h"

#include <utility>

#include "base/bad_option.h"
#include "flow/adder.h"
#include "flow/read_children.h"
#include "flow/remove_tree.h"
#include "flow/stuck.h"

namespace echomq::inline v2 {
namespace {

Result<std::shared_ptr<QueueCore>> checked(const std::shared_ptr<ClientCore>& client,
                                           std::string_view queue, std::string_view id) {
  auto core = QueueCore::of(client, queue);
  if (core->name_error()) return *core->name_error();
  if (auto ok = check_any_job_id(id); !ok) return ok.error();
  return core;
}

// Reads a tree, level by level, so deep and wide as is asked for.
class TreeReader {
 public:
  TreeReader(std::shared_ptr<ClientCore> client, const FlowTreeOptions& options)
      : client_(std::move(client)), options_(options) {}

  Result<FlowTree> read(const std::string& queue, const std::string& id) {
    FlowTree root{.queue = queue, .id = id};
    if (auto ok = fill(root, 1, nullptr); !ok) return ok.error();
    if (!root.there) return no_such_job(queue, id);
    return root;
  }

 private:
  Result<void> fill(FlowTree& node, unsigned depth, const FlowTree* parent) {
    auto core = QueueCore::of(client_, node.queue);
    auto job = core->job(node.id);
    if (!job && job.error().code != ErrorCode::not_found) return job.error();
    if (!job) return {};
    // The id is of another job by now.
    if (parent != nullptr && (job->parent_queue != parent->queue || job->parent != parent->id))
      return {};
    node.there = true;
    node.job = *std::move(job);
    node.job.data.clear();
    auto counts = flow::read_counts(*core, node.id);
    if (!counts) return counts.error();
    node.counts = *counts;
    if (counts->all() == 0) return {};
    if (depth == options_.depth) {
      node.cut = true;
      return {};
    }
    if (auto ok = take_children(*core, node); !ok) return ok;
    for (auto& child : node.children)
      if (auto ok = fill(child, depth + 1, &node); !ok) return ok;
    return {};
  }

  Result<void> take_children(QueueCore& core, FlowTree& node) const {
    return flow::each_child(core, node.id, flow::kChildStates, [&](Child child) {
      node.cut = node.children.size() == options_.max_children;
      if (node.cut) return false;
      node.children.push_back(
          {.queue = std::move(child.queue), .id = std::move(child.id), .state = child.state});
      return true;
    });
  }

  std::shared_ptr<ClientCore> client_;
  const FlowTreeOptions& options_;
};

}  // namespace

Result<AddedFlow> Flows::add(const FlowJob& root) { return flow::add_tree(core_, root); }

Result<std::vector<Result<AddedFlow>>> Flows::add_bulk(const std::vector<FlowJob>& roots) {
  std::vector<Result<AddedFlow>> results;
  results.reserve(roots.size());
  for (const auto& root : roots) results.push_back(add(root));
  return results;
}

Result<FlowTree> Flows::tree(std::string_view queue, std::string_view id,
                             const FlowTreeOptions& options) {
  if (options.depth < 1 || options.depth > kMaxFlowDepth)
    return bad_option("depth", std::to_string(options.depth),
                      "1 to " + std::to_string(kMaxFlowDepth));
  if (options.max_children < 1 || options.max_children > kMaxFlowJobs)
    return bad_option("max_children", std::to_string(options.max_children),
                      "1 to " + std::to_string(kMaxFlowJobs));
  auto core = checked(core_, queue, id);
  if (!core) return core.error();
  return TreeReader(core_, options).read((*core)->name(), std::string(id));
}

Result<ChildPage> Flows::children(std::string_view queue, std::string_view id, ChildState state,
                                  const ChildPageOptions& options) {
  auto core = checked(core_, queue, id);
  if (!core) return core.error();
  if (const auto job = (*core)->job(id); !job) return job.error();
  return flow::read_page(**core, std::string(id), state, options);
}

Result<ChildCounts> Flows::child_counts(std::string_view queue, std::string_view id) {
  auto core = checked(core_, queue, id);
  if (!core) return core.error();
  if (const auto job = (*core)->job(id); !job) return job.error();
  return flow::read_counts(**core, std::string(id));
}

Result<FlowRemoval> Flows::remove(std::string_view queue, std::string_view id) {
  auto core = checked(core_, queue, id);
  if (!core) return core.error();
  if (const auto job = (*core)->job(id); !job) return job.error();
  return flow::remove_tree(core_, (*core)->name(), std::string(id));
}

Result<StuckPage> Flows::stuck(std::string_view queue, const PageOptions& options) {
  auto core = QueueCore::of(core_, queue);
  if (core->name_error()) return *core->name_error();
  return flow::find_stuck(*core, options);
}

}  // namespace echomq::inline v2
