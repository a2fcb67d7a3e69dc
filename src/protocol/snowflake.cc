// SPDX-License-Identifier: MIT
#include "protocol/snowflake.h"

#include <algorithm>

namespace echomq::inline v2 {

void Mint::set_grant(unsigned node, std::int64_t floor_unix_ms,
                     std::int64_t until_unix_ms) noexcept {
  // A millisecond is never shared by two nodes of this process: the order of ids would then depend
  // on the nodes' numbers.
  if (node != node_) seq_ = kMaxSeq;
  node_ = node;
  until_ms_ = std::min(until_unix_ms, kLastIdMs);
  if (at_ms_ <= floor_unix_ms) {
    at_ms_ = floor_unix_ms;
    seq_ = kMaxSeq;
  }
}

std::optional<std::uint64_t> Mint::next(std::int64_t now_unix_ms) noexcept {
  std::int64_t ms = at_ms_;
  unsigned seq = seq_ + 1;
  if (now_unix_ms > ms) {
    ms = now_unix_ms;
    seq = 0;
  } else if (seq > kMaxSeq) {
    ++ms;
    seq = 0;
  }
  if (ms > until_ms_) return std::nullopt;
  at_ms_ = ms;
  seq_ = seq;
  return (static_cast<std::uint64_t>(ms - kIdEpochMs) << kMsShift) |
         (std::uint64_t{node_ & kMaxNode} << kNodeShift) | seq;
}

std::int64_t Mint::last_ms() const noexcept { return at_ms_; }

}  // namespace echomq::inline v2
