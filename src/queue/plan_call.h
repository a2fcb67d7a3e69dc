// SPDX-License-Identifier: MIT
// The call that deletes the record of a flow (docs/protocol.md 7). Pure: nothing is sent.
#pragma once

#include <string_view>

#include "queue/queue_core.h"

namespace echomq::inline v2 {

// `seen`: what the note of the record must begin with still.
ScriptCall close_plan_call(const QueueCore& home, std::string_view plan, std::string_view seen);

}  // namespace echomq::inline v2
