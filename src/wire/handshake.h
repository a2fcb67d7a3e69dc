// SPDX-License-Identifier: MIT
// What a new connection says first, and what the answers must be. Pure: bytes out, replies in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/result.h"
#include "wire/resp.h"
#include "wire/url.h"

namespace echomq::inline v2::wire {

// What the server told about itself. "unknown" where an ACL denies INFO.
struct ServerInfo {
  std::string version = "unknown";
  std::string run_id = "unknown";  // changes when the server restarts
  std::string maxmemory_policy = "unknown";
  std::int64_t client_id = 0;  // the server's number for this connection
  // The connection before may still live in the server, and what it holds may still run.
  bool kill_denied = false;
};

// The commands of a greeting, in the order in which they were said.
struct Handshake {
  enum class Said { hello, auth, client_id, set_name, info, select, kill };

  std::string bytes{};
  std::vector<Said> said{};
};

// HELLO 3 (with AUTH and SETNAME) or, for a server without HELLO, the same in single commands and
// RESP2; then INFO, SELECT, and CLIENT KILL of the connection before. The kill keeps commands that
// the old socket still holds from running after their repetition.
Handshake handshake(const Endpoint& endpoint, const std::string& client_name,
                    std::int64_t previous_client_id, bool resp2);

// Whether this answer to HELLO says that there is no such command, or no RESP3: then the greeting
// is said again in RESP2.
bool lacks_hello(std::string_view answer) noexcept;

// Errors: denied, loading, server_too_old (before 7.0), config (evicting, unless allowed),
// invalid_url (no such database), server_error.
Result<ServerInfo> judge_handshake(const Handshake& handshake, const std::vector<Reply>& replies,
                                   bool allow_eviction);

}  // namespace echomq::inline v2::wire
