// SPDX-License-Identifier: MIT
// Option values as people type them: "500ms", "exponential:1s,0.2", "1000,24h".
//
// All errors are invalid_argument with the fields "option", "value" and "expected". Values are read
// as text first, because a converter of the option parser would turn "-1" into a large number or
// say less.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/job.h"
#include "echomq/options.h"
#include "echomq/result.h"

namespace emq {

// The same shape for every refused value.
echomq::Error bad_value(std::string_view option, std::string_view value, std::string_view expected);

// Digits alone, from `least` to `most`.
echomq::Result<std::uint64_t> whole_number(std::string_view option, std::string_view text,
                                           std::uint64_t least, std::uint64_t most);

// A whole number and ms, s, m, h or d; without a unit milliseconds. From `least` to ten years.
echomq::Result<std::chrono::milliseconds> duration(
    std::string_view option, std::string_view text,
    std::chrono::milliseconds least = std::chrono::milliseconds(0));

// "none", "fixed:TIME" or "exponential:TIME", then perhaps ",JITTER" from 0 to 1.
echomq::Result<echomq::Backoff> backoff(std::string_view option, std::string_view text);

// "all", "none", or some of "COUNT,AGE,SIZE" in that order ("1000,24h,64MiB").
echomq::Result<echomq::Keep> keep(std::string_view option, std::string_view text);

// "emq,bull" -> {"emq", "bull"}; "" -> {}.
std::vector<std::string> comma_list(std::string_view text);

// A job's id as the wire has it: a branded one (BAT and 11 characters) in decimal.
// Error: invalid_name.
echomq::Result<std::string> plain_id(const std::string& text);

// "failed", "waiting-children"...
echomq::Result<echomq::JobState> job_state(std::string_view option, std::string_view text);

}  // namespace emq
