// SPDX-License-Identifier: MIT
// The call that brings a queue back in which a v1 client has written. Pure: nothing is sent.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/script.h"
#include "queue/queue_keys.h"

namespace echomq::inline v2::fence {

// `k`: those of `queue`.
ScriptCall repair_call(const QueueKeys& k, const std::string& queue, int revision,
                       std::int64_t now_ms);

}  // namespace echomq::inline v2::fence
