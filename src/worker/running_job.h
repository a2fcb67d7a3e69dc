// SPDX-License-Identifier: MIT
// RunningJob: a job that this process holds, from its claim until its end is acknowledged.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <utility>

#include "echomq/job.h"
#include "job/record.h"
#include "protocol/lease.h"

namespace echomq::inline v2 {

class QueueCore;

class RunningJob {
 public:
  RunningJob(job::LoadedJob loaded, std::string queue_name, const Lease& claimed_under,
             std::function<void()> progress_told)
      : job(std::move(loaded)),
        queue(std::move(queue_name)),
        lease(claimed_under),
        on_progress(std::move(progress_told)) {}

  const job::LoadedJob job;
  const std::string queue;
  Lease lease;  // as it was last known; an extension that is on its way may have moved its deadline
  const std::function<void()> on_progress;  // asks the worker to send what progress holds
  std::uint64_t order = 0;                  // among the jobs that its worker claimed
  bool begun = false;                       // somebody works it; guarded by its Runner
  std::shared_ptr<QueueCore> core{};        // of its queue; once it is handed to a Runner
  std::int64_t started_ms = 0;              // by the server's clock, when the handler began

  // From any thread: only the deadline of a lease moves.
  [[nodiscard]] std::uint64_t token() const { return lease.token(); }

  // From any thread but, because the callbacks of the token run here, under no lock of ours.
  void ask_to_stop(StopReason::Kind kind, const std::string& text = {}) {
    {
      const std::lock_guard lock(mutex_);
      if (kind > stop_kind_.load()) {
        stop_kind_ = kind;
        stop_text_ = text;
      }
    }
    stop_.request_stop();
  }
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  [[nodiscard]] StopReason stop_reason() const {
    const std::lock_guard lock(mutex_);
    return {stop_kind_, stop_text_};
  }
  [[nodiscard]] bool lease_lost() const { return stop_kind_ == StopReason::Kind::lease_lost; }

  void set_progress(std::string value) {
    const std::lock_guard lock(mutex_);
    progress_ = std::move(value);
  }
  [[nodiscard]] bool has_progress() {
    const std::lock_guard lock(mutex_);
    return progress_.has_value();
  }
  std::optional<std::string> take_progress() {
    const std::lock_guard lock(mutex_);
    return std::exchange(progress_, std::nullopt);
  }
  // What was taken was not told; what came meanwhile counts more.
  void give_progress_back(std::string value) {
    const std::lock_guard lock(mutex_);
    if (!progress_) progress_ = std::move(value);
  }

 private:
  std::stop_source stop_;
  std::atomic<StopReason::Kind> stop_kind_{StopReason::Kind::none};  // written under the mutex

  mutable std::mutex mutex_;  // guards what follows
  std::string stop_text_;
  std::optional<std::string> progress_;
};

// In the order of their claims.
inline bool claimed_before(const std::shared_ptr<RunningJob>& a,
                           const std::shared_ptr<RunningJob>& b) {
  return a->order < b->order;
}

// By identity, not by id: a run that lost its lease may still work beside the next run of its job.
using RunningJobs = std::unordered_set<std::shared_ptr<RunningJob>>;

}  // namespace echomq::inline v2
