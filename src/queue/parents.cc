// SPDX-License-Identifier: MIT
#include "queue/parents.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "echomq_scripts.h"
#include "job/reference.h"
#include "protocol/refusal.h"
#include "queue/relay.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::size_t kParentsPerCall = 128;  // five keys each

// Those of one parent, in the order of the call.
struct OfParent {
  std::string id;
  unsigned count = 0;
  std::string messages;
};

void append(std::string& out, const EndMessage& message, const std::string& child_queue) {
  const auto ref = job::reference(child_queue, message.child);
  out.append(std::to_string(ref.size())).append(1, ':').append(message.epoch).append(1, ':');
  out.append(1, static_cast<char>(message.kind)).append(1, ':').append(1, message.policy);
  out.append(1, ':').append(std::to_string(message.value.size())).append(1, ':');
  out.append(ref).append(message.value);
}

}  // namespace

Parents& Parents::of(QueueCore& queue) {
  auto& parents = queue.parents();
  if (!parents) parents = std::make_shared<Parents>(queue);
  return *parents;
}

void Parents::tell(EndMessage message, std::shared_ptr<Relay> by) {
  backlog_.push_back({std::move(message), std::move(by)});
  pump_soon();
}

// Answers that came together are worked one after the other; what they tell goes in one call.
void Parents::pump_soon() {
  if (in_flight_ || std::exchange(posted_, true)) return;
  queue_.client()->loop().post([this, alive = queue_.shared_from_this()] {
    posted_ = false;
    pump();
  });
}

void Parents::pump() {
  if (in_flight_ || (backlog_.empty() && apart_.empty())) return;
  in_flight_ = true;
  auto batch = std::make_shared<Batch>(take());
  queue_.call(settle_call(*batch),
              [this, alive = queue_.shared_from_this(), batch](const Result<wire::Reply>& reply) {
                in_flight_ = false;
                answered(*batch, reply);
                if (!backlog_.empty() || !apart_.empty()) pump_soon();
              });
}

// At most 256 messages of 128 parents, and 256 KiB; a larger one goes alone.
Parents::Batch Parents::take() {
  Batch batch;
  if (!apart_.empty()) {
    batch = std::move(apart_.front());
    apart_.pop_front();
    return batch;
  }
  std::size_t bytes = 0;
  std::set<std::string> parents;
  while (!backlog_.empty() && batch.size() < kMaxBatchJobs) {
    auto& next = backlog_.front();
    const auto size = next.message.value.size() + next.message.field.size() + 64;
    if (!batch.empty() && bytes + size > kMaxBatchBytes) break;
    if (parents.size() == kParentsPerCall && !parents.contains(next.message.parent)) break;
    bytes += size;
    parents.insert(next.message.parent);
    batch.push_back(std::move(next));
    backlog_.pop_front();
  }
  std::stable_sort(batch.begin(), batch.end(), [](const auto& a, const auto& b) {
    return a.message.parent < b.message.parent;
  });
  return batch;
}

// The batch is ordered by its parents.
ScriptCall Parents::settle_call(const Batch& batch) const {
  using Transition = scripts::FlowSettle;
  std::vector<OfParent> parents;
  for (const auto& [message, by] : batch) {
    if (parents.empty() || parents.back().id != message.parent)
      parents.push_back({message.parent, 0, {}});
    ++parents.back().count;
    append(parents.back().messages, message, by->queue().name());
  }
  auto call = ScriptCall::of<Transition>(queue_.keys(), {.revision = scripts::kRevision,
                                                         .now = queue_.client()->now_ms(),
                                                         .count = parents.size(),
                                                         .keep = kFallenParents,
                                                         .age = kFallenParentsAge.count()});
  for (const auto& parent : parents) {
    const SubKeys sub(queue_.name(), parent.id);
    call.put_keys(Transition::ItemKeys{.job = job_key(queue_.name(), parent.id),
                                       .dependencies = sub.dependencies,
                                       .processed = sub.processed,
                                       .failed_children = sub.failed,
                                       .unsuccessful = sub.unsuccessful});
    call.put_args(
        Transition::ItemArgs{.id = parent.id, .told = parent.count, .messages = parent.messages});
  }
  return call;
}

void Parents::answered(Batch& batch, const Result<wire::Reply>& reply) {
  // A queue that is no more has no parents.
  const bool absent = !reply && protocol::is_absent(reply.error());
  if (!reply && !absent) {
    const auto code = reply.error().code;
    const bool by_what_is_there = code == ErrorCode::wrong_type || code == ErrorCode::protocol;
    if (by_what_is_there && say_apart(batch)) return;
    queue_.client()->log(LogLevel::warning, "the ends of " + std::to_string(batch.size()) +
                                                " job(s) are not told to their parents in \"" +
                                                queue_.name() +
                                                "\" yet: " + reply.error().message());
  }
  if (reply && reply->items.size() > 1) tell_theirs(batch, read_messages(reply->items[1]));
  static const std::string unknown = "unknown";
  const wire::Reply none;
  const auto& statuses = reply && !reply->items.empty() ? reply->items[0] : none;
  std::map<std::shared_ptr<Relay>, std::size_t> relays;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto& status = wire::status_of(statuses, i, unknown);
    const bool orphaned = absent || status == "gone";
    batch[i].by->note(batch[i].message, orphaned || status != unknown, orphaned);
    ++relays[batch[i].by];
  }
  for (const auto& [relay, count] : relays) relay->settled(count);
}

// Answers whether it is worth it: one parent alone is refused alone.
bool Parents::say_apart(Batch& batch) {
  if (batch.front().message.parent == batch.back().message.parent) return false;
  for (auto& telling : batch) {
    if (apart_.empty() || apart_.back().front().message.parent != telling.message.parent)
      apart_.emplace_back();
    apart_.back().push_back(std::move(telling));
  }
  return true;
}

// What parents that ended tell their own; whoever had a part in that has not finished before.
void Parents::tell_theirs(const Batch& batch, std::vector<EndMessage> messages) {
  if (messages.empty()) return;
  std::set<std::shared_ptr<Relay>> below;
  for (const auto& telling : batch) below.insert(telling.by);
  for (const auto& relay : below) relay->waits_for_another();
  const auto above = std::make_shared<std::shared_ptr<Relay>>();
  *above = std::make_shared<Relay>(queue_.shared_from_this(), [below, above] {
    for (const auto& relay : below) relay->other_ended(**above);
    above->reset();  // it lives until its last answer has been worked
  });
  (*above)->push(std::move(messages));
}

}  // namespace echomq::inline v2
