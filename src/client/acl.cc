// SPDX-License-Identifier: MIT
#include "echomq/acl.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "client/plain_commands.h"
#include "echomq/keyspace.h"
#include "echomq_scripts.h"
#include "protocol/registry.h"
#include "protocol/script_calls.h"

namespace echomq::inline v2 {
namespace {

Error bad_user(const std::string& user) {
  return {ErrorCode::invalid_argument,
          "user is \"" + user + "\"; expected a name without blanks",
          {{"option", "user"}, {"value", user}, {"expected", "a name without blanks"}}};
}

}  // namespace

Result<std::string> acl_line(const AclOptions& options) {
  const auto blank = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (options.user.empty() || std::any_of(options.user.begin(), options.user.end(), blank))
    return bad_user(options.user);
  std::string line = "user " + options.user + " on resetkeys resetchannels -@all";
  if (options.queues.empty()) line += " ~emq:{*}:*";
  for (const auto& queue : options.queues) {
    const auto name = queue_name(queue);
    if (!name) return name.error();
    line += " ~emq:{" + *name + "}:*";
  }
  line += " ~{emq}:*";
  for (const auto& prefix : options.v1_prefixes) {
    if (prefix.empty() || !std::all_of(prefix.begin(), prefix.end(), registry::is_name_char))
      return registry::refusal("the v1 prefix", prefix, "may hold letters, digits and . _ - only");
    line += " %R~" + prefix + ":*";
  }
  std::set<std::string> commands(kPlainCommands.begin(), kPlainCommands.end());
  for (const auto& [wanted, command] :
       {std::pair{options.client_kill, "client|kill"}, std::pair{options.wait, "wait"},
        std::pair{options.waitaof, "waitaof"}, std::pair{options.config_get, "config|get"}})
    if (wanted) commands.insert(command);
  // The rules hold for what a script calls as well.
  for (const auto* script : scripts::all())
    for (const auto& call : protocol::calls_in(script->source))
      commands.insert(protocol::lower(call.command));
  for (const auto& command : commands) line += " +" + command;
  return line;
}

}  // namespace echomq::inline v2
