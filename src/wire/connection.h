// SPDX-License-Identifier: MIT
// Connection: one multiplexed, pipelined connection that keeps itself alive. Commands are written
// in the order in which they are sent, many in one write; answers are matched in order. When the
// socket dies it connects again, with capped exponential back-off and jitter.
//
// Every command has a deadline. What is not yet written waits for the next socket until then and
// answers `unavailable`; what was written and unanswered when its socket died answers
// `connection_lost`, and past its deadline `timeout`: its outcome is unknown, and only the layer
// above knows whether it may be said again. A deadline that passes while the socket says nothing at
// all shows a dead socket (half-open, blackholed, stopped server): it is dropped, so that nothing
// is ever parked on it. This is the watchdog of the blocking lane as well, which is a Connection of
// its own whose one command blocks in the server.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/function.h"
#include "echomq/connection.h"
#include "echomq/result.h"
#include "wire/handshake.h"
#include "wire/loop.h"
#include "wire/resp.h"
#include "wire/tls.h"
#include "wire/url.h"

namespace echomq::inline v2::wire {

struct ConnectionOptions {
  Endpoint endpoint;
  std::string client_name = "echomq";
  std::chrono::milliseconds connect_timeout{2'000};  // of one attempt
  bool allow_eviction = false;
  std::shared_ptr<TlsContext> tls{};  // empty: plain
};

using Answer = Function<void(Result<Reply>)>;

class Connection {
 public:
  virtual ~Connection() = default;

  // Called each time that a handshake went through; what is sent inside goes before what has
  // waited.
  Function<void(const ServerInfo&)> on_ready;
  // Called each time that an attempt to connect failed or a socket died.
  Function<void(const Error&)> on_down;
  // Called at each change of state, with the reason when it went down.
  Function<void(ConnectionState, const std::string&)> on_state;

  virtual void start() = 0;
  // Ends it: what waits answers `closed`, what was written `connection_lost`. No hook is called any
  // more.
  virtual void close() = 0;
  // Drops the socket as if it had died.
  virtual void drop(const std::string& why) = 0;

  // `bytes` are one command. `answer` is called exactly once, on the loop, never from inside
  // send().
  virtual void send(std::string bytes, std::chrono::milliseconds timeout, Answer answer) = 0;

  [[nodiscard]] virtual bool ready() const = 0;
  // Counts the sockets so far: unchanged means unbroken contact.
  [[nodiscard]] virtual std::uint64_t generation() const = 0;

  static std::shared_ptr<Connection> make(Loop& loop, ConnectionOptions options);
};

}  // namespace echomq::inline v2::wire
