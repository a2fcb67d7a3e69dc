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
  for (const auto* script : scripts::all()) add_commands_of(script->source, commands);
  for (const auto& command : commands) line += " +" + command;
  return line;
}

}  // namespace echomq::inline v2
