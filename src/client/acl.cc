// SPDX-License-Identifier: MIT
#include "echomq/acl.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "client/plain_commands.h"
#include "echomq/keyspace.h"
#include "echomq_scripts.h"
#include "protocol/registry.h"
#include "protocol/script_calls.h"
#include "protocol/v1_names.h"

namespace echomq::inline v2 {
namespace {

Error bad_user(const std::string& user) {
  return {ErrorCode::invalid_argument,
          "user is \"" + user + "\"; expected a name without blanks",
          {{"option", "user"}, {"value", user}, {"expected", "a name without blanks"}}};
}

bool is_user(const std::string& name) {
  const auto blank = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  return !name.empty() && std::none_of(name.begin(), name.end(), blank);
}

bool is_v1_prefix(const std::string& prefix) {
  return !prefix.empty() && std::all_of(prefix.begin(), prefix.end(), registry::is_name_char);
}

Error bad_prefix(const std::string& prefix) {
  return registry::refusal("the v1 prefix", prefix, "may hold letters, digits and . _ - only");
}

// No key of ours under the prefix emq: their names are in braces.
std::string all_of_v1(const std::string& prefix) {
  return prefix + (prefix == "emq" ? ":[^{]*" : ":*");
}

// Where the looks for v1 may read: under the names of the queues, where those are given.
std::vector<std::string> v1_patterns(const AclOptions& options) {
  std::vector<std::string> patterns;
  if (options.queues.empty())
    for (const auto& prefix : options.v1_prefixes) patterns.push_back(all_of_v1(prefix));
  for (const auto& queue : options.queues)
    for (const auto& [prefix, name] : v1_names(options.v1_prefixes, queue_name(queue).value()))
      patterns.push_back(v1_key(prefix, name, "*"));
  return patterns;
}

}  // namespace

Result<std::string> acl_line(const AclOptions& options) {
  if (!is_user(options.user)) return bad_user(options.user);
  std::string line = "user " + options.user + " on resetkeys resetchannels -@all";
  if (options.queues.empty()) line += " ~emq:{*}:*";
  for (const auto& queue : options.queues) {
    const auto name = queue_name(queue);
    if (!name) return name.error();
    line += " ~emq:{" + *name + "}:*";
  }
  line += " ~{emq}:*";
  for (const auto& prefix : options.v1_prefixes)
    if (!is_v1_prefix(prefix)) return bad_prefix(prefix);
  for (const auto& pattern : v1_patterns(options)) line += " %R~" + pattern;
  std::set<std::string> commands(kPlainCommands.begin(), kPlainCommands.end());
  for (const auto& [wanted, command] :
       {std::pair{options.client_kill, "client|kill"}, std::pair{options.wait, "wait"},
        std::pair{options.waitaof, "waitaof"}, std::pair{options.config_get, "config|get"},
        std::pair{options.scan, "scan"}})
    if (wanted) commands.insert(command);
  // The rules hold for what a script calls as well.
  for (const auto* script : scripts::all())
    for (const auto& call : protocol::calls_in(script->source))
      commands.insert(lower(call.command));
  for (const auto& command : commands) line += " +" + command;
  return line;
}

Result<std::string> v1_acl_line(const V1AclOptions& options) {
  if (!is_user(options.user)) return bad_user(options.user);
  if (options.prefixes.empty()) return bad_prefix("");
  std::string line = "user " + options.user + " on resetkeys resetchannels -@all";
  for (const auto& prefix : options.prefixes) {
    if (!is_v1_prefix(prefix)) return bad_prefix(prefix);
    line += " ~" + all_of_v1(prefix);
  }
  // Its scripts and its library are not ours to list. What reaches beyond keys is dangerous to the
  // server; of that it asks for the server's version and who is connected.
  return line + " +@all -@admin -@dangerous +info +client|list";
}

}  // namespace echomq::inline v2
