// SPDX-License-Identifier: MIT
// Removes a tree of jobs, the deepest first. From any thread but the loop's.
#pragma once

#include <memory>
#include <string>

#include "client/client_core.h"
#include "echomq/flow.h"
#include "echomq/result.h"

namespace echomq::inline v2::flow {

Result<FlowRemoval> remove_tree(const std::shared_ptr<ClientCore>& client, const std::string& queue,
                                const std::string& id);

}  // namespace echomq::inline v2::flow
