// SPDX-License-Identifier: MIT
#include "worker/worker_report.h"

namespace echomq::inline v2 {

void WorkerReport::settled(Settlement::Kind kind, std::string_view status) {
  const std::lock_guard lock(mutex_);
  const bool is_refused = status == "stale" || status == "gone";
  if (status == "unknown") {
    ++stats_.unknown;
  } else if (is_refused && kind == Settlement::Kind::release) {
    // It had no result to be refused, and was mostly given back before: that answer was lost.
  } else if (is_refused) {
    ++stats_.refused;
  } else if (kind == Settlement::Kind::complete) {
    ++stats_.completed;
  } else if (kind == Settlement::Kind::fail) {
    ++stats_.failed;
  } else if (kind == Settlement::Kind::retry) {
    ++stats_.retried;
  } else {
    ++stats_.released;
  }
}

void WorkerReport::recovered(std::uint64_t jobs) {
  const std::lock_guard lock(mutex_);
  stats_.recovered += jobs;
}

void WorkerReport::failed(const Error& why) {
  const std::lock_guard lock(mutex_);
  if (!problem_) problem_ = why;
}

void WorkerReport::stopped() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  stopped_signal_.notify_all();
}

bool WorkerReport::wait_stopped(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return stopped_signal_.wait_for(lock, timeout, [this] { return stopped_; });
}

void WorkerReport::wait_stopped() const {
  std::unique_lock lock(mutex_);
  stopped_signal_.wait(lock, [this] { return stopped_; });
}

Result<void> WorkerReport::status() const {
  const std::lock_guard lock(mutex_);
  if (problem_) return *problem_;
  return {};
}

WorkerStats WorkerReport::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace echomq::inline v2
