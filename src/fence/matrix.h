// SPDX-License-Identifier: MIT
// The fence as a table: what a worker of each side meets in each keyspace. The table of
// docs/fence.md is held equal to it by a test, and each cell has a live test of its own.
#pragma once

#include <array>
#include <cstddef>

#include "echomq/fence.h"

namespace echomq::inline v2::fence {

inline constexpr std::array kStates{
    FenceState::fresh,          FenceState::v1,      FenceState::v2,    FenceState::migrated_away,
    FenceState::being_migrated, FenceState::foreign, FenceState::newer, FenceState::damaged};
inline constexpr std::array kSides{FenceSide::v1, FenceSide::v2};

// By keyspace, then by side.
inline constexpr std::array<FenceCell, kStates.size() * kSides.size()> kMatrix{{
    {FenceSide::v1, FenceState::fresh, FenceOutcome::makes,
     "it makes a v1 queue, which v2 refuses from then on"},
    {FenceSide::v2, FenceState::fresh, FenceOutcome::makes, "its first add makes the queue"},
    {FenceSide::v1, FenceState::v1, FenceOutcome::works, "its own queue"},
    {FenceSide::v2, FenceState::v1, FenceOutcome::refused,
     "when it opens the queue, before it writes; found is the version, or the kind of key"},
    {FenceSide::v1, FenceState::v2, FenceOutcome::refused,
     "by the types of the keys, at each add and fetch; its constructor overwrites the version"},
    {FenceSide::v2, FenceState::v2, FenceOutcome::works, "its own queue"},
    {FenceSide::v1, FenceState::migrated_away, FenceOutcome::refused,
     "by the tombstones, at each add and fetch"},
    {FenceSide::v2, FenceState::migrated_away, FenceOutcome::makes,
     "the v1 names are no longer in use, so it may have a queue of its own"},
    {FenceSide::v1, FenceState::being_migrated, FenceOutcome::refused,
     "by the tombstones at its names; by the types of the keys at the target"},
    {FenceSide::v2, FenceState::being_migrated, FenceOutcome::refused,
     "in every script, by the version echomq:2.0.0:migrating; at its opening by v1 keys that are "
     "not "
     "deleted yet"},
    {FenceSide::v1, FenceState::foreign, FenceOutcome::unfenced,
     "what stands there is not ours, and may not stop it"},
    {FenceSide::v2, FenceState::foreign, FenceOutcome::refused,
     "in every script; found is the foreign version, or that there are keys without a meta"},
    {FenceSide::v1, FenceState::newer, FenceOutcome::refused,
     "by the types of the keys, which every release of this wire has"},
    {FenceSide::v2, FenceState::newer, FenceOutcome::refused,
     "in every script; found is the later version, or the revision that the queue needs"},
    {FenceSide::v1, FenceState::damaged, FenceOutcome::refused,
     "by the types of the keys, as before the damage"},
    {FenceSide::v2, FenceState::damaged, FenceOutcome::refused,
     "in every script, or when it opens the queue; emq fence QUEUE --repair brings it back"},
}};

constexpr const FenceCell& cell(FenceSide worker, FenceState keyspace) {
  return kMatrix[static_cast<std::size_t>(keyspace) * kSides.size() +
                 static_cast<std::size_t>(worker)];
}

// The table is indexed by its enums.
constexpr bool is_in_order() {
  for (const auto state : kStates)
    for (const auto side : kSides)
      if (cell(side, state).keyspace != state || cell(side, state).worker != side) return false;
  return true;
}
static_assert(is_in_order());

}  // namespace echomq::inline v2::fence
