// SPDX-License-Identifier: MIT
#include "events/position.h"

#include <charconv>

namespace echomq::inline v2 {
namespace {

// Digits alone, and no more than a stream's id can hold.
std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  if (text.empty() || problem != std::errc() || at != end) return std::nullopt;
  return number;
}

}  // namespace

std::string Position::id() const {
  if (skip == 0) return std::to_string(entry) + "-0";
  return std::to_string(entry + 1) + "-" + std::to_string(skip);
}

std::optional<Position> Position::parse(std::string_view id) {
  const auto dash = id.find('-');
  const auto entry = digits(id.substr(0, dash));
  const auto skip = dash == std::string_view::npos ? 0 : digits(id.substr(dash + 1));
  if (!entry || !skip || (*entry == 0 && *skip > 0)) return std::nullopt;
  return *skip == 0 ? Position{*entry, 0} : Position{*entry - 1, *skip};
}

}  // namespace echomq::inline v2
