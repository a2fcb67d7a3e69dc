// SPDX-License-Identifier: MIT
// Times as people read them. Always UTC, so that two machines show the same text.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "echomq/result.h"

namespace emq {

// Milliseconds since 1970 -> "2026-02-03T04:05:06.789Z"
std::string utc(std::int64_t unix_ms);

// The other way round: "2026-02-03", "2026-02-03T04:05Z", "2026-02-03T04:05:06Z", and digits, which
// are the milliseconds themselves. Error: invalid_argument.
echomq::Result<std::int64_t> moment(std::string_view option, const std::string& text);

// "3 s ago", "in 1 h 59 min", "now"; rounded down.
std::string relative(std::int64_t unix_ms, std::int64_t now_ms);

// "250 ms", "3 s", "5 min 20 s", "2 h", "9 d 4 h": two units at most, rounded down.
std::string length(std::chrono::milliseconds time);

}  // namespace emq
