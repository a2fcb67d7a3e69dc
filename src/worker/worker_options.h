// SPDX-License-Identifier: MIT
// What a worker, or a consumer, can be asked for. Pure.
#pragma once

#include <optional>
#include <vector>

#include "echomq/consumer.h"
#include "echomq/worker.h"

namespace echomq::inline v2 {

// What a worker needs to know of a consumer's options.
WorkerOptions worker_options(const ConsumerOptions& options);

// The first option that is outside its range.
std::optional<Error> check(const WorkerOptions& options);
std::optional<Error> check(const ConsumerOptions& options);

std::optional<Error> check_worker_concurrency(unsigned concurrency);

// The handler with its middleware around it, the first outermost.
RawHandler around(const std::vector<Middleware>& middleware, RawHandler handler);

}  // namespace echomq::inline v2
