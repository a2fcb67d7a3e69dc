// SPDX-License-Identifier: MIT
// What stands of the children of a job: pending ones in `dependencies`, the others as they were
// settled. From any thread but the loop's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "echomq/children.h"
#include "echomq/flow.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2::flow {

// `<queue>:<id>`
struct Reference {
  std::string queue;
  std::string id;
};
Reference read_reference(std::string_view text);

// One page, of a job that is known to be there.
Result<ChildPage> read_page(QueueCore& queue, const std::string& id, ChildState state,
                            const ChildPageOptions& options);
Result<ChildCounts> read_counts(QueueCore& queue, const std::string& id);
// All of them. not_found: there is no such job.
Result<Children> read_children(QueueCore& queue, const std::string& id);

}  // namespace echomq::inline v2::flow
