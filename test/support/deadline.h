// SPDX-License-Identifier: MIT
// Waiting in tests: for a condition, never for a time.
#pragma once

#include <chrono>
#include <functional>

namespace echomq::test {

// Asks again and again until `condition` holds or the time is over; answers whether it held.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds deadline = std::chrono::seconds(30));

}  // namespace echomq::test
