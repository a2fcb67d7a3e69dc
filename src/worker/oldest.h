// SPDX-License-Identifier: MIT
// Oldest: the ids that retention takes next from a finished set, as the last answer of job/finish
// named them. A caller that declares their keys with its next ends lets the script delete them at
// once, and spares it the way through trash. Where other processes end jobs of the queue too, what
// was seen is mostly gone by then: then it asks for no more for a while. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace echomq::inline v2 {

class Oldest {
 public:
  explicit Oldest(std::size_t most) : most_(most) {}

  // Those that a call that ends so many jobs may declare, in order. Each is given out once.
  [[nodiscard]] std::vector<std::string> take(std::size_t jobs) {
    auto ids = std::exchange(ids_, {});
    ids.resize(std::min({ids.size(), jobs, most_}));
    return ids;
  }
  // How many such a call should ask for.
  [[nodiscard]] std::size_t peek(std::size_t jobs) {
    if (calls_left_out_ == 0) return std::min(jobs, most_);
    --calls_left_out_;
    return 0;
  }
  // Of the ids that a call declared so many were deleted; these are the oldest now.
  void seen(std::size_t declared, std::size_t deleted, std::vector<std::string> ids) {
    ids_ = std::move(ids);
    if (deleted < declared) {
      ids_.clear();
      calls_left_out_ = kLeftOut;
    }
  }

 private:
  static constexpr unsigned kLeftOut = 64;

  std::size_t most_;
  std::vector<std::string> ids_;
  unsigned calls_left_out_ = 0;
};

}  // namespace echomq::inline v2
