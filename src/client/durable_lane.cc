// SPDX-License-Identifier: MIT
#include "client/durable_lane.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/weak_call.h"
#include "client/client_core.h"
#include "echomq/keyspace.h"
#include "protocol/refusal.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

bool same(const Durability& a, const Durability& b) {
  return a.kind == b.kind && a.replicas == b.replicas;
}

Error not_durable(std::string why) { return {ErrorCode::not_durable, std::move(why), {}}; }

// What the server says of a command that it refuses.
Error refused(const wire::Reply& reply, std::string_view what) {
  auto error = protocol::refusal(reply.text, "", "");
  error.detail = std::string(what) + ": " + error.detail;
  return error;
}

bool lacks(const wire::Reply& reply) {
  return reply.is_error() && reply.text.find("unknown command") != std::string::npos;
}

// The value of one setting, as CONFIG GET answers it: a map, or pairs in RESP2.
std::string setting(const wire::Reply& reply) {
  return reply.items.size() < 2 ? "" : reply.items[1].text;
}

Error no_run() {
  return {
      ErrorCode::denied,
      "INFO is denied, so nobody can tell whether the server that confirms an add is the one that "
      "took it",
      {}};
}

Error no_file() {
  return {
      ErrorCode::config,
      "the server writes no append-only file, so nothing that is added can be on its disk; start "
      "it with --appendonly yes",
      {{"option", "appendonly"}, {"value", "no"}, {"expected", "yes"}}};
}

Error no_sync(const std::string& value) {
  return {ErrorCode::unsupported,
          "the server cannot tell when its file is on the disk (WAITAOF came with 7.2), and "
          "appendfsync is \"" +
              value + "\"; expected a newer server, or always",
          {{"option", "appendfsync"}, {"value", value}, {"expected", "always"}}};
}

}  // namespace

void DurableLane::prepare(const Durability& wanted, Done done) {
  if (closed_) return done(Error{ErrorCode::closed, "the client was closed", {}});
  if (wanted.kind == Durability::Kind::memory) return done({});
  if (client_->run_id() == wire::kUnknown) return done(no_run());
  const bool replicated = wanted.kind == Durability::Kind::replicated;
  auto& ability = replicated ? replicates_ : syncs_;
  if (ability.since == client_->contact()) return done({});
  ability.asking.push_back(std::move(done));
  if (ability.asking.size() > 1) return;
  if (replicated)
    ask_replicas();
  else
    ask_file();
}

void DurableLane::tell(Ability& ability, const Result<void>& able) {
  if (able) ability.since = client_->contact();
  for (auto& done : std::exchange(ability.asking, {})) done(able);
}

// Waits for nobody: it is the right to ask that is tried.
void DurableLane::ask_replicas() {
  client_->command(wire::command({"WAIT", "0", "0"}),
                   weak_call(*this, &DurableLane::replicas_answered));
}

void DurableLane::replicas_answered(Result<wire::Reply> reply) {
  if (!reply) return tell(replicates_, reply.error());
  if (reply->is_error()) return tell(replicates_, refused(*reply, "cannot wait for replicas"));
  tell(replicates_, {});
}

void DurableLane::ask_file() {
  client_->command(wire::command({"INFO", "persistence"}),
                   weak_call(*this, &DurableLane::file_answered));
}

void DurableLane::file_answered(Result<wire::Reply> reply) {
  if (!reply) return tell(syncs_, reply.error());
  if (reply->is_error()) return tell(syncs_, refused(*reply, "cannot see whether there is a file"));
  if (reply->text.find("aof_enabled:1") == std::string::npos) return tell(syncs_, no_file());
  client_->command(wire::command({"WAITAOF", "0", "0", "0"}),
                   weak_call(*this, &DurableLane::waitaof_answered));
}

void DurableLane::waitaof_answered(Result<wire::Reply> reply) {
  if (!reply) return tell(syncs_, reply.error());
  if (lacks(*reply)) {
    client_->command(wire::command({"CONFIG", "GET", "appendfsync"}),
                     weak_call(*this, &DurableLane::setting_answered));
    return;
  }
  if (reply->is_error()) return tell(syncs_, refused(*reply, "cannot wait for the file"));
  sync_ = Sync::waitaof;
  tell(syncs_, {});
}

// A server that syncs before it answers has confirmed by its answer.
void DurableLane::setting_answered(Result<wire::Reply> reply) {
  if (!reply) return tell(syncs_, reply.error());
  if (reply->is_error()) return tell(syncs_, refused(*reply, "cannot see appendfsync"));
  if (const auto value = setting(*reply); value != "always") return tell(syncs_, no_sync(value));
  sync_ = Sync::each_write;
  tell(syncs_, {});
}

void DurableLane::open() {
  if (lane_) return;
  lane_ = client_->make_lane(":durable");
  lane_->on_ready = [weak = weak_from_this()](const wire::ServerInfo& info) {
    if (const auto self = weak.lock()) self->run_id_ = info.run_id;
  };
  lane_->start();
}

void DurableLane::confirm(const Durability& wanted, const std::string& run_id,
                          const std::string& queue, Done done) {
  if (closed_) return done(not_durable("the client was closed"));
  waiting_.push_back({wanted, run_id, queue, monotonic_ms() + wanted.timeout, std::move(done)});
  pump();
}

// All that want the same as the first, with one wait.
void DurableLane::pump() {
  if (busy_ || waiting_.empty()) return;
  busy_ = true;
  open();
  auto group = std::make_shared<Group>();
  const auto wanted = waiting_.front().wanted;
  std::deque<Waiting> others;
  for (auto& one : waiting_)
    if (same(one.wanted, wanted))
      group->push_back(std::move(one));
    else
      others.push_back(std::move(one));
  waiting_ = std::move(others);
  mark(group);
}

void DurableLane::mark(const std::shared_ptr<Group>& group) {
  lane_->send(wire::command({"ZADD", reserve_key(Reserve::queues),
                             std::to_string(client_->now_ms()), group->front().queue}),
              client_->options().command_timeout,
              [weak = weak_from_this(), group](Result<wire::Reply> reply) {
                if (const auto self = weak.lock()) self->marked(group, reply);
              });
}

void DurableLane::marked(const std::shared_ptr<Group>& group, const Result<wire::Reply>& reply) {
  if (!reply) return lost(group, reply.error().detail);
  if (reply->is_error())
    return end(group, not_durable("the server refuses writes: " + reply->text));
  // Those of another run may have gone with it.
  auto here = std::make_shared<Group>();
  auto elsewhere = std::make_shared<Group>();
  for (auto& one : *group) (one.run_id == run_id_ ? here : elsewhere)->push_back(std::move(one));
  for (auto& one : *elsewhere)
    one.done(not_durable("the server that took it has restarted since, or is another one"));
  if (here->empty()) return end(here, {});
  wait(here);
}

void DurableLane::wait(const std::shared_ptr<Group>& group) {
  const auto& wanted = group->front().wanted;
  auto last = group->front().deadline;
  for (const auto& one : *group) last = std::max(last, one.deadline);
  // 0 would wait for ever.
  const auto left = std::max(last - monotonic_ms(), milliseconds(1));
  const auto text = std::to_string(left.count());
  std::string bytes;
  if (wanted.kind == Durability::Kind::replicated)
    bytes = wire::command({"WAIT", std::to_string(wanted.replicas), text});
  else if (sync_ == Sync::waitaof)
    bytes = wire::command({"WAITAOF", "1", "0", text});
  else
    bytes = wire::command({"CONFIG", "GET", "appendfsync"});  // as it was when it was asked?
  lane_->send(std::move(bytes), left + client_->options().command_timeout,
              [weak = weak_from_this(), group](Result<wire::Reply> reply) {
                if (const auto self = weak.lock()) self->waited(group, reply);
              });
}

void DurableLane::waited(const std::shared_ptr<Group>& group, const Result<wire::Reply>& reply) {
  if (!reply) return lost(group, reply.error().detail);
  if (reply->is_error()) return end(group, not_durable("the server answers: " + reply->text));
  const auto& wanted = group->front().wanted;
  if (wanted.kind == Durability::Kind::replicated) {
    if (reply->integer >= static_cast<std::int64_t>(wanted.replicas)) return end(group, {});
    return end(group, not_durable("of " + std::to_string(wanted.replicas) + " replica(s) " +
                                  std::to_string(reply->integer) + " had it in time"));
  }
  if (sync_ == Sync::each_write) {
    if (setting(*reply) == "always") return end(group, {});
    return end(group, not_durable("appendfsync is \"" + setting(*reply) + "\" by now"));
  }
  if (!reply->items.empty() && reply->items.front().integer >= 1) return end(group, {});
  end(group, not_durable("it was not on the disk in time"));
}

// The wait is made again, as long as there is time; whether it is the same server shows then.
void DurableLane::lost(const std::shared_ptr<Group>& group, const std::string& why) {
  const auto now = monotonic_ms();
  auto rest = std::make_shared<Group>();
  for (auto& one : *group)
    if (one.deadline > now + kNotReadyPause)
      rest->push_back(std::move(one));
    else
      one.done(not_durable("the connection was lost before that was known: " + why));
  if (rest->empty() || closed_) return end(rest, not_durable("the client was closed"));
  client_->loop().after(kNotReadyPause, [weak = weak_from_this(), rest] {
    if (const auto self = weak.lock()) self->mark(rest);
  });
}

void DurableLane::end(const std::shared_ptr<Group>& group, const Result<void>& result) {
  busy_ = false;
  for (auto& one : *group) one.done(result);
  pump();
}

void DurableLane::close() {
  closed_ = true;
  if (lane_) lane_->close();
  for (auto& one : std::exchange(waiting_, {})) one.done(not_durable("the client was closed"));
}

}  // namespace echomq::inline v2
