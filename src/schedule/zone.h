// SPDX-License-Identifier: MIT
// Zone: the offsets of a time zone from UTC, by its IANA name. The one place that knows the
// library for time zones (date-tz), which reads the changes that the system's zone files write out;
// behind the last of them the rule of the file holds (zone_rule.h).
//
// Thread-safety: plain values; find() may be called from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "echomq/result.h"
#include "schedule/zone_rule.h"

namespace echomq::inline v2::schedule {

class Zone {
 public:
  // "Europe/Berlin"; "UTC" needs no zone files.
  // Errors: invalid_argument (this system knows no such zone).
  static Result<Zone> find(std::string_view name);

  using Span = ZoneRule::Span;
  // The one that holds that second.
  [[nodiscard]] Span at(std::int64_t second) const;

 private:
  explicit Zone(const void* data) : data_(data) {}

  const void* data_;  // lives as long as the process; null: UTC
};

}  // namespace echomq::inline v2::schedule
