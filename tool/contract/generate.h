// SPDX-License-Identifier: MIT
// The C++ side of the script set: one struct for each script, so that a caller that forgets a key,
// or names one that the script does not declare, does not compile.
#pragma once

#include <string>

#include "contract/bundle.h"

namespace echomq::inline v2::contract {

// "job/finish" -> "JobFinish", "queue/rate_limit" -> "QueueRateLimit"
std::string struct_name(const std::string& script);

std::string generated_header(const Bundle& bundle, int revision);

// `header_name` is how the source includes the header; `manifest` is what the bundle's hash is
// over.
std::string generated_source(const Bundle& bundle, const std::string& header_name,
                             const std::string& manifest);

}  // namespace echomq::inline v2::contract
