// SPDX-License-Identifier: MIT
// The server itself: what it must know, which Lua it runs, and how it takes a script that it does
// not know.
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "probe/trial.h"
#include "protocol/script_calls.h"

namespace echomq::inline v2::probe {
namespace {

bool may_not_ask(const Reply& reply) {
  return reply.is_error() &&
         (reply.text.starts_with("NOPERM") || reply.text.starts_with("ERR unknown"));
}

// What a client says only where it is asked for more, or for order's sake. A server without it
// runs queues all the same.
struct Optional {
  std::string_view command;
  std::string_view since;
  std::string_view lost;
};

constexpr std::array kOptional{
    Optional{"WAIT", "3.0.0", "no adds confirmed by replicas"},
    Optional{"WAITAOF", "7.2.0", "no adds confirmed by the disk"},
    Optional{"CONFIG", "2.0.0", "a policy that evicts jobs is not seen"}};

// "; it lacks WAITAOF (7.2.0): no adds confirmed by the disk"; empty: it has all of them.
std::string lacks(Trial& trial) {
  std::string all;
  for (const auto& optional : kOptional) {
    const auto reply = trial.link()({"COMMAND", "INFO", std::string(optional.command)});
    if (!reply.items.empty() && !reply.items.front().items.empty()) continue;
    all += std::string(all.empty() ? "; it lacks " : ", and ") + std::string(optional.command) +
           " (" + std::string(optional.since) + "): " + std::string(optional.lost);
  }
  return all;
}

// What is missing is told by name, not found out by the first user who needs it.
void knows_all_commands(Trial& trial) {
  std::set<std::string> asked;
  const auto needs = server_needs();
  for (const auto& need : needs) {
    const auto command = need.what.substr(0, need.what.find(' '));
    if (!asked.insert(command).second) continue;
    const auto bar = command.find('|');
    const auto reply = trial.link()({"COMMAND", "INFO", command.substr(0, bar)});
    if (may_not_ask(reply)) return trial.skip("COMMAND INFO: " + reply.text);
    if (reply.items.empty() || reply.items.front().items.empty())
      trial.fail("the server has no " + command + ", which " + need.by + " says");
  }
  trial.note(std::to_string(asked.size()) + " commands; the floor is Redis " + needs.front().since +
             ", by " + needs.front().what + lacks(trial));
}

void runs_a_known_lua(Trial& trial) {
  const auto told = trial.link()({"EVAL", "return _VERSION", "0"});
  if (may_not_ask(told)) return trial.skip("EVAL: " + told.text);
  const auto version = show(told);
  trial.expect("the server runs Lua 5.1 or 5.4, and says " + version,
               version == "Lua 5.1" || version == "Lua 5.4");
  const auto spelled = show(trial.link()(
      {"EVAL", "return {string.format('%.0f', 2 ^ 53 - 1), string.format('%.0f', 7 / 7)}", "0"}));
  trial.expect("whole numbers are spelled", spelled, "[9007199254740991 1]");
  trial.note(version);
}

void hashes_scripts_as_the_manifest(Trial& trial) {
  for (const auto* const script : scripts::all()) {
    const auto reply = trial.link()({"SCRIPT", "LOAD", script->source});
    if (may_not_ask(reply)) return trial.skip("SCRIPT LOAD: " + reply.text);
    trial.expect("SHA1 of " + std::string(script->name), reply.text, std::string(script->sha1));
  }
  trial.note(std::to_string(scripts::all().size()) + " scripts of revision " +
             std::to_string(scripts::kRevision));
}

void dispatches_in_two_commands(Trial& trial) {
  const auto shown = show_dispatch(trial.stage().url, trial.stage().options.tls);
  if (!shown) return trial.fail(shown.error().message());
  trial.note("EVALSHA, NOSCRIPT, EVAL, then EVALSHA alone");
}

}  // namespace

std::vector<ScenarioEntry> server_scenarios() {
  return {{"server: it knows every command", "4.5", knows_all_commands},
          {"server: its Lua spells numbers as the scripts expect", "4.5", runs_a_known_lua},
          {"server: scripts have the manifest's SHA1", "4.1", hashes_scripts_as_the_manifest},
          {"server: a script that it does not know costs two commands", "4.8",
           dispatches_in_two_commands}};
}

}  // namespace echomq::inline v2::probe
