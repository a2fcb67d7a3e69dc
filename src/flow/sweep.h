// SPDX-License-Identifier: MIT
// FlowSweep: takes up what a crash left in the outbox of a queue: ends of children that were not
// told, flows that are recorded and not all added, records that nobody goes on with, and notes of
// flows that were added long ago.
//
// What was left stands among the notes of all flows of the last hour, so a tick goes on to the end
// of the outbox: one page after the other, each when the one before is done with.
//
// Thread-safety: on the loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flow/plan.h"
#include "queue/outbox.h"
#include "queue/queue_core.h"
#include "queue/relay.h"

namespace echomq::inline v2::flow {

class FlowSweep : public std::enable_shared_from_this<FlowSweep> {
 public:
  explicit FlowSweep(std::shared_ptr<QueueCore> queue) : queue_(std::move(queue)) {}

  // Looks at the outbox, unless the tick before is still at it.
  void tick();

 private:
  void look();
  void looked(OutboxPage page);
  void go_on();
  void close(const PlanNote& note);
  void load(const std::string& plan, std::int64_t entries);
  void load_more(const std::string& plan, std::int64_t entries, const std::shared_ptr<Plan>& read);
  void add(const std::string& plan, Plan entries);
  void forget_done(std::vector<Receipt> receipts);
  void forget_if_done(const std::string& home, std::vector<Receipt> receipts);

  std::shared_ptr<QueueCore> queue_;
  std::shared_ptr<Relay> relay_;  // its own: it waits for what it tells
  std::string cursor_ = "0";
  std::size_t count_ = 0;          // asked for in a page
  std::size_t pages_ = 0;          // of this tick
  std::size_t asked_ = 0;          // about flows, unanswered
  std::set<std::string> running_;  // plans that this process goes on with
  bool looking_ = false;
};

}  // namespace echomq::inline v2::flow
