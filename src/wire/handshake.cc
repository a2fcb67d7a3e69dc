// SPDX-License-Identifier: MIT
#include "wire/handshake.h"

#include <charconv>
#include <string_view>

#include "wire/command.h"

namespace echomq::inline v2::wire {
namespace {

constexpr int kOldestMajor = 7;

std::string info_value(std::string_view info, std::string_view key) {
  std::size_t at = 0;
  while (at < info.size()) {
    auto end = info.find('\n', at);
    if (end == std::string_view::npos) end = info.size();
    auto line = info.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':')
      return std::string(line.substr(key.size() + 1));
    at = end + 1;
  }
  return "unknown";
}

Error too_old(const std::string& version) {
  return {ErrorCode::server_too_old,
          "the server is version " + version + "; EchoMQ needs Redis 7.0 or Valkey 7.2, or later",
          {{"found", version}, {"expected", "7.0"}}};
}

// HELLO refused: by authentication, by a proxy, or because the server is older than the command.
Error hello_refused(const std::string& text, const std::string& version) {
  if (text.starts_with("NOAUTH") || text.starts_with("WRONGPASS") || text.starts_with("NOPERM"))
    return {ErrorCode::denied,
            "the server refused the login: " + text + "; give user and password in the url",
            {{"found", text}}};
  if (text.starts_with("LOADING"))
    return {ErrorCode::loading, "the server is loading its data", {}};
  if (text.find("unknown command") != std::string::npos)
    return too_old(version == "unknown" ? "before 6.0 (it has no HELLO)" : version);
  return {ErrorCode::server_error, "the server refused HELLO: " + text, {{"found", text}}};
}

}  // namespace

Handshake handshake(const Endpoint& endpoint, const std::string& client_name,
                    std::int64_t previous_client_id) {
  Handshake out;
  const auto say = [&out](std::initializer_list<std::string_view> words) {
    append_command(out.bytes, words);
    ++out.replies;
  };
  if (endpoint.password.empty()) {
    say({"HELLO", "3", "SETNAME", client_name});
  } else {
    const std::string_view user =
        endpoint.user.empty() ? "default" : std::string_view(endpoint.user);
    say({"HELLO", "3", "AUTH", user, endpoint.password, "SETNAME", client_name});
  }
  say({"INFO"});
  if (endpoint.db != 0) say({"SELECT", std::to_string(endpoint.db)});
  if (previous_client_id != 0) say({"CLIENT", "KILL", "ID", std::to_string(previous_client_id)});
  return out;
}

Result<ServerInfo> judge_handshake(const std::vector<Reply>& replies, bool allow_eviction) {
  ServerInfo info;
  const Reply& hello = replies.at(0);
  const Reply& about = replies.at(1);
  if (!about.is_error()) {
    info.version = info_value(about.text, "redis_version");
    info.run_id = info_value(about.text, "run_id");
    info.maxmemory_policy = info_value(about.text, "maxmemory_policy");
    if (const auto valkey = info_value(about.text, "valkey_version"); valkey != "unknown")
      info.version = valkey;
  }
  if (hello.is_error()) return hello_refused(hello.text, info.version);
  for (std::size_t i = 0; i + 1 < hello.items.size(); i += 2) {
    if (hello.items[i].text == "id") info.client_id = hello.items[i + 1].integer;
    if (hello.items[i].text == "version" && info.version == "unknown")
      info.version = hello.items[i + 1].text;
  }
  int major = kOldestMajor;
  std::from_chars(info.version.data(), info.version.data() + info.version.size(), major);
  if (major < kOldestMajor) return too_old(info.version);
  if (!about.is_error() && info_value(about.text, "loading") == "1")
    return Error{ErrorCode::loading, "the server is loading its data", {}};
  if (!allow_eviction && info.maxmemory_policy != "unknown" &&
      info.maxmemory_policy != "noeviction")
    return Error{
        ErrorCode::config,
        "the server's maxmemory-policy is " + info.maxmemory_policy +
            ", which drops jobs when memory is short; set it to noeviction, or connect with "
            "allow_eviction",
        {{"found", info.maxmemory_policy}, {"expected", "noeviction"}}};
  if (replies.size() > 2 && replies[2].is_error() &&
      replies[2].text.find("DB index") != std::string::npos)
    return Error{ErrorCode::invalid_url,
                 "the server has no such database: " + replies[2].text,
                 {{"found", replies[2].text}}};
  return info;
}

}  // namespace echomq::inline v2::wire
