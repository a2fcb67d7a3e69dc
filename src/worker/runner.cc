// SPDX-License-Identifier: MIT
#include "worker/runner.h"

namespace echomq::inline v2 {

Runner::Runner(std::shared_ptr<QueueCore> queue, RawHandler handler, unsigned concurrency,
               std::function<void(const Ended&)> ended)
    : queue_(std::move(queue)),
      handler_(std::move(handler)),
      ended_(std::move(ended)),
      pool_(concurrency) {}

void Runner::run(const std::vector<std::shared_ptr<RunningJob>>& jobs) {
  std::vector<Task> tasks;
  tasks.reserve(jobs.size());
  for (const auto& job : jobs)
    tasks.emplace_back(
        [self = shared_from_this(), job = job]() mutable { self->run_one(std::move(job)); });
  pool_.run(std::move(tasks));
}

// On the pool's thread.
void Runner::run_one(std::shared_ptr<RunningJob> job) {
  if (!begin(*job)) return;
  job->started_ms = queue_->client()->now_ms();
  RawJob raw{job};
  auto outcome = handler_(raw);
  end(std::move(job), std::move(outcome));
}

bool Runner::begin(RunningJob& job) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  job.begun = true;
  running_.push_back(&job);
  return true;
}

void Runner::end(std::shared_ptr<RunningJob> job, Outcome outcome) {
  const std::lock_guard lock(mutex_);
  std::erase(running_, job.get());
  untold_.emplace_back(std::move(job), std::move(outcome));
  if (std::exchange(telling_, true)) return;
  queue_->client()->loop().post([self = shared_from_this()] { self->tell_ended(); });
}

void Runner::tell_ended() {
  Ended ended;
  {
    const std::lock_guard lock(mutex_);
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
  for (const auto* job : running_) ids += (ids.empty() ? "" : " ") + job->job.id;
  return ids;
}

}  // namespace echomq::inline v2
