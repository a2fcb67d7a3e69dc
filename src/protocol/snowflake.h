// SPDX-License-Identifier: MIT
// Minting job ids: Snowflakes that no two processes of a deployment can mint alike, whatever their
// clocks do, made without asking anybody.
//
// What makes them unique is the grant: a node id, held by one live process at a time, with a floor
// and an end. The floor is the end of the previous holder's grant, and a process mints only for
// milliseconds `floor < ts <= until`. So two holders of one node never mint for the same
// millisecond, even when one of them was paused for an hour and wakes up with a clock that went
// backwards. Within a process ids rise strictly: when the clock falls back, or 4,096 ids a
// millisecond are not enough, the mint goes on from its last position and borrows from the
// following milliseconds, up to the end of the grant.
//
// Pure: the time is an argument. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "echomq/id.h"

namespace echomq::inline v2 {

inline constexpr unsigned kMsShift = 22;
inline constexpr unsigned kNodeShift = 12;
inline constexpr unsigned kMaxNode = (1U << 10) - 1;
inline constexpr unsigned kMaxSeq = (1U << 12) - 1;
inline constexpr std::int64_t kLastIdMs = kIdEpochMs + (std::int64_t{1} << 41) - 1;

class Mint {
 public:
  // The node that this process holds, and for which milliseconds since 1970. To extend the grant of
  // a node that was held without a gap, give the floor of its first grant again, and the new end.
  // Ids that were minted before, under this node or another, stay below those to come.
  void set_grant(unsigned node, std::int64_t floor_unix_ms, std::int64_t until_unix_ms) noexcept;

  // The next id. nullopt: there is no grant, or it ends before now; renew it first.
  std::optional<std::uint64_t> next(std::int64_t now_unix_ms) noexcept;

  // The floor for the next holder of the node, when this one gives it back: the greatest
  // millisecond that this process minted an id for, or the grant's own floor where that is greater.
  [[nodiscard]] std::int64_t last_ms() const noexcept;

 private:
  unsigned node_ = 0;
  std::int64_t until_ms_ = kIdEpochMs;
  std::int64_t at_ms_ = kIdEpochMs;  // neither the floor nor any id so far is after it
  unsigned seq_ = kMaxSeq;           // the last one used in at_ms_; kMaxSeq: none is left there
};

}  // namespace echomq::inline v2
