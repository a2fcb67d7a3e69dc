// SPDX-License-Identifier: MIT
// The times of a scheduler: as they are typed, and as they are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "echomq/result.h"
#include "echomq/schedule.h"
#include "output.h"

namespace emq {

// When, as it is typed.
struct ScheduleWords {
  std::optional<std::string> pattern{};
  std::string zone = "UTC";
  std::optional<std::string> every{};
  std::string offset = "0";
  std::optional<std::string> start{};
  std::optional<std::string> end{};

  // All but the pattern, which each verb types in its own way. It must outlive the parsing.
  void declare(CLI::App& verb);
  [[nodiscard]] echomq::Result<echomq::Schedule> read() const;
};

// "2026-03-30T09:00:00+02:00", by the clocks of the zone; whole seconds.
std::string local(std::int64_t at_ms, const std::string& zone);
// Of an interval UTC.
std::string zone_of(const echomq::Schedule& schedule);
// "0 9 * * 1-5 (Europe/Berlin)", "every 15 min, offset 3 min"
std::string when_of(const echomq::Schedule& schedule);
// "skip", "once", "all:100"
std::string missed_of(const echomq::Missed& missed);
Json to_json(const echomq::Schedule& schedule);

}  // namespace emq
