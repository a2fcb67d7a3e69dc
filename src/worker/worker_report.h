// SPDX-License-Identifier: MIT
// WorkerReport: what a worker lets other threads know: what it did so far, whether it has stopped,
// and why.
//
// Thread-safety: all members from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "echomq/worker.h"
#include "worker/settlement.h"

namespace echomq::inline v2 {

class WorkerReport {
 public:
  // Counts an end that the settler has told, by what became of it.
  void settled(Settlement::Kind kind, std::string_view status);
  void recovered(std::uint64_t jobs);
  // Why it stops: the first problem stays, what follows from it does not matter.
  void failed(const Error& why);
  void stopped();

  // Waits until stopped(); answers whether that came.
  bool wait_stopped(std::chrono::milliseconds timeout) const;
  void wait_stopped() const;
  [[nodiscard]] Result<void> status() const;
  [[nodiscard]] WorkerStats stats() const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable stopped_signal_;
  bool stopped_ = false;
  std::optional<Error> problem_;
  WorkerStats stats_;
};

}  // namespace echomq::inline v2
