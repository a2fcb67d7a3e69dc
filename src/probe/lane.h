// SPDX-License-Identifier: MIT
// Lane: a Link of a probe's own over any URL that a client can use: unix sockets, TCP, TLS. It
// speaks RESP2, does not connect again, and says what it is told and nothing by itself: so a probe
// sees the server as it is, and MONITOR can be listened to.
//
// When the connection is lost, or an answer does not come in time, all that follows is answered by
// an error reply that begins with LOST. A thread of its own moves the bytes; the object itself is
// for one thread.
#pragma once

#include <memory>
#include <string>

#include "echomq/connection.h"
#include "echomq/result.h"
#include "probe/link.h"
#include "wire/loop.h"
#include "wire/url.h"

namespace echomq::inline v2::probe {

class Lane : public Link {
 public:
  // Connects and logs in. Errors: unavailable, timeout, tls, denied, loading, server_too_old,
  // invalid_url, invalid_argument (of the TLS options).
  static Result<std::unique_ptr<Lane>> open(const wire::Endpoint& endpoint, const TlsOptions& tls,
                                            const std::string& name);

  ~Lane() override;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void send(std::string_view bytes) override;
  using Link::receive;
  Reply receive(std::chrono::milliseconds deadline) override;

  // Why it was lost; empty while it is not.
  [[nodiscard]] std::string lost() const;

 private:
  struct State;
  explicit Lane(std::shared_ptr<State> state) : state_(std::move(state)) {}

  wire::Loop loop_;  // outlives the state, whose socket is of it
  std::shared_ptr<State> state_;
};

}  // namespace echomq::inline v2::probe
