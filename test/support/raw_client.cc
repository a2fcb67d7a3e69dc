// SPDX-License-Identifier: MIT
#include "support/raw_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/wanted.h"

namespace echomq::test {
namespace {

[[noreturn]] void lost(const std::string& what) {
  throw std::runtime_error("connection to the test server: " + what + ": " +
                           std::generic_category().message(errno));
}

}  // namespace

RawClient::RawClient(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path)
    throw std::runtime_error("socket path too long: " + socket_path);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) lost("socket");
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int problem = errno;
    ::close(std::exchange(fd_, -1));
    errno = problem;
    lost("connect to " + socket_path);
  }
  // A server without such a user says so, and needs no login.
  if (least_privilege_wanted()) (*this)({"AUTH", kAdministrator, kAdministrator});
}

RawClient::~RawClient() {
  if (fd_ >= 0) ::close(fd_);
}

RawClient::RawClient(RawClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), parser_(std::move(other.parser_)) {}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) lost("send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Reply RawClient::receive(std::chrono::milliseconds deadline) {
  auto reply = poll(deadline);
  if (!reply) throw std::runtime_error("connection to the test server: no answer in time");
  return *std::move(reply);
}

std::optional<Reply> RawClient::poll(std::chrono::milliseconds deadline) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + deadline;
  while (true) {
    auto next = parser_.next();
    if (!next) throw std::runtime_error(next.error().message());
    if (*next) return *std::move(*next);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, left > 0 ? static_cast<int>(left) : 0);
    if (ready < 0 && errno != EINTR) lost("poll");
    if (ready == 0) return std::nullopt;
    if (ready < 0) continue;
    std::array<char, 64 * 1024> buffer;
    const auto got = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (got == 0) throw std::runtime_error("connection to the test server: closed by it");
    if (got < 0 && errno != EINTR) lost("recv");
    if (got > 0) parser_.feed({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace echomq::test
