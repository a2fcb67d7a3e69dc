// SPDX-License-Identifier: MIT
#include "echomq/client.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/bad_option.h"
#include "client/client_core.h"
#include "echomq/keyspace.h"
#include "echomq/options.h"
#include "echomq_scripts.h"
#include "protocol/refusal.h"
#include "wire/command.h"
#include "wire/url.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLeastBuffer = std::size_t{1} << 20;

Result<void> check(const ClientOptions& options) {
  if (options.connect_timeout < milliseconds(1))
    return bad_option("connect_timeout", std::to_string(options.connect_timeout.count()),
                      "1 millisecond or more");
  if (options.command_timeout < milliseconds(1))
    return bad_option("command_timeout", std::to_string(options.command_timeout.count()),
                      "1 millisecond or more");
  if (options.data_limit > kMaxDataBytes)
    return bad_option("data_limit", std::to_string(options.data_limit),
                      "at most 67108864 (64 MiB)");
  if (options.buffer_limit < kLeastBuffer)
    return bad_option("buffer_limit", std::to_string(options.buffer_limit),
                      "1048576 (1 MiB) or more");
  if (options.node && *options.node > 1'023)
    return bad_option("node", std::to_string(*options.node), "0 to 1023");
  if (options.node_lease < milliseconds(3'000))
    return bad_option("node_lease", std::to_string(options.node_lease.count()),
                      "3,000 milliseconds or more");
  const bool plain = std::all_of(options.name.begin(), options.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == ':' || c == '-';
  });
  if (!plain) return bad_option("name", "\"" + options.name + "\"", "letters, digits and . _ : -");
  return {};
}

}  // namespace

std::string Client::url() const { return wire::to_string(core_->endpoint()); }
std::string Client::server_version() const { return core_->server_version(); }
ConnectionState Client::state() const { return core_->state(); }
unsigned Client::node() const { return core_->node(); }
std::int64_t Client::server_time_ms() const { return core_->now_ms(); }
void Client::close() { core_->close(); }

Result<std::string> Client::mint_id() {
  return core_->wait_for<std::string>([core = core_](Function<void(Result<std::string>)> done) {
    core->node_holder().with([core, done = std::move(done)](Result<void> held) mutable {
      if (!held) return done(held.error());
      if (const auto id = core->node_lease().mint(core->now_ms())) return done(std::to_string(*id));
      core->node_holder().with_more([core, done = std::move(done)](Result<void> renewed) mutable {
        if (!renewed) return done(renewed.error());
        const auto id = core->node_lease().mint(core->now_ms());
        if (id) return done(std::to_string(*id));
        done(NodeHolder::allows_no_more());
      });
    });
  });
}

Result<std::vector<std::string>> Client::queues() {
  using Names = std::vector<std::string>;
  return core_->wait_for<Names>([core = core_](Function<void(Result<Names>)> done) {
    std::string bytes;
    const auto queues = reserve_key(Reserve::queues);
    wire::append_command(bytes, {"ZRANGE", queues, "0", "-1"});
    core->command(std::move(bytes),
                  [queues, done = std::move(done)](Result<wire::Reply> reply) mutable {
                    if (!reply) return done(reply.error());
                    if (reply->is_error())
                      return done(protocol::refusal(reply->text, "{emq}", queues));
                    Names names;
                    for (auto& item : reply->items) names.push_back(std::move(item.text));
                    std::sort(names.begin(), names.end());
                    done(std::move(names));
                  });
  });
}

Result<Client> connect(std::string_view url, ClientOptions options) {
  auto endpoint = wire::parse_url(url);
  if (!endpoint) return endpoint.error();
  if (auto ok = check(options); !ok) return ok.error();
  std::optional<Embedded> embedded;
  if (endpoint->embedded) {
    const auto dir =
        endpoint->embedded_dir.empty() ? Embedded::default_dir() : endpoint->embedded_dir;
    auto running = Embedded::running_url(dir);
    if (!running) {
      EmbeddedOptions server;
      server.dir = dir;
      auto started = Embedded::start(server);
      if (!started) return started.error();
      running = started->url();
      embedded.emplace(*std::move(started));
    }
    endpoint = wire::parse_url(*running);
    if (!endpoint) return endpoint.error();
  }
  auto core = ClientCore::connect(*std::move(endpoint), std::move(options));
  if (!core) return core.error();
  if (embedded) (*core)->keep_embedded(*std::move(embedded));
  return Client(*std::move(core));
}

std::string url_from_env() {
  const char* url = std::getenv("EMQ_URL");
  return url == nullptr || *url == '\0' ? "embedded:" : url;
}

}  // namespace echomq::inline v2
