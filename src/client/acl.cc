// SPDX-License-Identifier: MIT
#include "echomq/acl.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "echomq/keyspace.h"
#include "echomq_scripts.h"
#include "protocol/registry.h"

namespace echomq::inline v2 {
namespace {

// What a client says beside its scripts: the greeting, the clock, looking before a script is
// called, waiting on the marker and on the stream of events, the lists of queues and schedulers,
// the outbox, and the look for a v1 queue.
constexpr std::array<std::string_view, 26> kPlainCommands{
    "bzpopmin",   "client|id",     "client|setname", "eval",  "evalsha", "hdel",      "hello",
    "hget",       "hgetall",       "hmget",          "hscan", "info",    "ping",      "select",
    "smismember", "sscan",         "time",           "type",  "xread",   "xrevrange", "zadd",
    "zrange",     "zrangebyscore", "auth",           "zcard", "zscan"};

// The rules of an ACL hold for what a script calls as well. The build has checked that each call
// names its command literally.
void add_commands_of(std::string_view source, std::set<std::string>& out) {
  for (const std::string_view call : {"redis.call('", "redis.pcall('"})
    for (auto at = source.find(call); at != std::string_view::npos; at = source.find(call, at)) {
      at += call.size();
      std::string command(source.substr(at, source.find('\'', at) - at));
      for (char& c : command)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      out.insert(std::move(command));
    }
}

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
  for (const auto& prefix : options.v1_prefixes) {
    if (!is_v1_prefix(prefix)) return bad_prefix(prefix);
    line += " %R~" + prefix + ":*";
  }
  std::set<std::string> commands(kPlainCommands.begin(), kPlainCommands.end());
  for (const auto& [wanted, command] :
       {std::pair{options.client_kill, "client|kill"}, std::pair{options.wait, "wait"},
        std::pair{options.waitaof, "waitaof"}, std::pair{options.config_get, "config|get"}})
    if (wanted) commands.insert(command);
  for (const auto* script : scripts::all()) add_commands_of(script->source, commands);
  for (const auto& command : commands) line += " +" + command;
  return line;
}

Result<std::string> v1_acl_line(const V1AclOptions& options) {
  if (!is_user(options.user)) return bad_user(options.user);
  if (options.prefixes.empty()) return bad_prefix("");
  std::string line = "user " + options.user + " on resetkeys resetchannels -@all";
  for (const auto& prefix : options.prefixes) {
    if (!is_v1_prefix(prefix)) return bad_prefix(prefix);
    line += " ~" + prefix + (prefix == "emq" ? ":[^{]*" : ":*");
  }
  // Its scripts and its library are not ours to list. What reaches beyond keys is dangerous to the
  // server; of that it asks for the server's version and who is connected.
  return line + " +@all -@admin -@dangerous +info +client|list";
}

}  // namespace echomq::inline v2
