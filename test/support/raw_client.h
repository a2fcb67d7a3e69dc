// SPDX-License-Identifier: MIT
// A second way to the server, beside the library: one blocking connection over a unix socket, one
// command at a time. Tests arrange and inspect with it what the library is then asked about.
//
//   RawClient redis(server.socket_path());
//   EXPECT_EQ(redis({"HGET", key, "state"}).text, "active");
//
// A lost connection or an answer that does not come within 30 s throws std::runtime_error.
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp.h"

namespace echomq::test {

using wire::Reply;

// What a RawClient is where the library's user has its least privilege only (support/server.h),
// with its name as the password.
inline constexpr const char* kAdministrator = "administrator";

class RawClient {
 public:
  explicit RawClient(const std::string& socket_path);
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  RawClient& operator=(RawClient&&) = delete;

  // One command and its answer.
  Reply operator()(std::initializer_list<std::string_view> words);
  Reply operator()(const std::vector<std::string>& words);

  // The parts of it, for pipelines and for connections that are only listened to.
  void send(std::string_view bytes);
  Reply receive(std::chrono::milliseconds deadline = std::chrono::seconds(30));
  // Nothing when no whole answer has come by then.
  std::optional<Reply> poll(std::chrono::milliseconds deadline);

 private:
  int fd_ = -1;
  wire::RespParser parser_;
};

// The texts of an array, in its order; an integer as its digits, null as "(nil)".
std::vector<std::string> texts(const Reply& reply);

// A reply in one line, for messages: texts bare, arrays in brackets.
std::string show(const Reply& reply);

}  // namespace echomq::test
