// SPDX-License-Identifier: MIT
// What the statuses of scripts are to callers: docs/protocol.md, section 4.7. Pure; the Node client
// has the same (clients/node/src/statuses.ts), and test/vectors/refusals.json holds both to it.
#pragma once

#include <string>
#include <string_view>

#include "echomq/queue.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// ErrorCode::not_found.
Error no_such_job(std::string_view queue, std::string_view id);

// Of a job that waits and is in no line. No script answers it: who has looked everywhere says so.
inline constexpr std::string_view kLost = "lost";

struct AnsweredAdd {
  std::string queue;
  std::string id;
  std::string owner{};  // of its deduplication id, where the answer tells it
  unsigned node = 0;    // that minted the id
};

// `moved` is not for callers: the job is added again.
Result<AddedJob> add_result(std::string_view status, const AnsweredAdd& add);

// Of a job that was moved, changed or removed by its id. `unfit` says what it must be for this.
Result<void> move_result(std::string_view status, std::string_view queue, std::string_view id,
                         std::string_view unfit);

// ErrorCode::stale. `not_done` says what was not.
Error of_another_run(std::string_view queue, std::string_view id, std::string_view not_done);

// Of what was written into a job, by a run of it or by anybody. `not_done` as above.
Result<void> write_result(std::string_view status, std::string_view queue, std::string_view id,
                          std::string_view not_done);

}  // namespace echomq::inline v2
