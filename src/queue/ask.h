// SPDX-License-Identifier: MIT
// Asking the server about a queue and waiting for the answer. From any thread but the loop's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "echomq/result.h"
#include "protocol/script.h"
#include "queue/queue_core.h"
#include "wire/resp.h"

namespace echomq::inline v2 {

// One call of a script. Asking makes no queue: one that is not there is not_found.
Result<wire::Reply> ask(QueueCore& queue, ScriptCall call);

// Plain commands in one write, each already encoded; their answers in order, error replies among
// them.
Result<std::vector<wire::Reply>> ask_all(ClientCore& client, std::vector<std::string> commands);
// The same of a queue. An error reply to one of them is the error of all.
Result<std::vector<wire::Reply>> ask_plainly(QueueCore& queue, std::vector<std::string> commands);
Result<wire::Reply> ask_plainly(QueueCore& queue, std::string command);

}  // namespace echomq::inline v2
