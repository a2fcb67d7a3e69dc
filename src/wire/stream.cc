// SPDX-License-Identifier: MIT
#include "wire/stream.h"

#include "wire/asio_throw.h"

#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/error.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>
#include <deque>
#include <optional>
#include <utility>

namespace echomq::inline v2::wire {
namespace {

using Socket = asio::generic::stream_protocol::socket;

class SocketStream final : public Stream, public std::enable_shared_from_this<SocketStream> {
 public:
  SocketStream(Loop& loop, Endpoint endpoint, std::shared_ptr<TlsContext> tls)
      : endpoint_(std::move(endpoint)),
        resolver_(loop.context()),
        socket_(loop.context()),
        trust_(std::move(tls)) {}

  void connect(Function<void(Result<void>)> done) override {
    connected_ = std::move(done);
    if (endpoint_.unix_socket)
      return connect_to(asio::local::stream_protocol::endpoint(endpoint_.path));
    resolver_.async_resolve(endpoint_.host, std::to_string(endpoint_.port),
                            [self = shared_from_this()](std::error_code error, auto found) {
                              if (error) return self->failed(error.message());
                              self->candidates_.assign(found.begin(), found.end());
                              self->connect_next();
                            });
  }

  void read_some(char* to, std::size_t size, Moved done) override {
    auto moved = [self = shared_from_this(), done = std::move(done)](
                     std::error_code error, std::size_t count) mutable { done(error, count); };
    if (tls_)
      tls_->async_read_some(asio::buffer(to, size), std::move(moved));
    else
      socket_.async_read_some(asio::buffer(to, size), std::move(moved));
  }

  void write(std::string bytes, Moved done) override {
    out_ = std::move(bytes);
    auto moved = [self = shared_from_this(), done = std::move(done)](
                     std::error_code error, std::size_t count) mutable { done(error, count); };
    if (tls_)
      asio::async_write(*tls_, asio::buffer(out_), std::move(moved));
    else
      asio::async_write(socket_, asio::buffer(out_), std::move(moved));
  }

  void close() override {
    closed_ = true;
    std::error_code ignored;
    socket_.close(ignored);
    resolver_.cancel();
  }

 private:
  // A name may stand for several addresses: one after the other.
  void connect_next() {
    const auto next = candidates_.front().endpoint();
    candidates_.pop_front();
    connect_to(next);
  }

  void connect_to(const Socket::endpoint_type& address) {
    if (closed_) return failed("it was closed");
    socket_.async_connect(address, [self = shared_from_this()](std::error_code error) {
      if (!error) return self->connected();
      if (self->candidates_.empty() || self->closed_) return self->failed(error.message());
      std::error_code ignored;
      self->socket_.close(ignored);
      self->connect_next();
    });
  }

  void connected() {
    if (!endpoint_.unix_socket) {
      std::error_code ignored;
      socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
      socket_.set_option(asio::socket_base::keep_alive(true), ignored);
    }
    if (!trust_) return std::exchange(connected_, nullptr)({});
    SSL_CTX_up_ref(trust_->native());  // Asio's context gives one reference back
    context_.emplace(trust_->native());
    tls_.emplace(socket_, *context_);
    if (!trust_->expect_host(tls_->native_handle()))
      return refused("the host name cannot be used with TLS");
    tls_->async_handshake(asio::ssl::stream_base::client,
                          [self = shared_from_this()](std::error_code error) {
                            if (!error) return std::exchange(self->connected_, nullptr)({});
                            const auto problem = verify_problem(self->tls_->native_handle());
                            if (!problem.empty()) return self->refused(problem);
                            if (is_tls_error(error)) return self->refused(error.message());
                            self->failed(error.message());
                          });
  }

  void failed(const std::string& why) {
    if (connected_) std::exchange(connected_, nullptr)(Error{ErrorCode::unavailable, why, {}});
  }
  void refused(const std::string& why) {
    if (connected_) std::exchange(connected_, nullptr)(Error{ErrorCode::tls, why, {}});
  }

  Endpoint endpoint_;
  asio::ip::tcp::resolver resolver_;
  std::deque<asio::ip::tcp::resolver::results_type::value_type> candidates_;
  Socket socket_;
  std::shared_ptr<TlsContext> trust_;
  std::optional<asio::ssl::context> context_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
  Function<void(Result<void>)> connected_;
  std::string out_;
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<Stream> Stream::make(Loop& loop, const Endpoint& endpoint,
                                     std::shared_ptr<TlsContext> tls) {
  return std::make_shared<SocketStream>(loop, endpoint, std::move(tls));
}

bool is_tls_error(const std::error_code& error) noexcept {
  return error.category() == asio::error::get_ssl_category();
}

}  // namespace echomq::inline v2::wire
