// SPDX-License-Identifier: MIT
// LinePlace: how far a look through `wait` or `crashed` has come. An index says little there: what
// is claimed or removed in front of it moves all entries behind. So a place is told by jobs that
// were passed, several of them, since each may leave: the last ones, and of those before ever
// fewer, so that going on behind an older one repeats no more than has left since. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace echomq::inline v2 {

// The most of them: the last four, and one for each doubling of the distance up to 65,536.
inline constexpr std::size_t kMostPassed = 4 + 14;

struct Passed {
  std::string id;
  // Of what its hash said then (mark_of), by which a job that has come back since is told from one
  // that stayed; empty: not looked at yet.
  std::string mark;
  std::int64_t distance = 0;  // how many jobs were passed after it

  friend bool operator==(const Passed&, const Passed&) = default;
};

struct LinePlace {
  std::int64_t index = 0;      // of the last one, when it was passed
  std::vector<Passed> passed;  // the last one first; none: the line has not been begun

  void pass(std::string id, std::int64_t at);
};

// Of the fields `head` and `run`: they change when a job is added anew and with each end of a
// claim.
std::string mark_of(std::string_view head, std::string_view run);
bool is_mark(std::string_view text);

}  // namespace echomq::inline v2
