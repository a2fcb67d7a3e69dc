// SPDX-License-Identifier: MIT
// Numbers that arrive as text from the server. What is no number reads as 0: the fields of a hash
// may be absent, and a job must not be lost over one that is odd.
#pragma once

#include <charconv>
#include <string_view>

namespace echomq::inline v2 {

template <class N>
N to_number(std::string_view text) noexcept {
  N number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace echomq::inline v2
