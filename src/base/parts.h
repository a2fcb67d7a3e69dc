// SPDX-License-Identifier: MIT
// Parts: takes a text apart at a separator, from the front. Pure.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.h"

namespace echomq::inline v2 {

class Parts {
 public:
  explicit Parts(std::string_view text, char separator = ':')
      : rest_(text), separator_(separator) {}

  // What stands before the next separator, which goes too; all that is left where there is none.
  std::string_view word() {
    const auto end = std::min(rest_.find(separator_), rest_.size());
    const auto word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  // The same; nullopt where there is no separator.
  std::optional<std::string_view> part() {
    if (rest_.find(separator_) == std::string_view::npos) return std::nullopt;
    return word();
  }
  // Whether the next word is a number, without a sign.
  template <class N>
  bool number(N& value) {
    const auto digits = word();
    const auto* const end = digits.data() + digits.size();
    const auto [at, problem] = std::from_chars(digits.data(), end, value);
    return problem == std::errc() && at == end && is_digit(digits.front());
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  char separator_;
};

}  // namespace echomq::inline v2
