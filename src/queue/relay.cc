// SPDX-License-Identifier: MIT
#include "queue/relay.h"

#include <algorithm>
#include <utility>

#include "echomq_scripts.h"
#include "queue/ask.h"
#include "queue/parents.h"
#include "queue/plan_call.h"
#include "wire/command.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kWorthACall = 128;
constexpr milliseconds kMoment{50};  // that fewer wait for more

using Delivered = scripts::FlowDelivered;

ScriptCall delivered_call(const QueueCore& queue, std::size_t count) {
  return ScriptCall::of<Delivered>(
      queue.keys(),
      {.revision = scripts::kRevision, .now = queue.client()->now_ms(), .count = count});
}

// What the text of a message begins with, which a newer one of that child does not.
std::string beginning(const EndMessage& message) {
  return message.epoch + ":" + static_cast<char>(message.kind) + ":";
}

}  // namespace

void Relay::push(std::vector<EndMessage> messages) {
  calls_ += messages.size();
  std::shared_ptr<QueueCore> to;
  for (auto& message : messages) {
    if (!to || to->name() != message.parent_queue)
      to = QueueCore::of(queue_->client(), message.parent_queue);
    Parents::of(*to).tell(std::move(message), shared_from_this());
  }
}

void Relay::note(const EndMessage& message, bool told, bool orphaned) {
  if (!told) {
    ++undelivered_;
    return;
  }
  told_.push_back({message.field, beginning(message), orphaned});
}

void Relay::settled(std::size_t messages) {
  forget_soon();
  ended_calls(messages);
}

void Relay::other_ended(const Relay& other) {
  undelivered_ += other.undelivered_;
  ended_calls(1);
}

void Relay::forget(std::string field, std::string seen) {
  told_.push_back({std::move(field), std::move(seen)});
  forget_soon();
}

void Relay::forget_soon() {
  if (when_ == Forget::at_once || told_.size() >= kWorthACall) return send_told();
  if (told_.empty() || std::exchange(waiting_, true)) return;
  ++calls_;
  queue_->client()->loop().after(kMoment, [self = shared_from_this()] {
    self->waiting_ = false;
    self->send_told();
    self->ended_calls(1);
  });
}

void Relay::send_told() {
  for (std::size_t from = 0; from < told_.size(); from += kMaxBatchJobs) {
    const auto count = std::min(kMaxBatchJobs, told_.size() - from);
    auto call = delivered_call(*queue_, count);
    for (std::size_t i = from; i < from + count; ++i)
      call.put_args(Delivered::ItemArgs{
          .field = told_[i].field, .seen = told_[i].seen, .orphaned = told_[i].orphaned});
    ++calls_;
    queue_->call(std::move(call),
                 [self = shared_from_this()](const Result<wire::Reply>&) { self->ended_calls(1); });
  }
  told_.clear();
}

void Relay::ended_calls(std::size_t count) {
  calls_ -= count;
  if (calls_ == 0 && ended_) ended_();
}

Result<std::size_t> deliver(QueueCore& queue, std::vector<EndMessage> messages) {
  if (messages.empty()) return std::size_t{0};
  return queue.client()->wait_for<std::size_t>([&](Function<void(Result<std::size_t>)> done) {
    struct Wait {
      std::shared_ptr<Relay> relay;
      Function<void(Result<std::size_t>)> done;
    };
    auto wait = std::make_shared<Wait>();
    wait->done = std::move(done);
    wait->relay = std::make_shared<Relay>(queue.shared_from_this(), [wait] {
      const auto relay = std::exchange(wait->relay, nullptr);
      wait->done(relay->undelivered());
    });
    wait->relay->push(std::move(messages));
  });
}

Result<void> forget(QueueCore& queue, const std::vector<EndMessage>& messages) {
  for (std::size_t from = 0; from < messages.size(); from += kMaxBatchJobs) {
    const auto count = std::min(kMaxBatchJobs, messages.size() - from);
    auto call = delivered_call(queue, count);
    for (std::size_t i = from; i < from + count; ++i)
      call.put_args(Delivered::ItemArgs{
          .field = messages[i].field, .seen = beginning(messages[i]), .orphaned = false});
    if (const auto forgotten = ask(queue, std::move(call)); !forgotten) return forgotten.error();
  }
  return {};
}

Result<std::size_t> deliver_outbox(QueueCore& queue) {
  std::size_t notes = 0;
  std::string cursor = "0";
  do {
    const auto reply =
        ask_plainly(queue, wire::command({"HSCAN", queue.keys().outbox, cursor, "COUNT", "64"}));
    if (!reply) return reply.error();
    if (reply->items.size() < 2) break;
    cursor = reply->items[0].text;
    auto page = read_outbox(reply->items[1]);
    notes += page.entries - page.messages.size();
    for (const auto& plan : page.plans) {
      if (plan.sealed)
        return Error{ErrorCode::wrong_state,
                     "a flow that begins in queue \"" + queue.name() +
                         "\" is still being added; try again when that is done",
                     {{"queue", queue.name()}, {"value", plan.plan}}};
      const auto closed = ask(queue, close_plan_call(queue, plan.plan, plan.text));
      if (!closed) return closed.error();
      --notes;
    }
    const auto left = deliver(queue, std::move(page.messages));
    if (!left) return left.error();
    if (*left > 0)
      return Error{ErrorCode::wrong_state,
                   std::to_string(*left) +
                       " parent(s) in other queues could not be told that children "
                       "in queue \"" +
                       queue.name() + "\" are gone; try again",
                   {{"queue", queue.name()}, {"value", std::to_string(*left)}}};
  } while (cursor != "0");
  return notes;
}

}  // namespace echomq::inline v2
