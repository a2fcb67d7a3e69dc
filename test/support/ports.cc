// SPDX-License-Identifier: MIT
#include "support/ports.h"

#include <random>
#include <stdexcept>
#include <string>

namespace echomq::test {

namespace {

unsigned short open_a_port(TestServer& server, const std::string& setting) {
  auto redis = server.connect();
  redis({"CONFIG", "SET", "bind", "127.0.0.1"});
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<unsigned> draw(20'000, 30'000);
  for (int tries = 0; tries < 100; ++tries) {
    const auto port = draw(random);
    // The server itself tells whether the port is free.
    if (!redis({"CONFIG", "SET", setting, std::to_string(port)}).is_error())
      return static_cast<unsigned short>(port);
  }
  throw std::runtime_error("no free TCP port for a test server");
}

}  // namespace

unsigned short open_port(TestServer& server) {
  return server.cluster() ? server.port() : open_a_port(server, "port");
}

unsigned short open_tls_port(TestServer& server) { return open_a_port(server, "tls-port"); }

}  // namespace echomq::test
