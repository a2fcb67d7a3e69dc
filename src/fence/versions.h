// SPDX-License-Identifier: MIT
// Telling versions of the wire apart, as they stand in meta.version.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/number.h"

namespace echomq::inline v2::fence {

// What a migration sets while it fills a queue; every script refuses it.
inline constexpr std::string_view kMigrating = "echomq:2.0.0:migrating";

// What a script sets that met events of a v1 client: the server refuses its own behind them.
inline constexpr std::string_view kDamaged = "echomq:2.0.0:damaged";

// The phase that a migration's journal is left in; any other is one on its way.
inline constexpr std::string_view kMigrationFinished = "finished";

// Where a time in `delayed` begins to be one that a v1 client has set, which multiplies it by
// 4,096: 2^52 is that of 2004, and as ms it is the year 144,683. The script that repairs has it
// too.
inline constexpr std::string_view kTimesOfV1 = "4503599627370496";

// BullMQ's, which EchoMQ 1 wrote as well.
inline bool is_v1(std::string_view version) { return version.starts_with("bullmq"); }

// "echomq:3.0.0": of our line, and greater than ours.
inline bool is_later(std::string_view version) {
  constexpr std::string_view kOurs = "echomq:";
  if (!version.starts_with(kOurs)) return false;
  version.remove_prefix(kOurs.size());
  std::array<int, 3> parts{};
  for (auto& part : parts) {
    const auto end = std::min(version.find('.'), version.size());
    part = to_number<int>(version.substr(0, end));
    version.remove_prefix(std::min(end + 1, version.size()));
  }
  return parts > std::array{2, 0, 0};
}

}  // namespace echomq::inline v2::fence
