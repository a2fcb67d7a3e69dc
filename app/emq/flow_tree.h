// SPDX-License-Identifier: MIT
// A tree of jobs as JSON describes it, for `emq flow add`, and as `emq flow show` draws it.
#pragma once

#include <string>
#include <string_view>

#include "echomq/flow.h"
#include "output.h"

namespace emq {

// {"queue","name","data" or "text","options":{..},"on_failure","children":[..]}; only the queue
// must be there. Errors: encoding (no JSON), invalid_argument; of one job with its path.
echomq::Result<echomq::FlowJob> read_flow(std::string_view text);

Json to_json(const echomq::AddedFlow& flow);
Json to_json(const echomq::FlowTree& tree);

// Lines for people, the children indented below their parents.
std::string draw(const echomq::FlowTree& tree);
// For Graphviz.
std::string to_dot(const echomq::FlowTree& tree);

}  // namespace emq
