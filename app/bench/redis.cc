// SPDX-License-Identifier: MIT
#include "bench/redis.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace bench {
namespace {

using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;
using Deadline = std::chrono::steady_clock::time_point;

Error unavailable(const std::string& why) {
  return {ErrorCode::unavailable, "the server cannot be reached: " + why, {}};
}

int open_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return fd;
  const int problem = errno;
  if (fd >= 0) ::close(fd);
  errno = problem;
  return -1;
}

int open_tcp(const std::string& host, const std::string& port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) {
    errno = EHOSTUNREACH;
    return -1;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  for (const auto* each = found; each != nullptr; each = each->ai_next) {
    const int fd = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd, each->ai_addr, each->ai_addrlen) == 0) return fd;
    ::close(fd);
  }
  return -1;
}

template <class N>
N whole(std::string_view text) {
  N value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Result<Address> parse_address(std::string_view url) {
  const auto bad = [url](const std::string& expected) {
    return Error{ErrorCode::invalid_url,
                 "the bench reaches unix:///PATH and redis://HOST[:PORT]; expected " + expected,
                 {{"value", std::string(url)}, {"expected", expected}}};
  };
  Address address;
  if (url.starts_with("unix://")) {
    address.path = url.substr(7);
    if (!address.path.starts_with('/') || address.path.find('?') != std::string::npos)
      return bad("an absolute path, and no options");
    return address;
  }
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos ||
      (url.substr(0, scheme) != "redis" && url.substr(0, scheme) != "valkey"))
    return bad("one of these two");
  auto rest = url.substr(scheme + 3);
  if (rest.find_first_of("@/?") != std::string_view::npos)
    return bad("neither a password nor a database");
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == std::string_view::npos) return bad("a ] after the address");
    address.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    address.host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(address.host.size());
  }
  if (!rest.empty()) address.port = rest.substr(1);
  const auto port = whole<unsigned>(address.port);
  if (address.host.empty() || port == 0 || port > 65'535 || std::to_string(port) != address.port)
    return bad("a host and a port of 1 to 65535");
  return address;
}

bool is_loopback(const Address& address) {
  if (!address.path.empty() || address.host == "localhost" || address.host == "::1") return true;
  std::array<unsigned, 4> part{};
  const char* at = address.host.data();
  const char* const end = at + address.host.size();
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto [next, problem] = std::from_chars(at, end, part[i]);
    if (problem != std::errc() || part[i] > 255) return false;
    if (i + 1 < part.size() && (next == end || *next != '.')) return false;
    at = next == end ? end : next + 1;
    if (i + 1 == part.size() && next != end) return false;
  }
  return part[0] == 127;
}

Result<Redis> Redis::connect(std::string_view url) {
  const auto address = parse_address(url);
  if (!address) return address.error();
  return connect(*address);
}

Result<Redis> Redis::connect(const Address& address) {
  const int fd =
      address.path.empty() ? open_tcp(address.host, address.port) : open_unix(address.path);
  if (fd < 0) return unavailable(std::strerror(errno));
  return Redis(fd);
}

Redis::~Redis() {
  if (fd_ >= 0) ::close(fd_);
}

void Redis::put(const std::vector<std::string_view>& words) {
  const auto length = [this](char type, std::size_t value) {
    std::array<char, 24> text{};
    auto* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    out_ += type;
    out_.append(text.data(), static_cast<std::size_t>(end - text.data()));
    out_ += "\r\n";
  };
  length('*', words.size());
  for (const auto word : words) {
    length('$', word.size());
    out_ += word;
    out_ += "\r\n";
  }
}

Result<void> Redis::send() {
  for (std::size_t at = 0; at < out_.size();) {
    const auto sent = ::send(fd_, out_.data() + at, out_.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0)
      return Error{ErrorCode::connection_lost,
                   std::string("the server does not take commands: ") + std::strerror(errno),
                   {}};
    at += static_cast<std::size_t>(sent);
  }
  out_.clear();
  return {};
}

Result<Reply> Redis::take(std::chrono::milliseconds limit) {
  return reply(std::chrono::steady_clock::now() + limit);
}

Result<Reply> Redis::call(const std::vector<std::string_view>& words) {
  put(words);
  if (auto sent = send(); !sent) return sent.error();
  auto answer = take();
  if (answer && answer->error)
    return Error{ErrorCode::server_error,
                 "the server refused " + std::string(words.front()) + ": " + answer->text,
                 {}};
  return answer;
}

Result<void> Redis::more(Deadline deadline) {
  // Moving the rest to the front is paid for by as many bytes that were consumed.
  if (at_ > in_.size() / 2) {
    in_.erase(0, at_);
    at_ = 0;
  }
  pollfd readable{fd_, POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    const int ready =
        ::poll(&readable, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0)
      return Error{ErrorCode::timeout, "the server did not answer the bench in time", {}};
    std::array<char, 65'536> piece{};
    const auto got = ::recv(fd_, piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return Error{ErrorCode::connection_lost, "the server closed the bench's connection", {}};
    in_.append(piece.data(), static_cast<std::size_t>(got));
    return {};
  }
}

Result<std::string_view> Redis::line(Deadline deadline) {
  for (;;) {
    const auto end = in_.find("\r\n", at_);
    if (end != std::string::npos) {
      const std::string_view found(in_.data() + at_, end - at_);
      at_ = end + 2;
      return found;
    }
    if (auto ok = more(deadline); !ok) return ok.error();
  }
}

Result<Reply> Redis::reply(Deadline deadline) {
  auto head = line(deadline);
  if (!head) return head.error();
  if (head->empty()) return Error{ErrorCode::protocol, "an empty line is no answer", {}};
  const char type = head->front();
  Reply answer;
  answer.text = head->substr(1);
  answer.error = type == '-';
  if (type == '$') {
    const auto length = whole<std::int64_t>(answer.text);
    answer.text.clear();
    if (length < 0) return answer;
    const auto size = static_cast<std::size_t>(length);
    while (in_.size() - at_ < size + 2)
      if (auto ok = more(deadline); !ok) return ok.error();
    answer.text.assign(in_, at_, size);
    at_ += size + 2;
  } else if (type == '*') {
    const auto count = whole<std::int64_t>(answer.text);
    answer.text.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      auto item = reply(deadline);
      if (!item) return item;
      answer.items.push_back(*std::move(item));
    }
  }
  return answer;
}

}  // namespace bench
