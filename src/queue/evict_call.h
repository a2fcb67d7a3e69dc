// SPDX-License-Identifier: MIT
// The call that deletes the keys of jobs in trash. Pure: nothing is sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "queue/queue_core.h"

namespace echomq::inline v2 {

inline constexpr std::size_t kEvictedPerCall = 128;  // with sub-keys seven keys each

struct Evicted {
  std::string id;
  bool has_subkeys = false;  // or may have: they are declared and deleted too
};

// It also applies retention by these ages, 0: none. Counts are kept where jobs end, by the rule
// that the job or its worker has.
ScriptCall evict_call(const QueueCore& queue, const std::vector<Evicted>& jobs,
                      std::chrono::milliseconds age_completed,
                      std::chrono::milliseconds age_failed);

}  // namespace echomq::inline v2
