// SPDX-License-Identifier: MIT
// Where a server is, and the URL that says so.
//
//   redis://[[user]:password@]host[:port][/db]    valkey://... is the same
//   rediss://...                                  valkeys://..., through TLS
//   unix://[[user]:password@]/path/to/socket[?db=N]
//   embedded:[/folder]                            the private server of that folder
//
// User, password, path and folder may hold percent-encoded bytes, and must where they contain one
// of
// "/?#@%". A host is a name, an IPv4 address, or an IPv6 address in brackets. The scheme's case is
// free.
#pragma once

#include <string>
#include <string_view>

#include "echomq/result.h"

namespace echomq::inline v2::wire {

struct Endpoint {
  bool unix_socket = false;
  std::string host{};  // without brackets
  unsigned short port = 6379;
  std::string path{};  // of the unix socket
  std::string user{};  // empty: the server's default user
  std::string password{};
  int db = 0;
  bool embedded = false;
  std::string embedded_dir{};  // empty: the default folder
  bool tls = false;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// Errors: invalid_url, naming the part that is wrong; unsupported for sentinel and cluster.
// Neither ever quotes a password, nor what could be one: a URL that lacks its "@host" has it in the
// port's place.
Result<Endpoint> parse_url(std::string_view url);

// The URL of an endpoint, without the password: for messages and logs.
std::string to_string(const Endpoint& endpoint);

}  // namespace echomq::inline v2::wire
