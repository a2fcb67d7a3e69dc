// SPDX-License-Identifier: MIT
// What the end of a command is to its job: the meaning of exit statuses, as the help of `emq work`
// gives it.
#pragma once

#include <chrono>
#include <string_view>

#include "child.h"
#include "echomq/job.h"

namespace emq {

// 0: done, with stdout as the result. 75: again after `retry_delay`. 65: failed for good. Ended
// because its worker stops: again at once, by another. Anything else: a failed attempt, with the
// last lines of stderr as the reason.
echomq::Outcome judge(const ChildEnd& end, std::chrono::milliseconds retry_delay);

// "done", "fail", "retry", "unrecoverable".
std::string_view word(echomq::Outcome::Kind kind);

}  // namespace emq
