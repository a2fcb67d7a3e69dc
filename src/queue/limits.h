// SPDX-License-Identifier: MIT
// Setting and reading the limits of a queue. From any thread but the loop's; the checks are pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "echomq/limits.h"
#include "echomq/result.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

// The first value that is outside its range.
std::optional<Error> check_concurrency(unsigned concurrency);
std::optional<Error> check_rate(const RateLimit& rate);
std::optional<Error> check_length(std::int64_t max_length);
std::optional<Error> check_hold(std::chrono::milliseconds duration);

// What is set becomes the queue's limit; 0 and nullopt end it.
Result<void> limit_concurrency(QueueCore& queue, unsigned concurrency);
Result<void> limit_length(QueueCore& queue, std::int64_t max_length);
Result<void> limit_rate(QueueCore& queue, const std::optional<RateLimit>& rate);
// Until when the queue is held; 0 of a duration of 0, which ends a hold.
Result<std::int64_t> hold(QueueCore& queue, std::chrono::milliseconds duration);
Result<Limits> read_limits(QueueCore& queue);

}  // namespace echomq::inline v2
