// SPDX-License-Identifier: MIT
// What stands of the children of a job: pending ones in `dependencies`, the others as they were
// settled. From any thread but the loop's.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>

#include "echomq/children.h"
#include "echomq/flow.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2::flow {

inline constexpr std::array kChildStates{ChildState::pending, ChildState::completed,
                                         ChildState::ignored, ChildState::failed};

// One page, of a job that is known to be there.
Result<ChildPage> read_page(QueueCore& queue, const std::string& id, ChildState state,
                            const ChildPageOptions& options);
// Each child in these states, once; ends when `take` answers that it wants no more.
Result<void> each_child(QueueCore& queue, const std::string& id, std::span<const ChildState> states,
                        const std::function<bool(Child)>& take);
Result<ChildCounts> read_counts(QueueCore& queue, const std::string& id);
// All of them. not_found: there is no such job.
Result<Children> read_children(QueueCore& queue, const std::string& id);

}  // namespace echomq::inline v2::flow
