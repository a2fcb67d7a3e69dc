// SPDX-License-Identifier: MIT
// A server that answers what a test tells it to: too old, loading, silent. It listens on a unix
// socket in a new folder and serves each connection from one thread of its own.
//
//   FakeServer server([](const FakeServer::Words& words) {
//     return words[0] == "HELLO" ? "-LOADING not yet\r\n" : "+OK\r\n";
//   });
//   connect(server.url());
//
// The function is called on the server's thread with each command that comes, and answers the bytes
// to send back; no bytes: no answer.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/folder.h"

namespace echomq::test {

class FakeServer {
 public:
  using Words = std::vector<std::string>;
  using Answer = std::function<std::string(const Words&)>;

  explicit FakeServer(Answer answer);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] std::string url() const { return "unix://" + folder_.file("fake.sock"); }

 private:
  void serve();

  Folder folder_;
  Answer answer_;
  int listener_ = -1;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

// What a server of `version` says to HELLO and to INFO; `more` is further lines of INFO, each with
// its end.
std::string hello_of(const std::string& version);
std::string info_of(const std::string& version, const std::string& more = "");

}  // namespace echomq::test
