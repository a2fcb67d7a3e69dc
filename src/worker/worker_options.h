// SPDX-License-Identifier: MIT
// What a worker can be asked for. Pure.
#pragma once

#include <optional>

#include "echomq/worker.h"

namespace echomq::inline v2 {

// The first option that is outside its range.
std::optional<Error> check(const WorkerOptions& options);

}  // namespace echomq::inline v2
