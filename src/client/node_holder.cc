// SPDX-License-Identifier: MIT
#include "client/node_holder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <utility>

#include "base/number.h"
#include "client/client_core.h"
#include "echomq/keyspace.h"
#include "echomq_scripts.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

constexpr unsigned kNodes = 1'024;
constexpr std::size_t kOffered = 16;  // candidates of the first call; one is nearly always free
constexpr std::size_t kOfferedMost = 64;
constexpr std::chrono::milliseconds kFarewell{500};
constexpr std::string_view kReturned = " -";  // ends the entry of an id that nobody holds

std::string make_owner() {
  std::array<char, 128> host{};
  gethostname(host.data(), host.size() - 1);
  std::random_device random;
  return std::string(host.data()) + ":" + std::to_string(getpid()) + ":" + std::to_string(random());
}

// In random order, so that processes that start together do not ask for the same one, and an id
// that was just given back is seldom the next one used.
std::vector<unsigned> shuffled_nodes() {
  std::vector<unsigned> nodes(kNodes);
  for (unsigned i = 0; i < kNodes; ++i) nodes[i] = i;
  std::shuffle(nodes.begin(), nodes.end(), std::mt19937(std::random_device{}()));
  return nodes;
}

Error exhausted(const std::string& holders) {
  return {ErrorCode::nodes_exhausted,
          "all 1024 node ids are held by live processes; a deployment has room for that many",
          {{"holders", holders}}};
}

}  // namespace

NodeHolder::NodeHolder(ClientCore& client) : client_(client), owner_(make_owner()) {}

void NodeHolder::with(Function<void(Result<void>)> done) {
  if (lease_.held_at(client_.now_ms())) return done({});
  with_more(std::move(done));
}

void NodeHolder::with_more(Function<void(Result<void>)> done) {
  waiters_.push_back(std::move(done));
  if (waiters_.size() == 1) acquire();
}

Error NodeHolder::allows_no_more() {
  return {ErrorCode::nodes_exhausted, "the node id allows no further id, not even renewed", {}};
}

void NodeHolder::renew() {
  if (!lease_.held()) return;
  offer({lease_.node()}, [this](Result<bool> kept) {
    if (!kept || *kept) return;
    client_.log(LogLevel::error, "another process took over node id " +
                                     std::to_string(lease_.node()) + " after a silence");
    lease_.lose();
  });
}

void NodeHolder::acquire() {
  const bool renewal = lease_.held();
  const auto& fixed = client_.options().node;
  auto candidates = shuffled_nodes();
  candidates.resize(kOffered);
  if (renewal)
    candidates = {lease_.node()};
  else if (fixed)
    candidates = {*fixed};
  offer(candidates, [this, renewal, fixed](Result<bool> granted) {
    if (!granted) return settled(granted.error());
    if (*granted) return settled({});
    lease_.lose();
    if (renewal) return acquire();
    if (!fixed) return offer_free();
    settled(Error{ErrorCode::nodes_exhausted,
                  "node id " + std::to_string(*fixed) + " is held by another live process",
                  {{"node", std::to_string(*fixed)}}});
  });
}

// The first guesses were all taken: look at who holds what, and offer only what looks free.
void NodeHolder::offer_free() {
  auto bytes = wire::command({"HGETALL", reserve_key(Reserve::nodes)});
  client_.command(
      std::move(bytes), [this, weak = client_.weak_from_this()](Result<wire::Reply> reply) {
        const auto alive = weak.lock();
        if (!alive) return;
        if (!reply) return settled(reply.error());
        const auto now = client_.now_ms();
        std::vector<bool> held(kNodes, false);
        std::string holders;
        for (std::size_t i = 0; i + 1 < reply->items.size(); i += 2) {
          const auto& entry = reply->items[i + 1].text;
          const auto node = to_number<unsigned>(reply->items[i].text);
          if (entry.find(' ') == std::string::npos || entry.ends_with(kReturned) ||
              to_number<std::int64_t>(entry) < now)
            continue;
          held[node % kNodes] = true;
          if (holders.size() < 1'000)
            holders += (holders.empty() ? "" : " ") + entry.substr(entry.rfind(' ') + 1);
        }
        std::vector<unsigned> candidates;
        for (const auto node : shuffled_nodes())
          if (!held[node] && candidates.size() < kOfferedMost) candidates.push_back(node);
        if (candidates.empty()) return settled(exhausted(holders));
        offer(candidates, [this, holders](Result<bool> granted) {
          if (!granted) return settled(granted.error());
          settled(*granted ? Result<void>() : Result<void>(exhausted(holders)));
        });
      });
}

void NodeHolder::settled(const Result<void>& result) {
  auto waiters = std::move(waiters_);
  waiters_.clear();
  for (auto& waiter : waiters) waiter(result);
}

void NodeHolder::offer(const std::vector<unsigned>& candidates, Function<void(Result<bool>)> done) {
  const auto version = reserve_key(Reserve::version);
  const auto nodes = reserve_key(Reserve::nodes);
  const auto now = client_.now_ms();
  // After the ids that were minted already, too: they may be ahead of a clock that was set back.
  const auto until = std::max(now, lease_.last_minted_ms()) + client_.options().node_lease.count();
  auto call = ScriptCall::of<scripts::NodeLease>({.version = version, .nodes = nodes},
                                                 {.revision = scripts::kRevision,
                                                  .now = now,
                                                  .until = until,
                                                  .owner = owner_,
                                                  .keep = true,
                                                  .count = candidates.size()});
  for (const auto node : candidates) call.put_args(scripts::NodeLease::ItemArgs{.node = node});
  client_.call(std::move(call), "{emq}", version,
               [this, weak = client_.weak_from_this(), until,
                done = std::move(done)](Result<wire::Reply> reply) mutable {
                 const auto alive = weak.lock();
                 if (!alive) return;
                 if (!reply) return done(reply.error());
                 if (reply->items.size() < 3) return done(false);
                 lease_.hold(to_number<unsigned>(reply->items[0].text),
                             to_number<std::uint64_t>(reply->items[1].text),
                             to_number<std::int64_t>(reply->items[2].text), until);
                 id_ = lease_.node();
                 done(true);
               });
}

void NodeHolder::give_back(Function<void()> then) {
  if (!lease_.held() || !client_.connected()) return then();
  const auto version = reserve_key(Reserve::version);
  const auto nodes = reserve_key(Reserve::nodes);
  auto call = ScriptCall::of<scripts::NodeLease>({.version = version, .nodes = nodes},
                                                 {.revision = scripts::kRevision,
                                                  .now = client_.now_ms(),
                                                  .until = lease_.last_minted_ms(),
                                                  .owner = owner_,
                                                  .keep = false,
                                                  .count = 1});
  call.put_args(scripts::NodeLease::ItemArgs{.node = lease_.node()});
  lease_.lose();
  client_.call(std::move(call), "{emq}", version, kFarewell,
               [then = std::move(then)](Result<wire::Reply>) mutable { then(); });
}

}  // namespace echomq::inline v2
