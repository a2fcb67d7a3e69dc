// SPDX-License-Identifier: MIT
// Keys of a queue that nothing in it names: jobs that stand in no state, because somebody deleted a
// key by hand or the server lost its last data, what such jobs left behind, and keys that are none
// of this wire. Only a look through all keys of the server finds them, in bounded steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echomq/result.h"
#include "queue/moves.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

struct StrayPage {
  Ids jobs{};  // each once: there is a hash or another key of theirs
  std::vector<std::string> others{};
  std::string next{};  // where to go on; "0": that was all
};

// What one step finds, of a queue whose states name no job any more. Errors: denied (an ACL may
// keep SCAN to itself, for it tells the names of all keys), and those of the connection.
Result<StrayPage> read_strays(QueueCore& queue, const std::string& cursor);
// Answers how many were there still.
Result<std::int64_t> delete_strays(QueueCore& queue, const std::vector<std::string>& keys);

}  // namespace echomq::inline v2
