// SPDX-License-Identifier: MIT
#include "queue/queue_core.h"

#include <utility>

#include "base/clock.h"
#include "echomq_scripts.h"
#include "job/record.h"
#include "job/shapes.h"
#include "protocol/refusal.h"
#include "queue/opening.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {

using std::chrono::milliseconds;

namespace {

// How many owners of deduplication ids a process remembers. One that it forgot costs a round trip.
constexpr std::size_t kOwnersKnown = 4'096;

}  // namespace

std::shared_ptr<QueueCore> QueueCore::of(const std::shared_ptr<ClientCore>& client,
                                         std::string_view name) {
  // "orders" and "{orders}" are one queue, and must be one core: its lanes are numbered once.
  const auto bare = queue_name(name);
  return std::static_pointer_cast<QueueCore>(client->shared_by_name(
      bare ? *bare : name, [&] { return std::make_shared<QueueCore>(client, name); }));
}

QueueCore::QueueCore(std::shared_ptr<ClientCore> client, std::string_view name)
    : client_(std::move(client)), name_(name), keys_("") {
  auto bare = queue_name(name);
  if (!bare) {
    name_error_ = bare.error();
    return;
  }
  name_ = *std::move(bare);
  keys_ = QueueKeys(name_);
}

Result<void> QueueCore::open() {
  auto opened = client_->wait_for<bool>([this](Function<void(Result<bool>)> done) {
    with_open([done = std::move(done)](Result<void> result) mutable {
      if (result)
        done(true);
      else
        done(result.error());
    });
  });
  if (!opened) return opened.error();
  return {};
}

void QueueCore::with_open(Function<void(Result<void>)> done) {
  if (name_error_) return done(*name_error_);
  if (opened_) return done({});
  open_waiters_.push_back(std::move(done));
  if (open_waiters_.size() > 1) return;
  open_until(monotonic_ms() + client_->options().command_timeout);
}

void QueueCore::open_until(milliseconds deadline) {
  open_queue(client_, name_, keys_, [self = shared_from_this(), deadline](Result<void> result) {
    // Opening what is open changes nothing, so an answer that was lost is asked for again.
    if (!result && result.error().code == ErrorCode::connection_lost && monotonic_ms() < deadline)
      return self->open_until(deadline);
    self->opened_ = result.ok();
    auto waiters = std::move(self->open_waiters_);
    self->open_waiters_.clear();
    for (auto& waiter : waiters) waiter(result);
  });
}

Result<Counts> QueueCore::counts() {
  if (name_error_) return *name_error_;
  return client_->wait_for<Counts>([this](Function<void(Result<Counts>)> done) {
    auto call = ScriptCall::of<scripts::QueueCounts>(keys_, {.revision = scripts::kRevision});
    this->call(std::move(call), [self = shared_from_this(),
                                 done = std::move(done)](Result<wire::Reply> reply) mutable {
      if (!reply) return done(self->look_error(reply.error()));
      const auto at = [&reply](std::size_t i) { return reply->items.at(i).integer; };
      done(Counts{.waiting = at(0),
                  .prioritized = at(1),
                  .active = at(2),
                  .delayed = at(3),
                  .completed = at(4),
                  .failed = at(5),
                  .waiting_children = at(6),
                  .paused = at(8) == 1,
                  .limited = at(9) == 1});
    });
  });
}

Result<JobInfo> QueueCore::job(std::string_view id) {
  if (name_error_) return *name_error_;
  if (auto ok = check_any_job_id(id); !ok) return ok.error();
  return client_->wait_for<JobInfo>(
      [this, id = std::string(id)](Function<void(Result<JobInfo>)> done) {
        read_job(id, client_->options().command_timeout, std::move(done));
      });
}

void QueueCore::read_job(const std::string& id, milliseconds timeout,
                         Function<void(Result<JobInfo>)> done) {
  const auto job = job_key(name_, id);
  auto call = ScriptCall::of<scripts::JobRead>({.meta = keys_.meta,
                                                .active = keys_.active,
                                                .delayed = keys_.delayed,
                                                .prioritized = keys_.prioritized,
                                                .completed = keys_.completed,
                                                .failed = keys_.failed,
                                                .waiting_children = keys_.waiting_children,
                                                .trash = keys_.trash,
                                                .job = job},
                                               {.revision = scripts::kRevision, .id = id});
  client_->call(
      std::move(call), name_, keys_.meta, timeout,
      [self = shared_from_this(), id, done = std::move(done)](Result<wire::Reply> reply) mutable {
        if (!reply) return done(self->look_error(reply.error()));
        auto info = job::read_info(self->name_, id, *reply);
        if (info) return done(*std::move(info));
        done(no_such_job(self->name_, id));
      });
}

Error no_such_queue(std::string_view queue) {
  return {ErrorCode::not_found,
          "there is no queue \"" + std::string(queue) + "\" on this server",
          {{"queue", std::string(queue)}}};
}

Error QueueCore::look_error(const Error& error) const {
  return protocol::is_absent(error) ? no_such_queue(name_) : error;
}

void QueueCore::add(PendingAdd add) {
  const std::lock_guard lock(incoming_mutex_);
  incoming_.push_back(std::move(add));
  if (std::exchange(incoming_posted_, true)) return;
  client_->loop().post([self = shared_from_this()] { self->take_incoming(); });
}

void QueueCore::add_all(std::vector<PendingAdd> adds) {
  const std::lock_guard lock(incoming_mutex_);
  for (auto& add : adds) incoming_.push_back(std::move(add));
  if (std::exchange(incoming_posted_, true)) return;
  client_->loop().post([self = shared_from_this()] { self->take_incoming(); });
}

void QueueCore::take_incoming() {
  std::vector<PendingAdd> taken;
  {
    const std::lock_guard lock(incoming_mutex_);
    taken.swap(incoming_);
    incoming_posted_ = false;
  }
  for (auto& add : taken) take(std::move(add));
  pump();
}

// One that is to be confirmed is sent only where the server can do that.
void QueueCore::take(PendingAdd add) {
  if (add.durability.kind == Durability::Kind::memory) return batcher_.push(std::move(add));
  const auto wanted = add.durability;
  client_->durable_lane().prepare(
      wanted, [self = shared_from_this(), add = std::move(add)](Result<void> able) mutable {
        if (!able) return self->answer(add, able.error());
        self->batcher_.push(std::move(add));
        self->pump();
      });
}

// Sends what the batcher has ready, once the queue is open and the node id is held.
void QueueCore::pump() {
  if (batcher_.empty()) return;
  if (!opened_ || !client_->node_lease().held_at(client_->now_ms())) {
    if (std::exchange(preparing_, true)) return;
    with_open([self = shared_from_this()](Result<void> opened) {
      if (!opened) return self->prepared(opened);
      self->client_->node_holder().with([self](Result<void> held) { self->prepared(held); });
    });
    return;
  }
  while (auto flush = batcher_.next())
    send(std::make_shared<AddBatcher::Flush>(std::move(*flush)),
         monotonic_ms() + client_->options().command_timeout, /*reopened=*/false);
}

void QueueCore::prepared(const Result<void>& result) {
  preparing_ = false;
  if (result) return pump();
  auto adds = batcher_.drain();
  refuse(adds, result.error());
}

void QueueCore::send(const std::shared_ptr<AddBatcher::Flush>& flush, milliseconds deadline,
                     bool reopened) {
  const auto now = client_->now_ms();
  auto& node = client_->node_lease();
  if (flush->number == 0) {
    flush->producer = std::to_string(node.node()) + "." + std::to_string(flush->lane);
    flush->grant = node.grant();
    flush->number = client_->next_flush();
  }
  flush->minted.resize(flush->adds.size());
  bool deduplicated = false;
  for (std::size_t i = 0; i < flush->adds.size(); ++i) {
    const auto& job = flush->adds[i].job;
    deduplicated = deduplicated || job.deduplication;
    if (!job.id.empty() || !flush->minted[i].empty()) continue;
    const auto id = node.mint(now);
    if (!id) return mint_more(flush, deadline, reopened);
    flush->minted[i] = std::to_string(*id);
  }
  auto call = deduplicated ? add_deduplicated_call(*flush, now) : add_call(*flush, now);
  client_->call(std::move(call), name_, keys_.meta,
                std::max(deadline - monotonic_ms(), milliseconds(1)),
                [self = shared_from_this(), flush, deadline, reopened](Result<wire::Reply> reply) {
                  self->answered(flush, deadline, reopened, std::move(reply));
                });
}

ScriptCall QueueCore::add_call(const AddBatcher::Flush& flush, std::int64_t now) const {
  job::Shapes shapes;
  for (const auto& add : flush.adds) shapes.put(add.job);
  auto call = ScriptCall::of<scripts::JobAdd>(keys_, {.revision = scripts::kRevision,
                                                      .now = now,
                                                      .lane = flush.producer,
                                                      .grant = flush.grant,
                                                      .flush = flush.number,
                                                      .count = flush.adds.size(),
                                                      .shapes = shapes.text()});
  for (std::size_t i = 0; i < flush.adds.size(); ++i) {
    const auto& job = flush.adds[i].job;
    const auto& id = job.id.empty() ? flush.minted[i] : job.id;
    call.put_keys(scripts::JobAdd::ItemKeys{.job = job_key(name_, id)});
    if (!job.id.empty()) {
      const SubKeys sub(name_, id);
      call.put_keys(sub.as<scripts::JobAdd::MoreKeys>());
    }
    call.put_args(scripts::JobAdd::ItemArgs{.id = id, .data = job.data});
  }
  return call;
}

// The owner that this process knows of is declared. Where it is another one by now the script tells
// so, and the job is said again: so there is no look before each add.
ScriptCall QueueCore::add_deduplicated_call(const AddBatcher::Flush& flush,
                                            std::int64_t now) const {
  using Transition = scripts::JobAddDeduplicated;
  auto call = ScriptCall::of<Transition>(keys_, {.revision = scripts::kRevision,
                                                 .now = now,
                                                 .lane = flush.producer,
                                                 .grant = flush.grant,
                                                 .flush = flush.number,
                                                 .count = flush.adds.size()});
  for (std::size_t i = 0; i < flush.adds.size(); ++i) {
    const auto& job = flush.adds[i].job;
    const auto& id = job.id.empty() ? flush.minted[i] : job.id;
    const auto& rule = job.deduplication;
    const auto known = rule ? owners_.find(rule->id) : owners_.end();
    const auto seen = known == owners_.end() ? std::string() : known->second;
    const std::string how = !rule ? ""
                                  : std::string(rule->extend ? "e" : "") +
                                        (rule->replace ? "r" : "") + (rule->keep_last ? "k" : "");
    const auto key = job_key(name_, id);
    call.put_keys(
        Transition::ItemKeys{.job = key, .owner = seen.empty() ? key : job_key(name_, seen)});
    if (!job.id.empty()) call.put_keys(SubKeys(name_, id).as<Transition::MoreKeys>());
    call.put_args(Transition::ItemArgs{.id = id,
                                       .custom = !job.id.empty(),
                                       .data = job.data,
                                       .name = job.name,
                                       .opts = job.opts,
                                       .delay = job.delay_ms,
                                       .priority = job.priority,
                                       .lifo = job.lifo,
                                       .de = rule ? std::string_view(rule->id) : std::string_view(),
                                       .how = how,
                                       .ttl = rule && rule->ttl ? rule->ttl->count() : 0,
                                       .seen = seen});
  }
  return call;
}

// The grant, or what it allows, ended in the middle of a batch: nothing was sent, so the whole
// flush waits for more.
void QueueCore::mint_more(const std::shared_ptr<AddBatcher::Flush>& flush, milliseconds deadline,
                          bool reopened) {
  flush->number = 0;
  if (std::exchange(flush->renewed, true))
    return answered(flush, deadline, reopened, NodeHolder::allows_no_more());
  client_->node_holder().with_more(
      [self = shared_from_this(), flush, deadline, reopened](Result<void> held) {
        if (held) return self->send(flush, deadline, reopened);
        self->answered(flush, deadline, reopened, held.error());
      });
}

void QueueCore::answered(const std::shared_ptr<AddBatcher::Flush>& flush, milliseconds deadline,
                         bool reopened, Result<wire::Reply> reply) {
  if (!reply) {
    const auto& error = reply.error();
    // Nobody knows whether the flush was applied; its number makes saying it again harmless.
    if (error.code == ErrorCode::connection_lost && monotonic_ms() < deadline)
      return send(flush, deadline, reopened);
    if (error.code == ErrorCode::loading && monotonic_ms() + kNotReadyPause < deadline) {
      client_->loop().after(kNotReadyPause, [self = shared_from_this(), flush, deadline, reopened] {
        self->send(flush, deadline, reopened);
      });
      return;
    }
    if (protocol::is_absent(error) && !reopened) {
      opened_ = false;
      return with_open([self = shared_from_this(), flush, deadline](Result<void> opened) {
        if (opened) return self->send(flush, deadline, /*reopened=*/true);
        self->answered(flush, deadline, /*reopened=*/true, opened.error());
      });
    }
    refuse(flush->adds, error);
  } else {
    const auto moved = answer_all(*flush, *reply);
    if (!moved.empty() && say_again(flush, moved, deadline, reopened)) return;
  }
  batcher_.done(flush->lane);
  pump();
}

// Which of them are to be said again, because their ids are owned by others than this process knew.
std::vector<std::size_t> QueueCore::answer_all(AddBatcher::Flush& flush, const wire::Reply& reply) {
  const std::string none;
  const bool has_owners =
      reply.items.size() == 2 && reply.items[0].kind == wire::Reply::Kind::array;
  const auto& statuses = has_owners ? reply.items[0] : reply;
  std::vector<std::size_t> moved;
  if (owners_.size() > kOwnersKnown) owners_.clear();
  for (std::size_t i = 0; i < flush.adds.size(); ++i) {
    auto& add = flush.adds[i];
    const auto& id = add.job.id.empty() ? flush.minted[i] : add.job.id;
    const auto& status = wire::status_of(statuses, i, none);
    const auto& owner = has_owners ? wire::status_of(reply.items[1], i, none) : none;
    if (add.job.deduplication && (status == "ok" || !owner.empty()))
      owners_[add.job.deduplication->id] = status == "ok" ? id : owner;
    if (status == "moved") {
      moved.push_back(i);
      continue;
    }
    auto result = add_result(status, {name_, id, owner, client_->node()});
    if (result && add.durability.kind != Durability::Kind::memory)
      confirm(add, *std::move(result));
    else
      answer(add, std::move(result));
  }
  return moved;
}

// As a flush of its own: the one before was applied. False when it is too late for that.
bool QueueCore::say_again(const std::shared_ptr<AddBatcher::Flush>& flush,
                          const std::vector<std::size_t>& moved, milliseconds deadline,
                          bool reopened) {
  auto next = std::make_shared<AddBatcher::Flush>();
  next->lane = flush->lane;
  for (const auto i : moved) {
    next->adds.push_back(std::move(flush->adds[i]));
    next->minted.push_back(std::move(flush->minted[i]));
  }
  if (monotonic_ms() < deadline) {
    send(next, deadline, reopened);
    return true;
  }
  for (auto& add : next->adds) {
    const auto& id = add.job.deduplication->id;
    answer(add, Error{ErrorCode::wrong_state,
                      "the owner of deduplication id \"" + id + "\" of queue \"" + name_ +
                          "\" was another one each time that the job was added; try again",
                      {{"queue", name_}, {"value", id}}});
  }
  return false;
}

void QueueCore::refuse(std::vector<PendingAdd>& adds, const Error& why) {
  for (auto& add : adds) answer(add, why);
}

void QueueCore::confirm(PendingAdd& add, AddedJob added) {
  const auto wanted = add.durability;
  auto told = [self = shared_from_this(), add = std::move(add),
               added = std::move(added)](Result<void> confirmed) mutable {
    if (confirmed) return self->answer(add, std::move(added));
    auto error = confirmed.error();
    error.detail =
        "job " + added + " is in queue \"" + self->name_ + "\", and not confirmed: " + error.detail;
    error.fields = {{"queue", self->name_}, {"value", added.id}};
    self->answer(add, std::move(error));
  };
  client_->durable_lane().confirm(wanted, client_->run_id(), name_, std::move(told));
}

void QueueCore::answer(PendingAdd& add, Result<AddedJob> result) const {
  if (add.direct) return add.done(std::move(result));
  client_->give_buffer(add.job.bytes());
  client_->run_callback([done = std::move(add.done), result = std::move(result)]() mutable {
    done(std::move(result));
  });
}

}  // namespace echomq::inline v2
