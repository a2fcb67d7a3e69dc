// SPDX-License-Identifier: MIT
// ConsumerCore: what a consumer and its fetched jobs share. It lives until the last of them goes,
// and then waits until the server has been told of all ends.
//
// Thread-safety: all members from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "echomq/consumer.h"
#include "queue/queue_core.h"
#include "worker/hand_over.h"
#include "worker/worker_core.h"

namespace echomq::inline v2 {

class ConsumerCore {
 public:
  ConsumerCore(std::shared_ptr<QueueCore> queue, const ConsumerOptions& options);
  ~ConsumerCore();
  ConsumerCore(const ConsumerCore&) = delete;
  ConsumerCore& operator=(const ConsumerCore&) = delete;

  // Fetches are answered no more.
  void request_stop() { core_->request_stop(); }
  void fetch(unsigned most, std::chrono::milliseconds timeout, HandOver::Fetched done);
  void finish(std::shared_ptr<RunningJob> job, std::optional<Outcome> outcome,
              HandOver::Settled done);
  // For jobs that come when this is gone. On the loop only; it may outlive this.
  [[nodiscard]] std::function<void(const Runner::Jobs&)> give_back() const;
  [[nodiscard]] const std::shared_ptr<ClientCore>& client() const { return queue_->client(); }
  [[nodiscard]] const WorkerReport& report() const { return core_->report(); }

 private:
  std::shared_ptr<QueueCore> queue_;
  std::shared_ptr<HandOver> hand_over_;
  std::shared_ptr<WorkerCore> core_;
};

}  // namespace echomq::inline v2
