// SPDX-License-Identifier: MIT
// An input as lines, for targets that need several values: text stays readable in the corpus, and a
// value that grows does not move what the others mean.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace echomq::fuzz {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

  // The next line, without its end; empty after the last one.
  std::string_view next() {
    const auto end = std::min(rest_.find('\n'), rest_.size());
    const auto line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return line;
  }

  // The next line as a number; 0 when it is none.
  template <class Number>
  Number number() {
    const auto line = next();
    Number value{};
    std::from_chars(line.data(), line.data() + line.size(), value);
    return value;
  }

 private:
  std::string_view rest_;
};

}  // namespace echomq::fuzz
