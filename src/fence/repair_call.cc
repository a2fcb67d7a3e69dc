// SPDX-License-Identifier: MIT
#include "fence/repair_call.h"

#include "echomq_scripts.h"
#include "protocol/v1_names.h"

namespace echomq::inline v2::fence {

ScriptCall repair_call(const QueueKeys& k, const std::string& queue, int revision,
                       std::int64_t now_ms) {
  const auto paused = v1_word_key(queue, "paused");
  const auto stalled = v1_word_key(queue, "stalled");
  const auto stalled_check = v1_word_key(queue, "stalled-check");
  const auto pc = v1_word_key(queue, "pc");
  return ScriptCall::of<scripts::QueueRepair>(
      scripts::QueueRepair::Keys{.meta = k.meta,
                                 .id = k.id,
                                 .repeat = k.repeat,
                                 .wait = k.wait,
                                 .ghosts = k.ghosts,
                                 .active = k.active,
                                 .prioritized = k.prioritized,
                                 .crashed = k.crashed,
                                 .marker = k.marker,
                                 .events = k.events,
                                 .limiter = k.limiter,
                                 .delayed = k.delayed,
                                 .paused = paused,
                                 .stalled = stalled,
                                 .stalled_check = stalled_check,
                                 .pc = pc},
      {.revision = revision, .now = now_ms});
}

}  // namespace echomq::inline v2::fence
