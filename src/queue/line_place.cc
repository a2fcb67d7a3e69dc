// SPDX-License-Identifier: MIT
#include "queue/line_place.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/digest.h"
#include "base/text.h"

namespace echomq::inline v2 {
namespace {

constexpr std::int64_t kAllNear = 4;
constexpr std::int64_t kFarthest = 65'536;
constexpr std::size_t kMarkDigits = 8;

int doublings(std::int64_t distance) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(distance)));
}

}  // namespace

void LinePlace::pass(std::string id, std::int64_t at) {
  index = at;
  std::vector<Passed> kept{{std::move(id), {}, 0}};
  for (auto& before : passed) {
    ++before.distance;
    if (before.distance >= kFarthest) continue;
    // The farther one of two stays: only so does one grow old.
    const bool as_far = kept.back().distance >= kAllNear &&
                        doublings(kept.back().distance) == doublings(before.distance);
    if (as_far) kept.pop_back();
    kept.push_back(std::move(before));
  }
  passed = std::move(kept);
}

std::string mark_of(std::string_view head, std::string_view run) {
  std::string both(head);
  both += '\n';
  both += run;
  return hex_digest(both, EVP_sha1()).substr(0, kMarkDigits);
}

bool is_mark(std::string_view text) {
  return text.size() == kMarkDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'f');
         });
}

}  // namespace echomq::inline v2
