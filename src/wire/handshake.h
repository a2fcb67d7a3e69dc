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

// Where an ACL denies INFO.
inline constexpr const char* kUnknown = "unknown";

// What the server told about itself.
struct ServerInfo {
  std::string version = kUnknown;
  std::string run_id = kUnknown;  // changes when the server restarts
  std::string maxmemory_policy = kUnknown;
  std::int64_t client_id = 0;  // the server's number for this connection
  // The connection before may still live in the server, where it cannot be ended, and what it holds
  // may still run.
  bool kill_denied = false;
};

// The commands of a greeting, in the order in which they were said.
struct Handshake {
  enum class Said { hello, auth, client_id, set_name, info, select };

  std::string bytes{};
  std::vector<Said> said{};
};

// HELLO 3 (with AUTH and SETNAME) or, for a server without HELLO, the same in single commands and
// RESP2; then INFO and SELECT.
Handshake handshake(const Endpoint& endpoint, const std::string& client_name, bool resp2);

// Whether this answer to HELLO says that there is no such command, or no RESP3: then the greeting
// is said again in RESP2.
bool lacks_hello(std::string_view answer) noexcept;

// Errors: denied, loading, server_too_old (before 7.0), config (evicting, unless allowed),
// invalid_url (no such database), server_error.
Result<ServerInfo> judge_handshake(const Handshake& handshake, const std::vector<Reply>& replies,
                                   bool allow_eviction);

// What may be left in the server of the connection before, whose server told `before`.
enum class Leftover { nothing, connection, unknown };
// The server counts its connections anew when it restarts: in another run the number of the old one
// may be anyone's, so it is only good in the same run. Unknown where an ACL hides the run.
Leftover leftover(const ServerInfo& before, const ServerInfo& now);

// CLIENT KILL, the last word of a greeting: what the old socket still holds cannot run after its
// repetition.
std::string kill_command(std::int64_t client_id);
// Whether the answer says that an ACL does not allow it.
bool is_denied(const Reply& answer) noexcept;

}  // namespace echomq::inline v2::wire
