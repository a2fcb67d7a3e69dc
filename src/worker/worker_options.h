// SPDX-License-Identifier: MIT
// What a worker can be asked for. Pure.
#pragma once

#include <optional>
#include <vector>

#include "echomq/worker.h"

namespace echomq::inline v2 {

// The first option that is outside its range.
std::optional<Error> check(const WorkerOptions& options);

std::optional<Error> check_worker_concurrency(unsigned concurrency);

// The handler with its middleware around it, the first outermost.
RawHandler around(const std::vector<Middleware>& middleware, RawHandler handler);

}  // namespace echomq::inline v2
