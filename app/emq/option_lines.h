// SPDX-License-Identifier: MIT
// The options of a job in words, the same in every verb that shows them to people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "echomq/options.h"

namespace emq {

// Labels and texts. Not the attempts, of which a job has more to tell.
std::vector<std::pair<std::string, std::string>> option_lines(const echomq::JobOptions& options);

}  // namespace emq
