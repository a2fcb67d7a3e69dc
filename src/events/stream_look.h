// SPDX-License-Identifier: MIT
// Looking at a queue from outside its scripts: whether it is ours, and how many entries its stream
// of events has had. Looking makes no queue.
#pragma once

#include <cstdint>
#include <string>

#include "echomq/result.h"
#include "wire/resp.h"

namespace echomq::inline v2 {

struct StreamLook {
  bool exists = false;     // there is such a queue
  std::uint64_t last = 0;  // the number of the last entry that was written; 0: none
};

// The command that asks, and its answer read.
std::string look_command(const std::string& meta);
// Errors: fence, and what an error reply says (loading where the server is not ready).
Result<StreamLook> read_look(const wire::Reply& reply, const std::string& queue,
                             const std::string& meta);

// The entries behind `from`; waits for one in the server where `block_ms` is above 0.
std::string read_command(const std::string& events, const std::string& from, std::size_t entries,
                         std::int64_t block_ms);

// An error reply about one of these keys.
Error stream_refusal(const wire::Reply& reply, const std::string& queue, const std::string& key);

}  // namespace echomq::inline v2
