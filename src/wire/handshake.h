// SPDX-License-Identifier: MIT
// What a new connection says first, and what the answers must be. Pure: bytes out, replies in.
#pragma once

#include <cstdint>
#include <string>
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
};

struct Handshake {
  std::string bytes;
  std::size_t replies = 0;
};

// HELLO 3 (with AUTH and SETNAME), CLIENT KILL of the connection before, SELECT, INFO. The kill
// keeps commands that the old socket still holds from running after their repetition.
Handshake handshake(const Endpoint& endpoint, const std::string& client_name,
                    std::int64_t previous_client_id);

// Errors: denied, loading, server_too_old (before 7.0), config (evicting, unless allowed),
// server_error.
Result<ServerInfo> judge_handshake(const std::vector<Reply>& replies, bool allow_eviction);

}  // namespace echomq::inline v2::wire
