// SPDX-License-Identifier: MIT
#include "queue/plan_call.h"

#include "echomq_scripts.h"

namespace echomq::inline v2 {

ScriptCall close_plan_call(const QueueCore& home, std::string_view plan, std::string_view seen) {
  const auto& k = home.keys();
  const auto flow = flow_key(home.name(), plan);
  return ScriptCall::of<scripts::FlowClose>(
      {.meta = k.meta, .outbox = k.outbox, .flow = flow},
      {.revision = scripts::kRevision, .plan = plan, .seen = seen});
}

}  // namespace echomq::inline v2
