// SPDX-License-Identifier: MIT
// Settler: group commit of ended attempts. Send at once when idle; while a call is in flight,
// collect. Calls are safe to repeat (the token decides), so an answer that was lost with its
// connection is asked for again.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "queue/queue_core.h"
#include "worker/evictor.h"
#include "worker/settlement.h"

namespace echomq::inline v2 {

class Settler : public std::enable_shared_from_this<Settler> {
 public:
  // What became of it: "ok", "done", "stale", "gone", or "unknown" when no answer came in time.
  using Settled = std::function<void(const Settlement&, const std::string& status)>;

  Settler(std::shared_ptr<QueueCore> queue, std::string worker, std::chrono::milliseconds patience,
          std::shared_ptr<Evictor> evictor, Settled settled);

  // Releases: the job that was claimed last is pushed first.
  void push(Settlement settlement) { backlog_.push_back(std::move(settlement)); }
  // Sends what may be sent.
  void pump();
  [[nodiscard]] bool idle() const { return backlog_.empty() && in_flight_.empty(); }

 private:
  using Batch = std::vector<Settlement>;

  Batch take();
  void send(const std::shared_ptr<Batch>& batch, std::chrono::milliseconds deadline);
  void answered(const std::shared_ptr<Batch>& batch, std::chrono::milliseconds deadline,
                Result<wire::Reply> reply);
  [[nodiscard]] ScriptCall finish_call(const Batch& batch) const;
  [[nodiscard]] ScriptCall retry_call(const Batch& batch) const;
  [[nodiscard]] ScriptCall release_call(const Batch& batch) const;
  [[nodiscard]] bool may_send() const;

  std::shared_ptr<QueueCore> queue_;
  std::string worker_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<Evictor> evictor_;
  Settled settled_;
  std::deque<Settlement> backlog_;
  std::vector<Settlement::Kind> in_flight_;
};

}  // namespace echomq::inline v2
