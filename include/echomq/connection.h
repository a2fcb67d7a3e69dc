// SPDX-License-Identifier: MIT
// How a client reaches its server: what to trust through TLS, and in which state the connection is.
#pragma once

#include <string>

namespace echomq::inline v2 {

// For rediss:// and valkeys://. The defaults do the right thing for a server whose certificate a
// public or a locally installed authority has signed: TLS 1.2 or later, the chain verified against
// the system's trust store, and the certificate made out to the host of the URL. All files are PEM.
struct TlsOptions {
  // The authorities to trust, instead of the system's.
  std::string ca_file{};
  std::string ca_dir{};  // hashed, as c_rehash makes it
  // What this client shows to a server that asks for a certificate: its chain, leaf first, and the
  // key. Both or neither.
  std::string certificate_file{};
  std::string key_file{};
  // The name or address that the server's certificate must be made out to, and that is sent as SNI;
  // empty: the host of the URL. For tunnels and proxies.
  std::string host_name{};
  // false: any certificate of anybody is taken. Whoever sits between can read and forge everything.
  bool verify = true;
};

// Of the connection that all queues of a client share; a worker's waiting lane follows it.
enum class ConnectionState {
  connecting,  // on the way: address, TLS, login
  ready,
  down,    // lost, or not reached; the next attempt follows by itself, within 2 seconds
  closed,  // for good
};

}  // namespace echomq::inline v2
