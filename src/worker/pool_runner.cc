// SPDX-License-Identifier: MIT
#include "worker/pool_runner.h"

#include <algorithm>
#include <utility>

namespace echomq::inline v2 {

PoolRunner::PoolRunner(std::shared_ptr<QueueCore> queue, RawHandler handler, unsigned concurrency)
    : queue_(std::move(queue)),
      handler_(std::move(handler)),
      concurrency_(concurrency),
      pool_(concurrency) {}

void PoolRunner::run(const Jobs& jobs) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.insert(jobs.begin(), jobs.end());
    taken_ += jobs.size();
  }
  std::vector<Task> tasks;
  tasks.reserve(jobs.size());
  for (const auto& job : jobs)
    tasks.emplace_back(
        [self = shared_from_this(), job = job]() mutable { self->run_one(std::move(job)); });
  pool_.run(std::move(tasks));
  watch();
}

unsigned PoolRunner::capacity(std::size_t /*held*/) const {
  const std::lock_guard lock(mutex_);
  return concurrency_ + ahead_.jobs(concurrency_);
}

unsigned PoolRunner::most(std::size_t /*held*/) const {
  const std::lock_guard lock(mutex_);
  const bool claims_ahead = ahead_.jobs(concurrency_) > 0;
  return concurrency_ + (claims_ahead ? Ahead::most(concurrency_) : 0);
}

// While jobs wait behind others. They begin in their order, so one look tells of all that wait now.
void PoolRunner::watch() {
  std::uint64_t due = 0;
  {
    const std::lock_guard lock(mutex_);
    if (watching_ || jobs_.size() <= concurrency_ || left_ == taken_) return;
    due = taken_;
  }
  watching_ = true;
  queue_->client()->loop().after(Ahead::kPatience, [weak = weak_from_this(), due] {
    if (const auto self = weak.lock()) self->look_at_waiting(due);
  });
}

void PoolRunner::look_at_waiting(std::uint64_t due) {
  watching_ = false;
  auto late = false;
  {
    const std::lock_guard lock(mutex_);
    late = left_ < due;
    if (late) ahead_.kept_waiting();
  }
  if (late) events().lowered();
  watch();
}

// On the pool's thread.
void PoolRunner::run_one(std::shared_ptr<RunningJob> job) {
  if (!begin(job)) return;
  job->started_ms = queue_->client()->now_ms();
  const auto began = std::chrono::steady_clock::now();
  RawJob raw{job};
  auto outcome = handler_(raw);
  end(std::move(job), std::move(outcome), std::chrono::steady_clock::now() - began);
}

bool PoolRunner::begin(const std::shared_ptr<RunningJob>& job) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || !jobs_.contains(job)) return false;
  job->begun = true;
  ++left_;
  return true;
}

void PoolRunner::end(std::shared_ptr<RunningJob> job, Outcome outcome,
                     std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  ahead_.ran(took);
  jobs_.erase(job);
  untold_.emplace_back(std::move(job), std::move(outcome));
  if (std::exchange(telling_, true)) return;
  queue_->client()->loop().post([self = shared_from_this()] { self->tell_ended(); });
}

void PoolRunner::tell_ended() {
  Ended ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(untold_);
    telling_ = false;
  }
  events().ended(ended);
}

void PoolRunner::stop(const Result<void>& /*status*/) {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

void PoolRunner::set_concurrency(unsigned concurrency) {
  const std::lock_guard lock(mutex_);  // two calls at once end alike in both places
  concurrency_ = concurrency;
  pool_.set_most(concurrency);
}

bool PoolRunner::withdraw(const std::shared_ptr<RunningJob>& job) {
  const std::lock_guard lock(mutex_);
  if (job->begun) return false;
  if (jobs_.erase(job) > 0) ++left_;
  return true;
}

// Without those that lost their lease: another run of the job may be here beside them.
std::size_t PoolRunner::cancel(std::optional<std::string_view> only, const std::string& reason) {
  Jobs jobs;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& job : jobs_)
      if ((!only || job->job.id == *only) && !job->lease_lost()) jobs.push_back(job);
  }
  for (const auto& job : jobs) job->ask_to_stop(StopReason::Kind::cancelled, reason);
  return jobs.size();
}

std::string PoolRunner::running_ids() const {
  const std::lock_guard lock(mutex_);
  Jobs begun;
  for (const auto& job : jobs_)
    if (job->begun) begun.push_back(job);
  std::sort(begun.begin(), begun.end(), claimed_before);
  std::string ids;
  for (const auto& job : begun) ids += (ids.empty() ? "" : " ") + job->job.id;
  return ids;
}

}  // namespace echomq::inline v2
