// SPDX-License-Identifier: MIT
#include "worker/runner.h"

namespace echomq::inline v2 {

Runner::Runner(std::shared_ptr<QueueCore> queue, RawHandler handler, unsigned concurrency,
               std::function<void(const Ended&)> ended)
    : queue_(std::move(queue)),
      handler_(std::move(handler)),
      ended_(std::move(ended)),
      pool_(concurrency) {}

void Runner::run(const std::shared_ptr<RunningJob>& job) {
  pool_.run([self = shared_from_this(), job = job]() mutable {
    if (!self->begin(*job)) return;
    job->started_ms = self->queue_->client()->now_ms();
    RawJob raw{job};
    auto outcome = self->handler_(raw);
    {
      const std::lock_guard lock(self->mutex_);
      std::erase(self->running_ids_, job->job.id);
    }
    self->end(std::move(job), std::move(outcome));
  });
}

// On the pool's thread.
bool Runner::begin(RunningJob& job) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  job.begun = true;
  running_ids_.push_back(job.job.id);
  return true;
}

// On the pool's thread.
void Runner::end(std::shared_ptr<RunningJob> job, Outcome outcome) {
  const std::lock_guard lock(untold_mutex_);
  untold_.emplace_back(std::move(job), std::move(outcome));
  if (std::exchange(telling_, true)) return;
  queue_->client()->loop().post([self = shared_from_this()] { self->tell_ended(); });
}

void Runner::tell_ended() {
  Ended ended;
  {
    const std::lock_guard lock(untold_mutex_);
    ended.swap(untold_);
    telling_ = false;
  }
  ended_(ended);
}

void Runner::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

bool Runner::begun(const RunningJob& job) const {
  const std::lock_guard lock(mutex_);
  return job.begun;
}

std::string Runner::running_ids() const {
  const std::lock_guard lock(mutex_);
  std::string ids;
  for (const auto& id : running_ids_) ids += (ids.empty() ? "" : " ") + id;
  return ids;
}

}  // namespace echomq::inline v2
