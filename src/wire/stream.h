// SPDX-License-Identifier: MIT
// Stream: the bytes between this process and the server, over a unix socket or TCP, with TLS or
// without. One per attempt to connect.
//
// Thread-safety: on the loop only. At most one read and one write are on their way. After close()
// what was on its way still answers, with an error.
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include "base/function.h"
#include "echomq/result.h"
#include "wire/loop.h"
#include "wire/tls.h"
#include "wire/url.h"

namespace echomq::inline v2::wire {

class Stream {
 public:
  using Moved = Function<void(std::error_code, std::size_t)>;

  virtual ~Stream() = default;

  // Finds the host, connects, and greets by TLS. Errors: unavailable, tls; the detail alone, since
  // the caller knows what it was for.
  virtual void connect(Function<void(Result<void>)> done) = 0;
  // Reads what there is, at most `size` bytes.
  virtual void read_some(char* to, std::size_t size, Moved done) = 0;
  // Writes it all.
  virtual void write(std::string bytes, Moved done) = 0;
  virtual void close() = 0;

  // `tls` is empty for a plain stream.
  static std::shared_ptr<Stream> make(Loop& loop, const Endpoint& endpoint,
                                      std::shared_ptr<TlsContext> tls);
};

// An error that TLS raised, as against one of the socket beneath.
bool is_tls_error(const std::error_code& error) noexcept;

}  // namespace echomq::inline v2::wire
