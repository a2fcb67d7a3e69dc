// SPDX-License-Identifier: MIT
// What the server itself saw of the whole run: every key that a command inside a script touched was
// among the KEYS of its call (INV2). These scenarios come last.
#include <string>

#include "probe/seeded.h"
#include "probe/trial.h"

namespace echomq::inline v2::probe {
namespace {

// A check that sees nothing proves nothing.
void sees_an_undeclared_key(Trial& trial) {
  auto& stage = trial.stage();
  if (!stage.monitor) return trial.skip(stage.no_audit);
  auto& q = trial.open_queue();
  (void)take_audit(stage);
  const auto reply = trial.link()({"EVAL", kUndeclaredKey, "1", q.keys.meta, q.keys.wait});
  if (reply.is_error()) return trial.note("the server itself refuses one: " + reply.text);
  const auto seen = take_audit(stage);
  trial.expect("violations by a script with one undeclared key",
               std::to_string(seen.violations.size()), "1");
}

void all_keys_were_declared(Trial& trial) {
  auto& stage = trial.stage();
  if (!stage.monitor) return trial.skip(stage.no_audit);
  if (const auto lost = stage.listener->lost(); !lost.empty())
    return trial.fail("the connection that listened to MONITOR was lost: " + lost);
  for (const auto& violation : stage.audited.violations) trial.fail(violation);
  for (const auto* const script : scripts::all())
    if (stage.options.only.empty() && script->name != "node/lease" &&
        !stage.audited.programs.contains(std::string(script->sha1)))
      trial.fail("MONITOR showed no call of " + std::string(script->name));
  trial.note(std::to_string(stage.audited.commands) + " commands inside " +
             std::to_string(stage.audited.scripts) + " calls" +
             (stage.options.alone ? ", and no command touched a key of anybody else" : ""));
}

}  // namespace

Audit take_audit(Stage& stage) {
  if (!stage.monitor) return {};
  // Of several users the commands of one cannot be told from another's; scripts name their queues.
  const std::string_view only = stage.options.alone ? std::string_view() : stage.prefix;
  return audit(*stage.lane, stage.monitor->take(*stage.lane), only);
}

std::vector<ScenarioEntry> audit_scenarios() {
  return {{"audit: every key touched in a script was declared", "INV2", all_keys_were_declared},
          {"audit: an undeclared key is seen", "INV2", sees_an_undeclared_key}};
}

}  // namespace echomq::inline v2::probe
