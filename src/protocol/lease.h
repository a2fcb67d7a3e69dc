// SPDX-License-Identifier: MIT
// The lease: the score of a job in `active`, and at the same time the fencing token of its run.
//
//   bits 51..21  deadline, whole seconds since 2024-01-01T00:00:00Z (31 bits, until the year 2092)
//   bits 20..11  node of the process that claimed the job (10 bits)
//   bits 10..0   nonce, a counter of that process's claim calls (11 bits)
//
// Below 2^52, so a sorted set keeps it exactly and the server prints it as an integer. The token is
// the lower 21 bits. Scripts compare only that: an extension moves the deadline and leaves the
// token, so a finish that overtakes an extension, or an extension that is repeated, is not refused;
// a run by another process, or a later run by the same one, has another token. The order of the
// scores is the order of the deadlines, so the expired leases are a range.
//
// Pure and constexpr.
#pragma once

#include <cstdint>

#include "echomq/id.h"

namespace echomq::inline v2 {

struct Lease {
  static constexpr unsigned kNodeShift = 11;
  static constexpr unsigned kDeadlineShift = 21;
  static constexpr unsigned kNodeMask = (1U << 10) - 1;
  static constexpr unsigned kNonceMask = (1U << 11) - 1;
  static constexpr std::uint64_t kTokenMask = (std::uint64_t{1} << kDeadlineShift) - 1;
  static constexpr std::uint64_t kMaxDeadline = (std::uint64_t{1} << 31) - 1;

  std::uint64_t deadline_s = 0;  // since 2024, 0..kMaxDeadline
  unsigned node = 0;             // 0..1023
  unsigned nonce = 0;            // a running counter: its lower 11 bits are used

  [[nodiscard]] constexpr std::uint64_t score() const noexcept {
    return (deadline_s << kDeadlineShift) | token();
  }

  // score() mod 2^21
  [[nodiscard]] constexpr std::uint64_t token() const noexcept {
    return (std::uint64_t{node & kNodeMask} << kNodeShift) | (nonce & kNonceMask);
  }

  static constexpr Lease from_score(std::uint64_t score) noexcept {
    return {score >> kDeadlineShift, static_cast<unsigned>(score >> kNodeShift) & kNodeMask,
            static_cast<unsigned>(score) & kNonceMask};
  }

  // The deadline of a lease that is taken now, rounded up to whole seconds: never shorter than
  // asked for, and by less than two seconds longer, counting the rest of the second in which it
  // expires.
  static constexpr std::uint64_t deadline_for(std::int64_t now_unix_ms,
                                              std::int64_t lease_ms) noexcept {
    const std::int64_t end_ms = now_unix_ms - kIdEpochMs + lease_ms;
    if (end_ms <= 0) return 0;
    const auto seconds = (static_cast<std::uint64_t>(end_ms) + 999) / 1000;
    return seconds < kMaxDeadline ? seconds : kMaxDeadline;
  }

  // Leases have expired whose score is below this, and no others: their deadline is a second that
  // is over.
  static constexpr std::uint64_t expired_below(std::int64_t now_unix_ms) noexcept {
    if (now_unix_ms <= kIdEpochMs) return 0;
    const auto seconds = static_cast<std::uint64_t>(now_unix_ms - kIdEpochMs) / 1000;
    return (seconds < kMaxDeadline ? seconds : kMaxDeadline) << kDeadlineShift;
  }

  friend constexpr bool operator==(const Lease&, const Lease&) = default;
};

}  // namespace echomq::inline v2
