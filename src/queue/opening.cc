// SPDX-License-Identifier: MIT
#include "queue/opening.h"

#include <utility>
#include <vector>

#include "echomq_scripts.h"
#include "protocol/refusal.h"
#include "protocol/v1_names.h"
#include "protocol/version.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

constexpr std::string_view kEventCap = "10000";

void make_or_prove(const std::shared_ptr<ClientCore>& client, const std::string& queue,
                   const QueueKeys& k, Function<void(Result<void>)> done) {
  auto call = ScriptCall::of<scripts::QueueOpen>(
      k, {.revision = scripts::kRevision, .now = client->now_ms(), .event_cap = kEventCap});
  client->call(std::move(call), queue, k.meta,
               [client, queue, done = std::move(done)](Result<wire::Reply> reply) mutable {
                 if (!reply) return done(reply.error());
                 // The list of queues is for people; where it cannot be written the queue works all
                 // the same.
                 auto bytes = wire::command({"ZADD", reserve_key(Reserve::queues),
                                             std::to_string(client->now_ms()), queue});
                 client->command(std::move(bytes), [](Result<wire::Reply>) {});
                 done({});
               });
}

// Looks at one v1 key after the other of each prefix; the first that stands decides.
struct LookForV1 : std::enable_shared_from_this<LookForV1> {
  std::shared_ptr<ClientCore> client;
  std::string queue;
  Function<void(Result<void>)> done;
  std::size_t waiting = 0;
  std::optional<Error> found;

  void begin() {
    const auto looks = v1_looks(client->options().v1_prefixes, queue);
    waiting = looks.size();
    if (waiting == 0) return done({});
    for (const auto& look : looks) ask(look);
  }

  void ask(const V1Look& look) {
    client->command(wire::command(look.words()),
                    [self = shared_from_this(), look](Result<wire::Reply> reply) {
                      self->answered(look, std::move(reply));
                    });
  }

  // A key that an ACL denies to look at is "unknown", not a failure. Only then, and where a string
  // stands in the place of `meta`, may an error reply pass: the fence must not fall with the
  // server.
  void answered(const V1Look& look, Result<wire::Reply> reply) {
    if (!reply && !found) found = reply.error();
    if (reply && reply->is_error() && !found && !reply->text.starts_with("NOPERM") &&
        !reply->text.starts_with("WRONGTYPE")) {
      found = protocol::refusal(reply->text, queue, look.key);
      if (is_not_ready(reply->text)) found->code = ErrorCode::loading;
    }
    if (reply && !reply->is_error() && !found) {
      const auto what = look.for_version ? reply->text : v1_found(reply->text);
      if (!what.empty()) found = protocol::fence_refusal(queue, what, kWireVersion, look.key);
    }
    if (--waiting == 0) {
      if (!found) return done({});
      client->met_fence(queue, *found);
      done(*found);
    }
  }
};

}  // namespace

void open_queue(const std::shared_ptr<ClientCore>& client, const std::string& queue,
                const QueueKeys& keys, Function<void(Result<void>)> done) {
  auto look = std::make_shared<LookForV1>();
  look->client = client;
  look->queue = queue;
  look->done = [client, queue, &keys, done = std::move(done)](Result<void> clear) mutable {
    if (!clear) return done(std::move(clear));
    make_or_prove(client, queue, keys, std::move(done));
  };
  look->begin();
}

}  // namespace echomq::inline v2
