// SPDX-License-Identifier: MIT
#include "queue/relay.h"

#include <algorithm>
#include <utility>

#include "echomq_scripts.h"
#include "job/reference.h"
#include "protocol/refusal.h"
#include "queue/ask.h"
#include "queue/plan_call.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kParentsPerCall = 128;  // five keys each
constexpr std::size_t kWorthACall = 128;
constexpr milliseconds kMoment{50};  // that fewer wait for more

// Those of one parent, in the order of the call.
struct OfParent {
  std::string id;
  unsigned count = 0;
  std::string messages;
};

void append(std::string& out, const QueueCore& queue, const EndMessage& message) {
  const auto ref = job::reference(queue.name(), message.child);
  out.append(std::to_string(ref.size())).append(1, ':').append(message.epoch).append(1, ':');
  out.append(1, static_cast<char>(message.kind)).append(1, ':').append(1, message.policy);
  out.append(1, ':').append(std::to_string(message.value.size())).append(1, ':');
  out.append(ref).append(message.value);
}

// The batch is ordered by its parents.
ScriptCall settle_call(const QueueCore& from, const QueueCore& to,
                       const std::vector<EndMessage>& batch) {
  using Transition = scripts::FlowSettle;
  std::vector<OfParent> parents;
  for (const auto& message : batch) {
    if (parents.empty() || parents.back().id != message.parent)
      parents.push_back({message.parent, 0, {}});
    ++parents.back().count;
    append(parents.back().messages, from, message);
  }
  auto call = ScriptCall::of<Transition>(to.keys(), {.revision = scripts::kRevision,
                                                     .now = to.client()->now_ms(),
                                                     .count = parents.size(),
                                                     .keep = kFallenParents,
                                                     .age = kFallenParentsAge.count()});
  for (const auto& parent : parents) {
    const SubKeys sub(to.name(), parent.id);
    call.put_keys(Transition::ItemKeys{.job = job_key(to.name(), parent.id),
                                       .dependencies = sub.dependencies,
                                       .processed = sub.processed,
                                       .failed_children = sub.failed,
                                       .unsuccessful = sub.unsuccessful});
    call.put_args(
        Transition::ItemArgs{.id = parent.id, .told = parent.count, .messages = parent.messages});
  }
  return call;
}

}  // namespace

void Relay::push(std::vector<EndMessage> messages) {
  std::vector<Lane*> touched;
  for (auto& message : messages) {
    auto& lane = lanes_[message.parent_queue];
    if (!lane.queue) lane.queue = QueueCore::of(queue_->client(), message.parent_queue);
    if (std::find(touched.begin(), touched.end(), &lane) == touched.end()) touched.push_back(&lane);
    lane.backlog.push_back(std::move(message));
  }
  for (auto* const lane : touched) pump(*lane);
}

// At most 256 messages of 128 parents, and 256 KiB; a larger one goes alone.
std::shared_ptr<Relay::Batch> Relay::take(Lane& lane) {
  auto batch = std::make_shared<Batch>();
  std::size_t bytes = 0;
  std::map<std::string, int> parents;
  while (!lane.backlog.empty() && batch->size() < kMaxBatchJobs) {
    auto& next = lane.backlog.front();
    const auto size = next.value.size() + next.field.size() + 64;
    if (!batch->empty() && bytes + size > kMaxBatchBytes) break;
    if (parents.size() == kParentsPerCall && !parents.contains(next.parent)) break;
    bytes += size;
    ++parents[next.parent];
    batch->push_back(std::move(next));
    lane.backlog.pop_front();
  }
  std::stable_sort(batch->begin(), batch->end(),
                   [](const auto& a, const auto& b) { return a.parent < b.parent; });
  return batch;
}

void Relay::pump(Lane& lane) {
  if (lane.in_flight || lane.backlog.empty()) return;
  lane.in_flight = true;
  ++calls_;
  auto batch = take(lane);
  auto call = settle_call(*queue_, *lane.queue, *batch);
  lane.queue->call(std::move(call),
                   [self = shared_from_this(), &lane, batch](Result<wire::Reply> reply) {
                     lane.in_flight = false;
                     self->settled(lane, *batch, std::move(reply));
                     self->pump(lane);
                     self->ended_call();
                   });
}

void Relay::settled(Lane& lane, const Batch& batch, Result<wire::Reply> reply) {
  // A queue that is no more has no parents.
  const bool absent = !reply && protocol::is_absent(reply.error());
  std::vector<bool> told(batch.size(), absent);
  std::vector<bool> orphaned(batch.size(), absent);
  if (!reply && !absent) {
    undelivered_ += batch.size();
    queue_->client()->log(LogLevel::warning,
                          "the ends of " + std::to_string(batch.size()) + " job(s) of \"" +
                              queue_->name() + "\" are not told to their parents in \"" +
                              lane.queue->name() + "\" yet: " + reply.error().message());
    return;
  }
  static const std::string unknown = "unknown";
  for (std::size_t i = 0; reply && !reply->items.empty() && i < batch.size(); ++i) {
    const auto& status = wire::status_of(reply->items[0], i, unknown);
    told[i] = status != unknown;
    orphaned[i] = status == "gone";
  }
  if (reply && reply->items.size() > 1) go_on(lane.queue, read_messages(reply->items[1]));
  forget(batch, told, orphaned);
}

void Relay::forget(std::string field, std::string seen) {
  told_.push_back({std::move(field), std::move(seen)});
  forget_soon();
}

void Relay::forget(const Batch& batch, const std::vector<bool>& told,
                   const std::vector<bool>& orphaned) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!told[i]) {
      ++undelivered_;
      continue;
    }
    told_.push_back({batch[i].field, batch[i].epoch + ":" + static_cast<char>(batch[i].kind) + ":",
                     orphaned[i]});
  }
  forget_soon();
}

void Relay::forget_soon() {
  if (when_ == Forget::at_once || told_.size() >= kWorthACall) return send_told();
  if (told_.empty() || std::exchange(waiting_, true)) return;
  ++calls_;
  queue_->client()->loop().after(kMoment, [self = shared_from_this()] {
    self->waiting_ = false;
    self->send_told();
    self->ended_call();
  });
}

void Relay::send_told() {
  using Transition = scripts::FlowDelivered;
  for (std::size_t from = 0; from < told_.size(); from += kMaxBatchJobs) {
    const auto count = std::min(kMaxBatchJobs, told_.size() - from);
    auto call = ScriptCall::of<Transition>(
        queue_->keys(),
        {.revision = scripts::kRevision, .now = queue_->client()->now_ms(), .count = count});
    for (std::size_t i = from; i < from + count; ++i)
      call.put_args(Transition::ItemArgs{
          .field = told_[i].field, .seen = told_[i].seen, .orphaned = told_[i].orphaned});
    ++calls_;
    queue_->call(std::move(call),
                 [self = shared_from_this()](const Result<wire::Reply>&) { self->ended_call(); });
  }
  told_.clear();
}

void Relay::go_on(const std::shared_ptr<QueueCore>& queue, std::vector<EndMessage> messages) {
  if (messages.empty()) return;
  ++calls_;
  const auto above = std::make_shared<std::shared_ptr<Relay>>();
  *above = std::make_shared<Relay>(queue, [self = shared_from_this(), above] {
    self->undelivered_ += (*above)->undelivered();
    above->reset();  // it lives until its last answer has been worked
    self->ended_call();
  });
  (*above)->push(std::move(messages));
}

void Relay::ended_call() {
  --calls_;
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
