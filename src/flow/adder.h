// SPDX-License-Identifier: MIT
// Adding trees: checks all of a tree, records it, adds it. From any thread but the loop's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "echomq/children.h"
#include "echomq/flow.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2::flow {

Result<AddedFlow> add_tree(const std::shared_ptr<ClientCore>& client, const FlowJob& root);

// Children of a job that runs; answers their ids.
Result<std::vector<std::string>> add_children(const std::shared_ptr<QueueCore>& queue,
                                              const std::string& id,
                                              const std::vector<FlowJob>& children);

}  // namespace echomq::inline v2::flow
