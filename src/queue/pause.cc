// SPDX-License-Identifier: MIT
#include "queue/pause.h"

#include "echomq_scripts.h"
#include "queue/ask.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {

Result<bool> set_paused(QueueCore& queue, bool paused) {
  const auto reply =
      ask(queue, ScriptCall::of<scripts::QueuePause>(queue.keys(), {.revision = scripts::kRevision,
                                                                    .now = queue.client()->now_ms(),
                                                                    .paused = paused}));
  if (!reply) return reply.error();
  return wire::number_of(*reply) == 1;
}

}  // namespace echomq::inline v2
