// SPDX-License-Identifier: MIT
// Numbers that arrive as text from the server. What begins with no number reads as 0: the fields of
// a hash may be absent, and a job must not be lost over one that is odd.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace echomq::inline v2 {

template <class N>
N to_number(std::string_view text) noexcept {
  N number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Towards zero, saturating: the nearest end for what does not fit, 0 for a NaN. The language leaves
// such a cast undefined, and text from outside can ask for it ("1e300", "inf").
inline std::int64_t saturating_int64(double number) noexcept {
  constexpr double kEnd = 0x1p63;  // the first one that does not fit; -kEnd still does
  if (number >= kEnd) return std::numeric_limits<std::int64_t>::max();
  if (number < -kEnd) return std::numeric_limits<std::int64_t>::min();
  return std::isnan(number) ? 0 : static_cast<std::int64_t>(number);
}

}  // namespace echomq::inline v2
