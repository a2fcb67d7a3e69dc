// SPDX-License-Identifier: MIT
#include <optional>
#include <utility>

#include "echomq/testing.h"
#include "testing/clock_group.h"

namespace echomq::inline v2::testing {

Clock::Clock(const Client& client) : group_(ClockGroup::of(client.core())) {}

Result<void> Clock::follow(const Client& client) { return group_->join(client.core()); }
Result<void> Clock::advance(std::chrono::milliseconds time) { return group_->advance(time); }
std::int64_t Clock::now_ms() const { return group_->now_ms(); }

// In the order in which they begin: the server ends last.
struct Server::State {
  Embedded embedded;
  ClientOptions options;
  Client client;
  Clock clock;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

Result<Server> Server::start(const ServerOptions& options) {
  EmbeddedOptions how;
  how.temporary = true;
  how.server = options.server;
  how.cluster_enabled = options.cluster_enabled;
  how.start_timeout = options.start_timeout;
  how.extra_args = {"--appendonly", "no", "--save", ""};
  auto embedded = Embedded::start(how);
  if (!embedded) return embedded.error();
  auto client = echomq::connect(embedded->url(), options.client);
  if (!client) return client.error();
  const Clock clock(*client);
  return Server(std::make_unique<State>(
      State{*std::move(embedded), options.client, *std::move(client), clock}));
}

std::string Server::url() const { return state_->embedded.url(); }
const Client& Server::client() const { return state_->client; }
Clock& Server::clock() { return state_->clock; }

Result<Client> Server::connect() const { return connect(state_->options); }

Result<Client> Server::connect(ClientOptions options) const {
  auto client = echomq::connect(url(), std::move(options));
  if (!client) return client;
  if (auto follows = state_->clock.follow(*client); !follows) return follows.error();
  return client;
}

Result<void> Server::clear() {
  const auto queues = state_->client.queues();
  if (!queues) return queues.error();
  for (const auto& name : *queues) {
    RawQueue queue(state_->client, name);
    const auto gone = queue.obliterate({.force = true, .all = true});
    if (!gone && gone.error().code != ErrorCode::not_found) return gone.error();
  }
  return {};
}

}  // namespace echomq::inline v2::testing
