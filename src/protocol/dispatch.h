// SPDX-License-Identifier: MIT
// Dispatch: EVALSHA first, EVAL when the server answers NOSCRIPT. Two commands at most; the EVAL
// also caches the script, so the next call hits. Inside a pipeline the repaired call runs after its
// successors: callers for whom order matters keep one call in flight (see QueueCore's lanes).
#pragma once

#include <chrono>

#include "protocol/script.h"
#include "wire/connection.h"

namespace echomq::inline v2::protocol {

// `answer` gets the reply, which is an error reply when the script refused; never NOSCRIPT.
void dispatch(const std::shared_ptr<wire::Connection>& connection, ScriptCall call,
              std::chrono::milliseconds timeout, wire::Answer answer);

}  // namespace echomq::inline v2::protocol
