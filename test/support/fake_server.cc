// SPDX-License-Identifier: MIT
#include "support/fake_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <list>
#include <stdexcept>
#include <utility>

#include "wire/command.h"
#include "wire/resp.h"

namespace echomq::test {
namespace {

constexpr int kLookMs = 20;  // how often the thread sees that it shall end

struct Peer {
  int fd;
  wire::RespParser parser{};
};

// Answers false when the connection is over.
bool serve_peer(Peer& peer, const FakeServer::Answer& answer) {
  std::array<char, 4096> bytes{};
  const auto size = ::recv(peer.fd, bytes.data(), bytes.size(), 0);
  if (size <= 0) return false;
  peer.parser.feed({bytes.data(), static_cast<std::size_t>(size)});
  while (true) {
    auto command = peer.parser.next();
    if (!command) return false;
    if (!*command) return true;
    FakeServer::Words words;
    for (auto& word : (**command).items) words.push_back(std::move(word.text));
    const auto reply = answer(words);
    if (!reply.empty()) (void)!::send(peer.fd, reply.data(), reply.size(), MSG_NOSIGNAL);
  }
}

}  // namespace

FakeServer::FakeServer(Answer answer) : answer_(std::move(answer)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = folder_.file("fake.sock");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 16) != 0)
    throw std::runtime_error("cannot listen on " + path);
  thread_ = std::thread([this] { serve(); });
}

FakeServer::~FakeServer() {
  ending_ = true;
  thread_.join();
  ::close(listener_);
}

void FakeServer::serve() {
  std::list<Peer> peers;
  while (!ending_) {
    std::vector<pollfd> waited{{listener_, POLLIN, 0}};
    for (const auto& peer : peers) waited.push_back({peer.fd, POLLIN, 0});
    ::poll(waited.data(), waited.size(), kLookMs);
    std::size_t at = 1;
    for (auto peer = peers.begin(); peer != peers.end(); ++at) {
      if (waited[at].revents != 0 && !serve_peer(*peer, answer_)) {
        ::close(peer->fd);
        peer = peers.erase(peer);
      } else {
        ++peer;
      }
    }
    if (waited[0].revents != 0)
      peers.push_back({::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)});
  }
  for (const auto& peer : peers) ::close(peer.fd);
}

std::string hello_of(const std::string& version) {
  std::string bytes = "%3\r\n";
  wire::append_bulk(bytes, "server");
  wire::append_bulk(bytes, "redis");
  wire::append_bulk(bytes, "version");
  wire::append_bulk(bytes, version);
  wire::append_bulk(bytes, "id");
  return bytes + ":7\r\n";
}

std::string info_of(const std::string& version, const std::string& more) {
  std::string bytes;
  wire::append_bulk(bytes, "# Server\r\nredis_version:" + version + "\r\nrun_id:fake\r\n" +
                               "maxmemory_policy:noeviction\r\n" + more);
  return bytes;
}

}  // namespace echomq::test
