// SPDX-License-Identifier: MIT
#include "flow/plan_run.h"

#include <utility>

#include "base/clock.h"
#include "echomq_scripts.h"
#include "job/reference.h"
#include "protocol/refusal.h"
#include "queue/plan_call.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::flow {
namespace {

using std::chrono::milliseconds;

// Whoever applies a plan for longer begins anew with what stands there: what a call was told of a
// plan that is done may be forgotten an hour later.
constexpr milliseconds kLongest = std::chrono::minutes(10);

}  // namespace

void PlanRun::start(std::shared_ptr<QueueCore> home, std::string id, Plan plan, Done done) {
  std::make_shared<PlanRun>(std::move(home), std::move(id), std::move(plan), std::move(done))
      ->next_level();
}

PlanRun::PlanRun(std::shared_ptr<QueueCore> home, std::string id, Plan plan, Done done)
    : home_(std::move(home)),
      id_(std::move(id)),
      name_(job::reference(home_->name(), id_)),
      plan_(std::move(plan)),
      done_(std::move(done)),
      began_(monotonic_ms()),
      deadline_(began_ + home_->client()->options().command_timeout),
      first_of_(plan_.size()),
      left_out_(plan_.size()) {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const bool goes_on = i > 0 && plan_[i].kind == PlanEntry::Kind::edges &&
                         plan_[i - 1].kind == PlanEntry::Kind::edges &&
                         plan_[i].id == plan_[i - 1].id && plan_[i].queue == plan_[i - 1].queue;
    first_of_[i] = goes_on ? first_of_[i - 1] : i;
  }
}

// What it hangs on is not there.
bool PlanRun::is_dead(const PlanEntry& entry) const {
  return entry.above >= 0 && left_out_[static_cast<std::size_t>(entry.above)];
}

void PlanRun::next_level() {
  if (problem_) return fail(*problem_);
  chains_.clear();
  const auto from = next_;
  while (next_ < plan_.size() && (next_ == from || plan_[next_].level == plan_[from].level)) {
    const auto i = next_++;
    const auto& entry = plan_[i];
    if (is_dead(entry)) {
      left_out_[i] = true;
      continue;
    }
    auto& chain = chains_[entry.queue];
    if (!chain.queue) chain.queue = QueueCore::of(home_->client(), entry.queue);
    chain.entries.push_back(i);
  }
  if (chains_.empty()) return next_ < plan_.size() ? next_level() : close();
  running_ = chains_.size() + 1;  // and this loop, so that none that ends at once begins the next
  for (auto& [queue, chain] : chains_) open(chain);
  chain_ended();
}

void PlanRun::open(Chain& chain) {
  chain.queue->with_open([self = shared_from_this(), &chain](Result<void> opened) {
    if (opened) return self->send(chain);
    self->problem_ = opened.error();
    self->chain_ended();
  });
}

void PlanRun::send(Chain& chain) {
  if (monotonic_ms() - began_ > kLongest) {
    problem_ = Error{ErrorCode::timeout, "a flow took longer than ten minutes to be added", {}};
    return chain_ended();
  }
  auto call = add_call(chain);
  const auto& queue = *chain.queue;
  queue.call(std::move(call), [self = shared_from_this(), &chain](Result<wire::Reply> reply) {
    self->answered(chain, std::move(reply));
  });
}

// At most 256 entries and 256 KiB; a larger one goes alone.
ScriptCall PlanRun::add_call(Chain& chain) const {
  using Transition = scripts::FlowAdd;
  std::size_t bytes = 0;
  chain.sent = 0;
  while (chain.at + chain.sent < chain.entries.size() && chain.sent < kMaxBatchJobs) {
    const auto size = plan_[chain.entries[chain.at + chain.sent]].bytes();
    if (chain.sent > 0 && bytes + size > kMaxBatchBytes) break;
    bytes += size;
    ++chain.sent;
  }
  const auto& queue = *chain.queue;
  auto call = ScriptCall::of<Transition>(queue.keys(), {.revision = scripts::kRevision,
                                                        .now = queue.client()->now_ms(),
                                                        .plan = name_,
                                                        .count = chain.sent});
  for (std::size_t i = chain.at; i < chain.at + chain.sent; ++i) {
    const auto& entry = plan_[chain.entries[i]];
    const auto shape = entry.shape();
    call.put_keys(Transition::ItemKeys{.job = job_key(queue.name(), entry.id)});
    if (entry.has_subkeys())
      call.put_keys(SubKeys(queue.name(), entry.id).as<Transition::MoreKeys>());
    call.put_args(Transition::ItemArgs{
        .index = chain.entries[i], .id = entry.id, .shape = shape, .text = entry.text()});
  }
  return call;
}

// Nobody knows whether a call was applied whose answer is lost: saying it again is harmless.
void PlanRun::answered(Chain& chain, Result<wire::Reply> reply) {
  if (!reply) {
    const auto& error = reply.error();
    if (is_weather(error.code) && monotonic_ms() < deadline_) {
      home_->client()->loop().after(kNotReadyPause,
                                    [self = shared_from_this(), &chain] { self->send(chain); });
      return;
    }
    if (protocol::is_absent(error) && !chain.reopened) return reopen(chain);
    problem_ = error;
    return chain_ended();
  }
  deadline_ = monotonic_ms() + home_->client()->options().command_timeout;
  note(chain, *reply);
  chain.at += chain.sent;
  if (chain.at < chain.entries.size()) return send(chain);
  chain_ended();
}

void PlanRun::note(const Chain& chain, const wire::Reply& reply) {
  static const std::string none;
  const wire::Reply nothing;
  const auto& statuses = reply.items.empty() ? nothing : reply.items[0];
  for (std::size_t i = 0; i < chain.sent; ++i) {
    const auto at = chain.entries[chain.at + i];
    const auto& status = wire::status_of(statuses, i, none);
    if (status == "dup") outcome_.taken.push_back(at);
    if (status != "gone") continue;
    left_out_[first_of_[at]] = true;
    if (plan_[at].above < 0) outcome_.parent_gone = true;
  }
  if (reply.items.size() < 2 || reply.items[1].items.empty()) return;
  auto& relay = relays_[chain.queue->name()];
  if (!relay) relay = std::make_shared<Relay>(chain.queue, nullptr);
  relay->push(read_messages(reply.items[1]));
}

// The queue was obliterated meanwhile.
void PlanRun::reopen(Chain& chain) {
  chain.reopened = true;
  chain.queue->forget_open();
  open(chain);
}

void PlanRun::chain_ended() {
  if (--running_ == 0) next_level();
}

void PlanRun::fail(const Error& why) {
  auto done = std::move(done_);
  done(why);
}

void PlanRun::close() {
  home_->call(close_plan_call(*home_, id_, "s:"),
              [self = shared_from_this()](const Result<wire::Reply>&) {
                // Unanswered, a sweep deletes the record: all is added.
                auto done = std::move(self->done_);
                done(std::move(self->outcome_));
              });
}

}  // namespace echomq::inline v2::flow
