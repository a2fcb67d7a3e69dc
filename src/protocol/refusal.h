// SPDX-License-Identifier: MIT
// From an error on the wire to the public error: one home for both directions of the closed
// registry of class words (protocol.md section 4.7).
#pragma once

#include <string_view>

#include "echomq/result.h"

namespace echomq::inline v2::protocol {

// `text` is the error line without its leading '-'. `queue` and `probe` name what was touched, for
// the fields of a fence error.
Error refusal(std::string_view text, std::string_view queue, std::string_view probe);

// A fence error with its parts.
Error fence_refusal(std::string_view queue, std::string_view found, std::string_view expected,
                    std::string_view probe);

// A fence error that says that there is no such queue: never opened, flushed or obliterated.
bool is_absent(const Error& error);

}  // namespace echomq::inline v2::protocol
