// SPDX-License-Identifier: MIT
// Oldest: the ids that retention takes next from a finished set, as answers of job/finish named
// them. A caller that declares their keys with its ends lets the script delete them at once, and
// spares it the way through trash. Where other processes end jobs of the queue too, what was seen
// is mostly gone by then: then it asks for no more for a while. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace echomq::inline v2 {

class Oldest {
 public:
  // A call may declare `most` of them.
  explicit Oldest(std::size_t most) : most_(most) {}

  // Those that a call that ends so many jobs may declare, in order. Each is given out once: a call
  // that is sent after another one finds what that one leaves.
  [[nodiscard]] std::vector<std::string> take(std::size_t jobs) {
    const auto count = std::min({known_.size(), jobs, most_});
    const auto end = known_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<std::string> ids(std::make_move_iterator(known_.begin()),
                                 std::make_move_iterator(end));
    known_.erase(known_.begin(), end);
    given_ += count;
    return ids;
  }
  // How many a call should ask for, after take(): many at a time and not by each call.
  [[nodiscard]] std::size_t peek() {
    if (calls_left_out_ != 0) {
      --calls_left_out_;
      return 0;
    }
    return known_.size() < most_ ? given_ + 2 * most_ : 0;
  }
  // A call was answered: of the ids that it declared so many were deleted; these are the oldest
  // now, if it asked. What calls behind it have declared is still among them.
  void seen(std::size_t declared, std::size_t deleted, std::vector<std::string> ids) {
    given_ -= std::min(given_, declared);
    if (deleted < declared) return forget(kLeftOut);
    if (ids.size() <= given_ + known_.size()) return;
    known_.assign(std::make_move_iterator(ids.begin() + static_cast<std::ptrdiff_t>(given_)),
                  std::make_move_iterator(ids.end()));
  }
  // A call was not answered: nobody knows what it deleted.
  void lost() { forget(0); }

 private:
  static constexpr unsigned kLeftOut = 64;

  void forget(unsigned calls) {
    known_.clear();
    given_ = 0;
    calls_left_out_ = std::max(calls_left_out_, calls);
  }

  std::size_t most_;
  std::deque<std::string> known_;
  std::size_t given_ = 0;  // declared by calls that are on their way
  unsigned calls_left_out_ = 0;
};

}  // namespace echomq::inline v2
