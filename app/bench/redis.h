// SPDX-License-Identifier: MIT
// A plain blocking connection to the server that is measured: for its statistics, and for the
// floor, which must not go through the library that it is compared with.
//
// Addresses are unix:///PATH and redis://HOST[:PORT], without a password. Every read has a
// deadline.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/result.h"

namespace bench {

struct Address {
  std::string path;  // of a unix socket; empty: host and port
  std::string host;
  std::string port = "6379";
};
// Error: invalid_url.
echomq::Result<Address> parse_address(std::string_view url);
// A unix socket, 127.0.0.0/8, ::1 or localhost: this very machine.
bool is_loopback(const Address& address);

struct Reply {
  std::string text;  // of strings, errors and integers alike
  bool error = false;
  std::vector<Reply> items;
};

class Redis {
 public:
  // Error: unavailable.
  static echomq::Result<Redis> connect(const Address& address);
  // Errors: invalid_url too.
  static echomq::Result<Redis> connect(std::string_view url);
  ~Redis();
  Redis(Redis&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        out_(std::move(other.out_)),
        in_(std::move(other.in_)),
        at_(other.at_) {}
  Redis& operator=(Redis&&) = delete;

  // One command and its answer. Errors: connection_lost, timeout, server_error (an error reply).
  echomq::Result<Reply> call(const std::vector<std::string_view>& words);

  // Many at once: put() any number, send() them, and take() one answer for each.
  void put(const std::vector<std::string_view>& words);
  echomq::Result<void> send();
  echomq::Result<Reply> take(std::chrono::milliseconds limit = std::chrono::seconds(60));

 private:
  explicit Redis(int fd) : fd_(fd) {}
  echomq::Result<std::string_view> line(std::chrono::steady_clock::time_point deadline);
  echomq::Result<void> more(std::chrono::steady_clock::time_point deadline);
  echomq::Result<Reply> reply(std::chrono::steady_clock::time_point deadline);

  int fd_;
  std::string out_;
  std::string in_;
  std::size_t at_ = 0;  // of in_, what is consumed
};

}  // namespace bench
