// SPDX-License-Identifier: MIT
#include "wire/embedded_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.h"
#include "wire/command.h"
#include "wire/fd.h"

namespace echomq::inline v2::wire {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskTimeout{1'000};

// Connected, or the reason in errno.
Fd connect_to(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), kLongestSocketPath));
  if (fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    { const Fd closed(std::move(fd)); }
    errno = error;
    return Fd(-1);
  }
  return fd;
}

}  // namespace

std::optional<Error> clear_socket(const EmbeddedFolder& folder) {
  const auto path = folder.socket_path();
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return folder.system_error(path + " cannot be looked at", errno);
  }
  if (!S_ISSOCK(status.st_mode))
    return folder.error(path +
                        " is there and is not a socket; move it away, or choose another folder");
  const Fd fd = connect_to(path);
  if (fd || errno == EAGAIN)
    return folder.error("a server without an owner answers on " + path + "; connect to " +
                        folder.url() + ", or stop it");
  if (errno != ECONNREFUSED && errno != ENOENT)
    return folder.system_error(path + " is there and cannot be tried", errno);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return folder.system_error("the stale socket " + path + " cannot be removed", errno);
  return std::nullopt;
}

std::optional<Reply> ask(const EmbeddedFolder& folder,
                         std::initializer_list<std::string_view> words) {
  const Fd fd = connect_to(folder.socket_path());
  if (!fd) return std::nullopt;
  std::string bytes;
  append_command(bytes, words);
  if (::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size()))
    return std::nullopt;
  RespParser parser;
  const auto deadline = monotonic_ms() + kAskTimeout;
  while (true) {
    auto next = parser.next();
    if (!next) return std::nullopt;
    if (*next) return std::move(**next);
    pollfd readable{fd.get(), POLLIN, 0};
    const auto left = deadline - monotonic_ms();
    if (left <= milliseconds(0) || ::poll(&readable, 1, static_cast<int>(left.count())) == 0)
      return std::nullopt;
    std::array<char, 4096> input{};
    const auto size = ::recv(fd.get(), input.data(), input.size(), 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    if (size > 0) parser.feed({input.data(), static_cast<std::size_t>(size)});
  }
}

}  // namespace echomq::inline v2::wire
