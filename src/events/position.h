// SPDX-License-Identifier: MIT
// Position: how much of the stream of events has been seen. Pure.
//
// Entries are numbered densely from 1, their ids are "<n>-0". An event's id is the position after
// it: "<n>-0" for the last event of entry n, "<n>-<i>" for the i-th of several before that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace echomq::inline v2 {

struct Position {
  std::uint64_t entry = 0;  // all entries up to this one were seen whole
  std::uint64_t skip = 0;   // and so many events of the next one

  [[nodiscard]] std::string id() const;
  // "12", "12-0", "12-3"; nullopt for other text.
  static std::optional<Position> parse(std::string_view id);

  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace echomq::inline v2
