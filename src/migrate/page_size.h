// SPDX-License-Identifier: MIT
// How many entries of a key are read together: so many as are likely to make no more than a chunk,
// judged by what the last ones weighed. A key tells how many entries it has, and not how large.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace echomq::inline v2::migrate {

class PageSize {
 public:
  static constexpr std::int64_t kFirst = 4;
  static constexpr std::int64_t kMost = 200;
  static constexpr std::int64_t kBytes = std::int64_t{256} << 10;

  [[nodiscard]] std::int64_t next() const { return next_; }
  void saw(std::size_t entries, std::size_t bytes) {
    if (entries == 0) return;
    const auto each = std::max<std::int64_t>(static_cast<std::int64_t>(bytes / entries), 1);
    // It grows slowly: the next ones may be larger.
    next_ = std::clamp<std::int64_t>(kBytes / each, 1, std::min(4 * next_, kMost));
  }

 private:
  std::int64_t next_ = kFirst;
};

}  // namespace echomq::inline v2::migrate
