// SPDX-License-Identifier: MIT
#include "wire/handshake.h"

#include <charconv>
#include <initializer_list>
#include <optional>

#include "wire/command.h"
#include "wire/info.h"

namespace echomq::inline v2::wire {
namespace {

constexpr int kOldestMajor = 7;

Error too_old(const std::string& version) {
  return {ErrorCode::server_too_old,
          "the server is version " + version + "; EchoMQ needs Redis 7.0 or Valkey 7.2, or later",
          {{"found", version}, {"expected", "7.0"}}};
}

Error login_refused(const std::string& text) {
  return {ErrorCode::denied,
          "the server refused the login: " + text + "; give user and password in the url",
          {{"found", text}}};
}

bool is_login_error(std::string_view text) {
  return text.starts_with("NOAUTH") || text.starts_with("WRONGPASS") || text.starts_with("NOPERM");
}

Error refused(std::string_view command, const std::string& text) {
  if (is_login_error(text) || command == "AUTH") return login_refused(text);
  if (text.starts_with("LOADING"))
    return {ErrorCode::loading, "the server is loading its data", {}};
  return {ErrorCode::server_error,
          "the server refused " + std::string(command) + ": " + text,
          {{"found", text}}};
}

void read_info(const std::string& text, ServerInfo& out) {
  out.version = info_value(text, "redis_version").value_or(kUnknown);
  out.run_id = info_value(text, "run_id").value_or(kUnknown);
  out.maxmemory_policy = info_value(text, "maxmemory_policy").value_or(kUnknown);
  if (const auto valkey = info_value(text, "valkey_version")) out.version = *valkey;
}

void read_hello(const Reply& hello, ServerInfo& out) {
  for (std::size_t i = 0; i + 1 < hello.items.size(); i += 2) {
    if (hello.items[i].text == "id") out.client_id = hello.items[i + 1].integer;
    if (hello.items[i].text == "version" && out.version == kUnknown)
      out.version = hello.items[i + 1].text;
  }
}

std::optional<Error> unfit(const ServerInfo& info, bool allow_eviction) {
  int major = kOldestMajor;
  std::from_chars(info.version.data(), info.version.data() + info.version.size(), major);
  if (major < kOldestMajor) return too_old(info.version);
  if (!allow_eviction && info.maxmemory_policy != kUnknown && info.maxmemory_policy != "noeviction")
    return Error{
        ErrorCode::config,
        "the server's maxmemory-policy is " + info.maxmemory_policy +
            ", which drops jobs when memory is short; set it to noeviction, or connect with "
            "allow_eviction",
        {{"found", info.maxmemory_policy}, {"expected", "noeviction"}}};
  return std::nullopt;
}

}  // namespace

Handshake handshake(const Endpoint& endpoint, const std::string& client_name, bool resp2) {
  using Said = Handshake::Said;
  Handshake out;
  const auto say = [&out](Said what, std::initializer_list<std::string_view> words) {
    append_command(out.bytes, words);
    out.said.push_back(what);
  };
  const std::string_view user = endpoint.user.empty() ? "default" : std::string_view(endpoint.user);
  const bool login = !endpoint.password.empty();
  if (!resp2 && login)
    say(Said::hello, {"HELLO", "3", "AUTH", user, endpoint.password, "SETNAME", client_name});
  else if (!resp2)
    say(Said::hello, {"HELLO", "3", "SETNAME", client_name});
  if (resp2) {
    if (login) say(Said::auth, {"AUTH", user, endpoint.password});
    say(Said::client_id, {"CLIENT", "ID"});
    say(Said::set_name, {"CLIENT", "SETNAME", client_name});
  }
  say(Said::info, {"INFO"});
  if (endpoint.db != 0) say(Said::select, {"SELECT", std::to_string(endpoint.db)});
  return out;
}

bool lacks_hello(std::string_view answer) noexcept {
  return answer.starts_with("NOPROTO") || answer.starts_with("ERR unknown command");
}

Result<ServerInfo> judge_handshake(const Handshake& handshake, const std::vector<Reply>& replies,
                                   bool allow_eviction) {
  using Said = Handshake::Said;
  ServerInfo info;
  // What INFO says counts first: an old server is told so whatever else it refused.
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (handshake.said[i] != Said::info || replies[i].is_error()) continue;
    read_info(replies[i].text, info);
    if (auto bad = unfit(info, allow_eviction)) return *bad;
    if (info_value(replies[i].text, "redis_mode") == "sentinel")
      return Error{ErrorCode::unsupported,
                   "this is a Sentinel; finding a server through it is not offered yet: connect to "
                   "the server itself",
                   {}};
    if (info_value(replies[i].text, "loading") == "1")
      return Error{ErrorCode::loading, "the server is loading its data", {}};
  }
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto& reply = replies[i];
    const bool bad = reply.is_error();
    switch (handshake.said[i]) {
      case Said::hello:
        if (bad) return refused("HELLO", reply.text);
        read_hello(reply, info);
        break;
      case Said::auth:
        if (bad) return refused("AUTH", reply.text);
        break;
      case Said::client_id:
        // A proxy may not know it; a server that wants a login says so here.
        if (bad && is_login_error(reply.text)) return login_refused(reply.text);
        info.client_id = reply.integer;
        break;
      case Said::select:
        if (bad)
          return Error{ErrorCode::invalid_url,
                       "the server has no such database: " + reply.text,
                       {{"found", reply.text}}};
        break;
      case Said::set_name:
      case Said::info: break;
    }
  }
  if (auto bad = unfit(info, allow_eviction)) return *bad;
  return info;
}

Leftover leftover(const ServerInfo& before, const ServerInfo& now) {
  if (before.client_id == 0) return Leftover::nothing;
  if (before.run_id == kUnknown || now.run_id == kUnknown) return Leftover::unknown;
  return before.run_id == now.run_id ? Leftover::connection : Leftover::nothing;
}

std::string kill_command(std::int64_t client_id) {
  return command({"CLIENT", "KILL", "ID", std::to_string(client_id)});
}

bool is_denied(const Reply& answer) noexcept {
  return answer.is_error() && answer.text.starts_with("NOPERM");
}

}  // namespace echomq::inline v2::wire
