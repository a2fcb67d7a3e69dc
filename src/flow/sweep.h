// SPDX-License-Identifier: MIT
// FlowSweep: takes up what a crash left in the outbox of a queue: ends of children that were not
// told, flows that are recorded and not all added, records that nobody goes on with, and notes of
// flows that were added long ago.
//
// Thread-safety: on the loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "flow/plan.h"
#include "queue/outbox.h"
#include "queue/queue_core.h"
#include "queue/relay.h"

namespace echomq::inline v2::flow {

class FlowSweep : public std::enable_shared_from_this<FlowSweep> {
 public:
  FlowSweep(std::shared_ptr<QueueCore> queue, std::shared_ptr<Relay> relay)
      : queue_(std::move(queue)), relay_(std::move(relay)) {}

  // Looks at some more of the outbox.
  void tick();

 private:
  void looked(OutboxPage page);
  void close(const PlanNote& note);
  void load(const std::string& plan, std::int64_t entries);
  void load_more(const std::string& plan, std::int64_t entries, const std::shared_ptr<Plan>& read);
  void add(const std::string& plan, Plan entries);
  void forget_if_done(const Receipt& receipt);

  std::shared_ptr<QueueCore> queue_;
  std::shared_ptr<Relay> relay_;
  std::string cursor_ = "0";
  std::set<std::string> running_;  // plans that this process goes on with
  bool looking_ = false;
};

}  // namespace echomq::inline v2::flow
