// SPDX-License-Identifier: MIT
// A v1 scheduler, or one of the repeatable jobs that v1 had before it, as a scheduler of 2.0. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "echomq/result.h"
#include "migrate/v1_job.h"

namespace echomq::inline v2::migrate {

// How a repeatable job is called in `repeat`, where v1 wrote no more than that:
// `<name>:<job id>:<end>:<time zone>:<pattern or interval>`. False: it is the id of a scheduler.
bool is_repeatable_key(std::string_view member, const V1Hash& stored);
// The id under which the jobs of such a one were made, the middle part of `repeat:<id>:<ms>`,
// unless whoever made it gave it an id of its own (`repeat.key`), which only its jobs tell.
std::string repeatable_id(std::string_view member);

struct MovedScheduler {
  std::string id{};
  Fields fields{};  // of its hash
  Changes changes{};
};

// `made_by` is the id under which its jobs are made, `stored` its hash, `job` that of the job of
// its next tick, which has the template of a repeatable job. Errors: unsupported, as of map_job.
Result<MovedScheduler> map_scheduler_of(std::string_view member, std::string_view made_by,
                                        std::int64_t next_ms, const V1Hash& stored,
                                        const V1Hash& job);

}  // namespace echomq::inline v2::migrate
