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
#include <optional>
#include <string>
#include <string_view>

#include "probe/link.h"
#include "wire/resp.h"

namespace echomq::test {

using namespace probe;  // what the probes prove the wire with is the tests' as well

// What a RawClient is where the library's user has its least privilege only (support/server.h),
// with its name as the password.
inline constexpr const char* kAdministrator = "administrator";

class RawClient : public Link {
 public:
  explicit RawClient(const std::string& socket_path);
  ~RawClient() override;
  RawClient(RawClient&& other) noexcept;
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  RawClient& operator=(RawClient&&) = delete;

  void send(std::string_view bytes) override;
  using Link::receive;
  Reply receive(std::chrono::milliseconds deadline) override;
  // Nothing when no whole answer has come by then.
  std::optional<Reply> poll(std::chrono::milliseconds deadline);

 private:
  int fd_ = -1;
  wire::RespParser parser_;
};

}  // namespace echomq::test
