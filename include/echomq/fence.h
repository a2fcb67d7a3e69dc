// SPDX-License-Identifier: MIT
// The version fence, as the user meets it: a queue whose keys belong to another wire is refused.
//
// An operation on such a queue answers ErrorCode::fence, whatever the operation was, and changes
// nothing. fence_error() gives its parts.
#pragma once

#include <optional>
#include <string>

#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

struct FenceError {
  std::string queue;  // the queue that was opened
  std::string
      found;  // what stands there: "bullmq:5.65.1", "echomq:3.0.0", "revision 7", "nothing"...
  std::string expected;  // "echomq:2.0.0", or the revision that this library speaks
  std::string probe;     // the key that showed it, for example "bull:mail:meta"
};

// The parts of an ErrorCode::fence error; nullopt for any other error.
ECHOMQ_API std::optional<FenceError> fence_error(const Error& error);

}  // namespace echomq::inline v2
