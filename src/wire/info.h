// SPDX-License-Identifier: MIT
// What INFO answers: lines of "field:value". Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace echomq::inline v2::wire {

// The value of a field, the first where there are several.
inline std::optional<std::string_view> info_value(std::string_view info, std::string_view field) {
  while (!info.empty()) {
    const auto end = std::min(info.find('\n'), info.size());
    auto line = info.substr(0, end);
    info.remove_prefix(std::min(end + 1, info.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > field.size() && line.starts_with(field) && line[field.size()] == ':')
      return line.substr(field.size() + 1);
  }
  return std::nullopt;
}

}  // namespace echomq::inline v2::wire
