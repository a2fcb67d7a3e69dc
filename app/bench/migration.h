// SPDX-License-Identifier: MIT
// A queue of v1 that moves here: what 2.0's migration does in a second, and needs for it.
//
//   {"do":"v1_queue","queue":Q,"jobs":N}    makes one of N waiting jobs, as BullMQ stores them
//   {"do":"migrate","queue":Q}              moves it to the queue of the same name, compares,
//   finishes
//      -> {"seconds":S,"cpu_us":U,"jobs":N,"longest_call_ms":M}   S and U of the copying; M: that
//                                           the source took to answer
#pragma once

#include <memory>
#include <string>

#include "bench/subject.h"

namespace bench {

// Errors: those of Redis::connect and connect().
echomq::Result<std::unique_ptr<Subject>> migration_subject(const std::string& url);

}  // namespace bench
