// SPDX-License-Identifier: MIT
#include "flow/sweep.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "flow/plan_run.h"
#include "queue/plan_call.h"
#include "wire/command.h"

namespace echomq::inline v2::flow {
namespace {

constexpr std::int64_t kFreshMs = 5'000;        // whoever wrote it is about to go on with it
constexpr std::int64_t kGivenUpMs = 60'000;     // an open record without progress
constexpr std::int64_t kReceiptMs = 3'600'000;  // see docs/protocol.md 7
constexpr std::int64_t kEntriesPerRead = 64;

}  // namespace

void FlowSweep::tick() {
  if (!queue_->client()->connected() || std::exchange(looking_, true)) return;
  auto bytes = wire::command({"HSCAN", queue_->keys().outbox, cursor_, "COUNT", "64"});
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this()](Result<wire::Reply> reply) {
                              self->looking_ = false;
                              if (!reply || reply->items.size() < 2) {
                                self->cursor_ = "0";
                                return;
                              }
                              self->cursor_ = reply->items[0].text;
                              self->looked(read_outbox(reply->items[1]));
                            });
}

void FlowSweep::looked(OutboxPage page) {
  const auto now = queue_->client()->now_ms();
  std::erase_if(page.messages,
                [now](const auto& message) { return message.stamp_ms + kFreshMs > now; });
  relay_->push(std::move(page.messages));
  for (const auto& note : page.plans) {
    if (note.sealed && note.stamp_ms + kFreshMs <= now) load(note.plan, note.entries);
    if (!note.sealed && note.stamp_ms + kGivenUpMs <= now) close(note);
  }
  for (const auto& receipt : page.receipts)
    if (receipt.stamp_ms + kReceiptMs <= now) forget_if_done(receipt);
}

// --- records

void FlowSweep::close(const PlanNote& note) {
  queue_->call(close_plan_call(*queue_, note.plan, note.text), [](const Result<wire::Reply>&) {});
}

void FlowSweep::load(const std::string& plan, std::int64_t entries) {
  if (!running_.insert(plan).second) return;
  load_more(plan, entries, std::make_shared<Plan>());
}

void FlowSweep::load_more(const std::string& plan, std::int64_t entries,
                          const std::shared_ptr<Plan>& read) {
  const auto from = static_cast<std::int64_t>(read->size());
  if (from == entries) return add(plan, std::move(*read));
  const auto to = std::min(from + kEntriesPerRead, entries) - 1;
  auto bytes = wire::command(
      {"LRANGE", flow_key(queue_->name(), plan), std::to_string(from), std::to_string(to)});
  queue_->client()->command(std::move(bytes), [self = shared_from_this(), plan, entries, read,
                                               to](Result<wire::Reply> reply) {
    if (reply)
      for (const auto& item : reply->items)
        if (auto entry = PlanEntry::decode(item.text)) read->push_back(*std::move(entry));
    if (static_cast<std::int64_t>(read->size()) == to + 1)
      return self->load_more(plan, entries, read);
    self->running_.erase(plan);  // another one has closed it, or it is of a newer version
  });
}

void FlowSweep::add(const std::string& plan, Plan entries) {
  PlanRun::start(queue_, plan, std::move(entries),
                 [self = shared_from_this(), plan](Result<PlanRun::Outcome> added) {
                   self->running_.erase(plan);
                   if (added) return;
                   self->queue_->client()->log(
                       LogLevel::warning, "a flow of \"" + self->queue_->name() +
                                              "\" cannot be added yet: " + added.error().message());
                 });
}

// --- how far flows were added here

void FlowSweep::forget_if_done(const Receipt& receipt) {
  auto bytes =
      wire::command({"HEXISTS", key(receipt.home, Structure::outbox), plan_field(receipt.plan)});
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this(), receipt](Result<wire::Reply> reply) {
                              if (reply && !reply->is_error() && reply->integer == 0)
                                self->relay_->forget(receipt.field, receipt.text);
                            });
}

}  // namespace echomq::inline v2::flow
