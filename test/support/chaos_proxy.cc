// SPDX-License-Identifier: MIT
#include "support/chaos_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

#include "echomq_scripts.h"
#include "support/resp_frames.h"
#include "wire/command.h"
#include "wire/resp.h"

namespace echomq::test {
namespace {

using ProxyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("path too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

int listen_on(int fd, const void* address, socklen_t size) {
  if (fd < 0 || ::bind(fd, static_cast<const sockaddr*>(address), size) != 0 ||
      ::listen(fd, 64) != 0) {
    ::close(fd);
    throw std::runtime_error("a proxy cannot listen");
  }
  return fd;
}

int connect_to_server(const std::string& path) {
  const auto address = unix_address(path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

// What a script's calls carry, by its name; anything else stands for itself.
std::vector<std::string> marks_of(const std::string& what) {
  for (const auto* script : scripts::all())
    if (script->name == what) return {std::string(script->sha1), std::string(script->source)};
  return {what};
}

constexpr std::string_view kTime = "*1\r\n$4\r\nTIME\r\n";

// The answer to TIME, with other seconds in it.
std::string shifted(const std::string& answer, std::chrono::seconds by) {
  wire::RespParser parser;
  parser.feed(answer);
  auto reply = parser.next();
  if (!reply || !*reply || (**reply).items.size() != 2) return answer;
  auto& items = (**reply).items;
  std::string bytes;
  wire::append_header(bytes, 2);
  wire::append_bulk(bytes,
                    std::string_view(std::to_string(std::stoll(items[0].text) + by.count())));
  wire::append_bulk(bytes, std::string_view(items[1].text));
  return bytes;
}

// The name that a client gives itself in this command, if any.
std::string name_in(const std::string& command) {
  constexpr std::size_t kGreeting = 1'000;  // no greeting is longer
  if (command.size() > kGreeting || command.find("SETNAME") == std::string::npos) return {};
  wire::RespParser parser;
  parser.feed(command);
  const auto words = parser.next();
  if (!words || !*words) return {};
  const auto& items = (**words).items;
  for (std::size_t i = 0; i + 1 < items.size(); ++i)
    if (items[i].text == "SETNAME") return items[i + 1].text;
  return {};
}

}  // namespace

// One direction of a connection: what waits to be sent.
struct ChaosProxy::Pipe {
  struct Chunk {
    ProxyClock::time_point due;
    std::string bytes;
  };
  std::deque<Chunk> chunks{};
  std::size_t sent = 0;                // of the first chunk
  ProxyClock::time_point next_tick{};  // of the drip
  bool swallowed = false;              // nothing passes any more
  bool no_more = false;                // the source has said all that it will
  bool told = false;                   // and the destination knows

  void push(std::string bytes, milliseconds delay) {
    auto due = ProxyClock::now() + delay;
    if (!chunks.empty()) due = std::max(due, chunks.back().due);
    chunks.push_back({due, std::move(bytes)});
  }
  void swallow() {
    swallowed = true;
    chunks.clear();
    sent = 0;
  }
  // When there is something to send; nothing: only when more has come.
  [[nodiscard]] std::optional<ProxyClock::time_point> next(bool dripping) const {
    if (chunks.empty()) return std::nullopt;
    return dripping ? std::max(chunks.front().due, next_tick) : chunks.front().due;
  }
  // Sends what is due; false when the destination is gone.
  bool flush(int fd, std::size_t drip, milliseconds tick, std::size_t& counted) {
    const auto now = ProxyClock::now();
    if (drip > 0 && now < next_tick) return true;
    auto left = drip > 0 ? drip : SIZE_MAX;
    if (drip > 0 && !chunks.empty()) next_tick = now + tick;
    while (!chunks.empty() && chunks.front().due <= now && left > 0) {
      const auto& bytes = chunks.front().bytes;
      const auto most = std::min(left, bytes.size() - sent);
      const auto done = ::send(fd, bytes.data() + sent, most, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (done < 0) return errno == EAGAIN || errno == EINTR;
      counted += static_cast<std::size_t>(done);
      left -= static_cast<std::size_t>(done);
      sent += static_cast<std::size_t>(done);
      if (sent < bytes.size()) continue;
      chunks.pop_front();
      sent = 0;
    }
    return true;
  }
};

struct ChaosProxy::Snare {
  std::string what;
  std::vector<std::string> marks;
  Loss loss;
  std::size_t after;
  std::size_t times;
  bool shut;
  std::size_t lost = 0;

  [[nodiscard]] bool fits(const std::string& command) const {
    return std::any_of(marks.begin(), marks.end(), [&command](const auto& mark) {
      return command.find(mark) != std::string::npos;
    });
  }
};

struct ChaosProxy::Peer {
  // A command whose answer is to be lost.
  struct Awaited {
    std::size_t command;  // its number on this connection
    std::size_t snare;
  };

  Seen seen{};
  int client = -1;  // -1: closed
  int server = -1;
  bool client_said_all = false;
  bool server_said_all = false;
  Pipe to_server{};
  Pipe to_client{};
  RespFrames commands{};
  RespFrames answers{};
  std::deque<Awaited> awaited{};
  std::deque<std::size_t> times{};  // the numbers of TIME commands that are not answered yet
  bool secret = false;              // the end of one side is not told to the other
  bool over = false;                // to be closed

  // Both ends are told; the thread closes the descriptors.
  void cut() {
    for (const int fd : {client, server})
      if (fd >= 0) ::shutdown(fd, SHUT_RDWR);
    over = true;
    seen.open = false;
  }
  void blackhole() {
    to_server.swallow();
    to_client.swallow();
    secret = true;
  }
};

ChaosProxy::Which ChaosProxy::everyone() {
  return [](const Seen&) { return true; };
}

ChaosProxy::Which ChaosProxy::named(std::string end) {
  return [end = std::move(end)](const Seen& seen) { return seen.name.ends_with(end); };
}

ChaosProxy::Which ChaosProxy::number(std::size_t number) {
  return [number](const Seen& seen) { return seen.number == number; };
}

ChaosProxy::ChaosProxy(const TestServer& server, Door door)
    : server_path_(server.socket_path()), door_(door) {
  listen_again();
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { serve(); });
}

ChaosProxy::~ChaosProxy() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    wake();
  }
  thread_.join();
  for (const auto& peer : peers_)
    for (const int fd : {peer->client, peer->server})
      if (fd >= 0) ::close(fd);
  for (const int fd : closing_) ::close(fd);
  if (listener_ >= 0) ::close(listener_);
  ::close(wake_);
}

std::string ChaosProxy::url() const {
  if (door_ == Door::unix_socket) return "unix://" + socket_path();
  return "redis://127.0.0.1:" + std::to_string(port_);
}

void ChaosProxy::listen_again() {
  if (door_ == Door::unix_socket) {
    ::unlink(socket_path().c_str());
    const auto address = unix_address(socket_path());
    listener_ = listen_on(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                          &address, sizeof address);
    return;
  }
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port_);
  listener_ = listen_on(fd, &address, sizeof address);
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
}

void ChaosProxy::stop_listening() {
  if (listener_ < 0) return;
  ::shutdown(listener_, SHUT_RDWR);
  closing_.push_back(std::exchange(listener_, -1));
}

void ChaosProxy::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

// ---- what a test asks for

template <class Act>
std::size_t ChaosProxy::each(const Which& which, Act act) {
  std::size_t count = 0;
  for (const auto& peer : peers_) {
    if (peer->over || !peer->seen.open || !which(peer->seen)) continue;
    act(*peer);
    ++count;
  }
  wake();
  return count;
}

void ChaosProxy::set(const Fault& fault, const Which& which) {
  const std::lock_guard lock(mutex_);
  rules_.push_back({which, fault});
  each(which, [&fault](Peer& peer) {
    if (fault.blackhole) peer.blackhole();
  });
}

void ChaosProxy::shift_time(std::chrono::seconds by) {
  const std::lock_guard lock(mutex_);
  time_shift_ = by;
}

void ChaosProxy::refuse(bool refusing) {
  const std::lock_guard lock(mutex_);
  if (refusing) stop_listening();
  if (!refusing && listener_ < 0) listen_again();
  wake();
}

void ChaosProxy::pass() {
  refuse(false);
  const std::lock_guard lock(mutex_);
  rules_.clear();
  for (auto& snare : snares_) snare.times = 0;
  for (const auto& peer : peers_) peer->awaited.clear();
  wake();
}

std::size_t ChaosProxy::cut(const Which& which) {
  const std::lock_guard lock(mutex_);
  const auto count = each(which, [](Peer& peer) { peer.cut(); });
  counted_.cut += count;
  return count;
}

std::size_t ChaosProxy::half_close(Way way, const Which& which) {
  const std::lock_guard lock(mutex_);
  const auto count = each(which, [way](Peer& peer) {
    peer.secret = true;
    auto& pipe = way == Way::to_client ? peer.to_client : peer.to_server;
    const int fd = way == Way::to_client ? peer.client : peer.server;
    pipe.swallow();
    if (fd >= 0) ::shutdown(fd, SHUT_WR);
  });
  counted_.half_closed += count;
  return count;
}

std::size_t ChaosProxy::inject(std::string_view bytes, const Which& which) {
  const std::lock_guard lock(mutex_);
  const auto count = each(which, [bytes](Peer& peer) {
    auto& pipe = peer.to_client;
    if (pipe.swallowed) return;
    if (pipe.sent > 0) pipe.chunks.front().bytes.erase(0, std::exchange(pipe.sent, 0));
    pipe.chunks.push_front({ProxyClock::now(), std::string(bytes)});
  });
  counted_.injected += count * bytes.size();
  return count;
}

void ChaosProxy::lose(Loss loss, const std::string& what, const When& when) {
  const std::lock_guard lock(mutex_);
  snares_.push_back({what, marks_of(what), loss, when.after, when.times, when.shut});
}

std::size_t ChaosProxy::lost(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& snare : snares_) count += snare.what == what ? snare.lost : 0;
  return count;
}

ChaosProxy::Counted ChaosProxy::counted() const {
  const std::lock_guard lock(mutex_);
  return counted_;
}

std::vector<ChaosProxy::Seen> ChaosProxy::seen() const {
  const std::lock_guard lock(mutex_);
  auto all = gone_;
  for (const auto& peer : peers_) all.push_back(peer->seen);
  std::sort(all.begin(), all.end(),
            [](const Seen& one, const Seen& other) { return one.number < other.number; });
  return all;
}

std::size_t ChaosProxy::open_count(const Which& which) const {
  const auto all = seen();
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&which](const Seen& one) { return one.open && which(one); }));
}

// ---- the thread

void ChaosProxy::serve() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    std::vector<pollfd> waited{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    auto until = ProxyClock::time_point::max();
    for (const auto& peer : peers_) {
      const auto fault = fault_of(*peer);
      const auto now = ProxyClock::now();
      short client = peer->client_said_all ? 0 : POLLIN;
      short server = peer->server_said_all ? 0 : POLLIN;
      const auto due = [&](const Pipe& pipe, short& events) {
        const auto at = pipe.next(fault.drip > 0);
        if (!at) return;
        if (*at <= now)
          events = static_cast<short>(events | POLLOUT);
        else
          until = std::min(until, *at);
      };
      due(peer->to_server, server);
      due(peer->to_client, client);
      // Nothing asked is nothing heard: poll() would report an end again and again.
      waited.push_back({client == 0 ? -1 : peer->client, client, 0});
      waited.push_back({server == 0 ? -1 : peer->server, server, 0});
    }
    int wait_ms = -1;
    if (until != ProxyClock::time_point::max())
      wait_ms = static_cast<int>(
          std::chrono::ceil<milliseconds>(std::max(until - ProxyClock::now(), {})).count());
    const auto peers = peers_.size();
    lock.unlock();
    ::poll(waited.data(), waited.size(), wait_ms);
    lock.lock();

    std::uint64_t woken = 0;
    (void)!::read(wake_, &woken, sizeof woken);
    for (std::size_t i = 0; i < peers; ++i) {
      auto& peer = *peers_[i];
      if (peer.over) continue;
      if (waited[2 + 2 * i].revents & (POLLIN | POLLHUP | POLLERR)) read(peer, Way::to_server);
      if (waited[3 + 2 * i].revents & (POLLIN | POLLHUP | POLLERR)) read(peer, Way::to_client);
      move_on(peer);
    }
    forget_gone();
    if (waited[1].revents & POLLIN) accept_one();
    for (const int fd : std::exchange(closing_, {})) ::close(fd);
  }
}

ChaosProxy::Fault ChaosProxy::fault_of(const Peer& peer) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if (rule->which(peer.seen)) return rule->fault;
  return {};
}

void ChaosProxy::accept_one() {
  if (listener_ < 0) return;
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  const int yes = 1;
  if (door_ == Door::tcp) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto peer = std::make_unique<Peer>();
  peer->seen.number = ++counted_.accepted;
  peer->client = fd;
  if (fault_of(*peer).blackhole) {
    peer->blackhole();
    peer->server_said_all = true;
  } else {
    peer->server = connect_to_server(server_path_);
    if (peer->server < 0) peer->cut();  // nobody is there
  }
  peers_.push_back(std::move(peer));
  forget_gone();
}

// Takes what has come from one side, for the way that leads from it.
void ChaosProxy::read(Peer& peer, Way way) {
  const bool from_client = way == Way::to_server;
  const int fd = from_client ? peer.client : peer.server;
  if (fd < 0 || peer.over) return;
  auto& pipe = from_client ? peer.to_server : peer.to_client;
  std::array<char, 64 * 1024> buffer;
  const auto got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    (from_client ? peer.client_said_all : peer.server_said_all) = true;
    pipe.no_more = true;
    return;
  }
  if (pipe.swallowed) return swallow(peer, static_cast<std::size_t>(got));
  auto& frames = from_client ? peer.commands : peer.answers;
  frames.feed({buffer.data(), static_cast<std::size_t>(got)});
  while (!peer.over) {
    auto message = frames.next();
    if (!message) break;
    if (pipe.swallowed)
      swallow(peer, message->size());
    else if (from_client)
      take_command(peer, *message);
    else
      take_answer(peer, std::move(*message));
  }
}

void ChaosProxy::swallow(Peer& peer, std::size_t bytes) {
  // What is not passed on because of half_close() or a silence is not counted as a blackhole's.
  if (peer.to_server.swallowed && peer.to_client.swallowed) counted_.swallowed += bytes;
}

void ChaosProxy::take_command(Peer& peer, const std::string& bytes) {
  const auto number = peer.seen.commands++;
  if (const auto name = name_in(bytes); !name.empty()) peer.seen.name = name;
  const auto fault = fault_of(peer);
  if (fault.blackhole) {  // now that it is known who it is
    peer.blackhole();
    return swallow(peer, bytes.size());
  }
  for (std::size_t i = 0; i < snares_.size(); ++i) {
    auto& snare = snares_[i];
    if (snare.times == 0 || !snare.fits(bytes)) continue;
    if (snare.after > 0) {
      --snare.after;
      continue;
    }
    --snare.times;
    if (snare.loss != Loss::command) {
      peer.awaited.push_back({number, i});
      break;
    }
    ++snare.lost;
    ++counted_.cut;
    if (snare.shut) stop_listening();
    return peer.cut();
  }
  if (bytes == kTime) peer.times.push_back(number);
  peer.to_server.push(bytes, fault.delay);
}

void ChaosProxy::take_answer(Peer& peer, std::string bytes) {
  if (!bytes.starts_with('>')) {
    const auto number = peer.seen.answers++;
    if (!peer.times.empty() && peer.times.front() == number) {
      peer.times.pop_front();
      bytes = shifted(bytes, time_shift_);
    }
    if (!peer.awaited.empty() && peer.awaited.front().command == number) {
      auto& snare = snares_[peer.awaited.front().snare];
      if (bytes.starts_with("-NOSCRIPT")) {
        peer.awaited.pop_front();
        ++snare.times;
      } else {
        // The answers of those behind it are lost with it.
        for (const auto& awaited : peer.awaited) ++snares_[awaited.snare].lost;
        peer.awaited.clear();
        if (snare.loss == Loss::silence) {
          peer.to_client.swallow();
          peer.secret = true;
          return;
        }
        if (snare.shut) stop_listening();
        move_on(peer);  // what came before it arrives
        ++counted_.cut;
        return peer.cut();
      }
    }
  }
  peer.to_client.push(std::move(bytes), fault_of(peer).delay);
}

// Sends what is due, and passes on that a side has said all, unless that is kept secret.
void ChaosProxy::move_on(Peer& peer) {
  if (peer.over) return;
  const auto fault = fault_of(peer);
  const auto flush = [&](Pipe& pipe, int& fd, std::size_t& counted) {
    if (fd < 0) return true;
    if (!pipe.flush(fd, fault.drip, fault.tick, counted)) return false;
    if (pipe.no_more && !pipe.told && pipe.chunks.empty() && !peer.secret) {
      ::shutdown(fd, SHUT_WR);
      pipe.told = true;
    }
    return true;
  };
  const bool alive = flush(peer.to_server, peer.server, peer.seen.bytes_to_server) &&
                     flush(peer.to_client, peer.client, peer.seen.bytes_to_client);
  const bool ended = peer.secret ? peer.client_said_all && peer.server_said_all
                                 : peer.to_server.told && peer.to_client.told;
  if (peer.client_said_all || peer.server_said_all) peer.seen.open = false;
  if ((!alive && !peer.secret) || ended) peer.cut();
}

void ChaosProxy::forget_gone() {
  std::erase_if(peers_, [this](const auto& peer) {
    if (!peer->over) return false;
    for (const int fd : {peer->client, peer->server})
      if (fd >= 0) ::close(fd);
    // What was not reached before its connection went may be lost on the next one.
    for (const auto& awaited : peer->awaited) ++snares_[awaited.snare].times;
    gone_.push_back(peer->seen);
    return true;
  });
}

}  // namespace echomq::test
