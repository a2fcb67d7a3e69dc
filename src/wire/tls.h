// SPDX-License-Identifier: MIT
// TlsContext: TlsOptions made ready for use: trust, certificate and key are read once, and each
// connection's handshake begins from here.
//
// Thread-safety: made anywhere, used on the loop only.
#pragma once

#include <memory>
#include <string>

#include "echomq/connection.h"
#include "echomq/result.h"

// OpenSSL's own names, so that this header needs none of its headers.
struct ssl_ctx_st;
struct ssl_st;

namespace echomq::inline v2::wire {

class TlsContext {
 public:
  // `host` is what the certificate must be made out to unless the options name another.
  // Errors: tls (a file that cannot be read or does not belong), invalid_argument (half a pair).
  static Result<std::shared_ptr<TlsContext>> make(const TlsOptions& options,
                                                  const std::string& host);

  // The context, for streams made from it; it stays the property of this object.
  [[nodiscard]] ssl_ctx_st* native() const { return context_.get(); }
  // Tells a new session whom to expect. False when the library refuses the name.
  [[nodiscard]] bool expect_host(ssl_st* session) const;

 private:
  TlsContext() = default;

  std::shared_ptr<ssl_ctx_st> context_;
  std::string host_;
  bool verify_ = true;
};

// Why a handshake failed, in words; empty where the session has nothing to say.
std::string verify_problem(const ssl_st* session);

}  // namespace echomq::inline v2::wire
