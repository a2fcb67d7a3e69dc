// SPDX-License-Identifier: MIT
// What the shell learns from `emq`. The numbers are part of the interface: scripts branch on them,
// so they never change meaning, and every help text ends with them.
#pragma once

#include "echomq/result.h"

namespace emq {

enum class Exit : int {
  ok = 0,
  failed = 1,     // the operation failed, and not for one of the reasons below
  bad_input = 2,  // arguments, options, names or data outside what is allowed; nothing was written
  unreachable =
      3,          // no server there, still loading, or no answer in time: trying again makes sense
  fenced = 4,     // the queue belongs to another version of the wire
  not_found = 5,  // no such queue, job or scheduler
  duplicate = 6,  // a job with that custom id exists already
  cut_short = 7,  // `work` ended and had to kill commands; their jobs run again
};

Exit exit_code(echomq::ErrorCode code) noexcept;

// The foot of every help text.
inline constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0  done\n"
    "  1  failed (stderr says why)\n"
    "  2  bad input: arguments, names or data outside what is allowed; nothing was written\n"
    "  3  no server there, still loading, or no answer in time\n"
    "  4  the queue belongs to another version of the wire\n"
    "  5  no such queue, job or scheduler\n"
    "  6  a job with that --id exists already\n"
    "  7  work: commands did not end in time and were killed; their jobs run again\n"
    "Errors go to stderr as `emq: CODE: DETAIL`, with --json as "
    "{\"error\":{\"code\":..,\"detail\":..}}.";

}  // namespace emq
