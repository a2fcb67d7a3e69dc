// SPDX-License-Identifier: MIT
#include "fence/matrix.h"

namespace echomq::inline v2 {

std::string_view name(FenceState state) noexcept {
  switch (state) {
    case FenceState::fresh: return "fresh";
    case FenceState::v1: return "v1";
    case FenceState::v2: return "v2";
    case FenceState::migrated_away: return "migrated-away";
    case FenceState::being_migrated: return "being-migrated";
    case FenceState::foreign: return "foreign";
    case FenceState::newer: return "newer";
    case FenceState::damaged: return "damaged";
  }
  return "";
}

std::string_view name(FenceSide side) noexcept { return side == FenceSide::v1 ? "v1" : "v2"; }

std::string_view name(FenceOutcome outcome) noexcept {
  switch (outcome) {
    case FenceOutcome::works: return "works";
    case FenceOutcome::makes: return "makes";
    case FenceOutcome::refused: return "refused";
    case FenceOutcome::unfenced: return "unfenced";
  }
  return "";
}

const FenceCell& fence_cell(FenceSide worker, FenceState keyspace) noexcept {
  return fence::cell(worker, keyspace);
}

}  // namespace echomq::inline v2
