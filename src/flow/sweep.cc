// SPDX-License-Identifier: MIT
#include "flow/sweep.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/weak_call.h"
#include "flow/plan_run.h"
#include "queue/plan_call.h"
#include "wire/command.h"

namespace echomq::inline v2::flow {
namespace {

constexpr std::int64_t kFreshMs = 5'000;        // whoever wrote it is about to go on with it
constexpr std::int64_t kGivenUpMs = 60'000;     // an open record without progress
constexpr std::int64_t kReceiptMs = 3'600'000;  // see docs/protocol.md 7
constexpr std::int64_t kEntriesPerRead = 64;

// Messages may be large, and notes are small.
constexpr std::size_t kPage = 64;
constexpr std::size_t kPageOfNotes = 1'024;
// About 130,000 notes; the next tick goes on behind them.
constexpr std::size_t kPagesPerTick = 128;
constexpr std::size_t kPlansAtOnce = 64;

}  // namespace

void FlowSweep::tick() {
  if (!queue_->client()->connected() || std::exchange(looking_, true)) return;
  if (!relay_)
    relay_ = std::make_shared<Relay>(queue_, weak_call(*this, &FlowSweep::go_on),
                                     Relay::Forget::in_a_moment);
  pages_ = 0;
  count_ = kPage;
  look();
}

void FlowSweep::look() {
  auto bytes =
      wire::command({"HSCAN", queue_->keys().outbox, cursor_, "COUNT", std::to_string(count_)});
  queue_->client()->command(std::move(bytes),
                            [self = shared_from_this()](Result<wire::Reply> reply) {
                              if (!reply || reply->items.size() < 2) {
                                self->cursor_ = "0";
                                self->looking_ = false;
                                return;
                              }
                              self->cursor_ = reply->items[0].text;
                              self->looked(read_outbox(reply->items[1]));
                            });
}

void FlowSweep::looked(OutboxPage page) {
  const auto now = queue_->client()->now_ms();
  const bool only_receipts = page.messages.empty() && page.plans.empty();
  count_ = only_receipts ? std::min(2 * count_, kPageOfNotes) : kPage;
  std::erase_if(page.messages,
                [now](const auto& message) { return message.stamp_ms + kFreshMs > now; });
  ++asked_;  // this look, so that none of its answers begins the next
  relay_->push(std::move(page.messages));
  for (const auto& note : page.plans) {
    if (note.sealed && note.stamp_ms + kFreshMs <= now) load(note.plan, note.entries);
    if (!note.sealed && note.stamp_ms + kGivenUpMs <= now) close(note);
  }
  std::erase_if(page.receipts,
                [now](const auto& receipt) { return receipt.stamp_ms + kReceiptMs > now; });
  forget_done(std::move(page.receipts));
  --asked_;
  go_on();
}

// When nothing of the page is on its way any more.
void FlowSweep::go_on() {
  if (!looking_ || asked_ > 0 || !relay_->idle()) return;
  if (cursor_ != "0" && ++pages_ < kPagesPerTick) return look();
  looking_ = false;
}

// --- records

void FlowSweep::close(const PlanNote& note) {
  queue_->call(close_plan_call(*queue_, note.plan, note.text), [](const Result<wire::Reply>&) {});
}

void FlowSweep::load(const std::string& plan, std::int64_t entries) {
  if (running_.size() == kPlansAtOnce || !running_.insert(plan).second) return;
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

void FlowSweep::forget_done(std::vector<Receipt> receipts) {
  std::map<std::string, std::vector<Receipt>> of;
  for (auto& receipt : receipts) of[receipt.home].push_back(std::move(receipt));
  for (auto& [home, some] : of) forget_if_done(home, std::move(some));
}

void FlowSweep::forget_if_done(const std::string& home, std::vector<Receipt> receipts) {
  std::vector<std::string> words{"HMGET", key(home, Structure::outbox)};
  for (const auto& receipt : receipts) words.push_back(plan_field(receipt.plan));
  ++asked_;
  queue_->client()->command(wire::command(words),
                            [self = shared_from_this(),
                             receipts = std::move(receipts)](const Result<wire::Reply>& reply) {
                              if (reply && reply->items.size() == receipts.size())
                                for (std::size_t i = 0; i < receipts.size(); ++i)
                                  if (reply->items[i].is_null())
                                    self->relay_->forget(receipts[i].field, receipts[i].text);
                              --self->asked_;
                              self->go_on();
                            });
}

}  // namespace echomq::inline v2::flow
