// SPDX-License-Identifier: MIT
// Settler: group commit of ended attempts. Send at once when idle; while a call is in flight,
// collect, up to what makes a second call worth while. Calls are safe to repeat (the token
// decides), so an answer that was lost with its connection is asked for again.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "queue/evict_call.h"
#include "queue/queue_core.h"
#include "queue/relay.h"
#include "worker/evictor.h"
#include "worker/oldest.h"
#include "worker/settlement.h"

namespace echomq::inline v2 {

class Settler : public std::enable_shared_from_this<Settler> {
 public:
  // What became of it: "ok", "done", "stale", "gone", or "unknown" when it was given up.
  using Settled = std::function<void(const Settlement&, const std::string& status)>;

  Settler(std::shared_ptr<QueueCore> queue, std::string worker, std::chrono::milliseconds patience,
          std::shared_ptr<Evictor> evictor, std::shared_ptr<Relay> relay, Settled settled);

  // Releases: the job that was claimed last is pushed first.
  void push(Settlement settlement) { backlog_.push_back(std::move(settlement)); }
  // Sends what may be sent.
  void pump();
  // From now on, what goes unanswered for longer than the patience is given up. Until then no
  // outage is too long: an end that is not told means a job that runs again.
  void stop();
  [[nodiscard]] bool idle() const { return backlog_.empty() && in_flight_.empty(); }

 private:
  using Batch = std::vector<Settlement>;

  Batch take();
  // `since` (monotonic_ms()): when it was sent first.
  // `again`: an answer to it was lost before.
  void send(const std::shared_ptr<Batch>& batch, std::chrono::milliseconds since,
            bool again = false);
  // `declared`: how many of the oldest jobs travelled with it.
  void answered(const std::shared_ptr<Batch>& batch, std::chrono::milliseconds since, bool again,
                std::size_t declared, Result<wire::Reply> reply);
  void finished(Settlement::Kind kind, std::size_t declared, const wire::Reply& reply);
  void tell_parents(Settlement::Kind kind, const wire::Reply& reply);
  [[nodiscard]] Oldest& oldest_of(Settlement::Kind kind) {
    return kind == Settlement::Kind::complete ? oldest_completed_ : oldest_failed_;
  }
  [[nodiscard]] bool is_patient(std::chrono::milliseconds since) const;
  // `oldest`: ids in the finished set whose keys travel too.
  [[nodiscard]] ScriptCall finish_call(const Batch& batch, const std::vector<std::string>& oldest,
                                       std::size_t peek) const;
  [[nodiscard]] ScriptCall retry_call(const Batch& batch) const;
  [[nodiscard]] ScriptCall release_call(const Batch& batch) const;
  [[nodiscard]] ScriptCall wait_call(const Batch& batch) const;
  void hold_ids(const Batch& batch) const;
  [[nodiscard]] bool may_send() const;

  std::shared_ptr<QueueCore> queue_;
  std::string worker_;
  std::chrono::milliseconds patience_;
  std::optional<std::chrono::milliseconds> stopped_at_{};  // by monotonic_ms()
  std::shared_ptr<Evictor> evictor_;
  std::shared_ptr<Relay> relay_;
  Settled settled_;
  std::deque<Settlement> backlog_;
  std::vector<Settlement::Kind> in_flight_;
  Oldest oldest_completed_{kMaxBatchJobs};
  Oldest oldest_failed_{kMaxBatchJobs};
};

}  // namespace echomq::inline v2
