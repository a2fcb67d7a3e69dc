// SPDX-License-Identifier: MIT
// What a v1 queue has besides its jobs, as fields of 2.0: its settings and its metrics. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/v1_job.h"

namespace echomq::inline v2::migrate {

struct V1Settings {
  V1Hash meta{};
  bool paused = false;              // before the migration paused it
  std::int64_t prioritized = 0;     // jobs
  std::int64_t metrics_points = 0;  // of the longer list
};

// The fields of the target's meta that a v1 queue may have something for.
inline constexpr std::array<std::string_view, 5> kSettings{"event_cap", "pause", "priority_seq",
                                                           "limits", "metrics"};
Fields map_settings(const V1Settings& settings);

// Of `metrics:completed` or `metrics:failed`: `points` are the newest first, a minute each, and
// `last_ms` the time of the newest. Empty where there are none.
Fields map_metrics(std::int64_t last_ms, const std::vector<std::string>& points);

// An entry of `de`: the owner by its new id, until when (0: as long as the owner), and whether the
// owner is over.
std::string map_owner(const std::string& owner, std::int64_t until_ms, bool over);
// Until when such an entry holds.
std::int64_t until_of(std::string_view entry);

}  // namespace echomq::inline v2::migrate
