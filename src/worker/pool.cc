// SPDX-License-Identifier: MIT
#include "worker/pool.h"

#include <algorithm>
#include <utility>

namespace echomq::inline v2 {

void Pool::run(std::vector<Task> tasks) {
  const std::lock_guard lock(mutex_);
  for (auto& task : tasks) tasks_.push_back(std::move(task));
  call_a_thread();
}

void Pool::set_most(unsigned most) {
  const std::lock_guard lock(mutex_);
  most_ = most;
  if (is_too_many()) wake_.notify_all();
  call_a_thread();
}

// If there is need of one.
void Pool::call_a_thread() {
  if (called_ || tasks_.empty()) return;
  if (idle_ > 0) {
    called_ = true;
    wake_.notify_one();
  } else if (threads_.size() < most_ && !ending_) {
    called_ = true;
    threads_.emplace_back([this] { work(); });
  }
}

void Pool::join() {
  std::vector<std::thread> threads;
  std::thread left;
  {
    // The threads that the last tasks need are still being called, by those before.
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return tasks_.empty(); });
    ending_ = true;
    threads.swap(threads_);
    left.swap(left_);
  }
  wake_.notify_all();
  for (auto& thread : threads) thread.join();
  if (left.joinable()) left.join();
}

void Pool::abandon() {
  const std::lock_guard lock(mutex_);
  for (auto& thread : threads_) thread.detach();
  threads_.clear();
  if (left_.joinable()) left_.detach();
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  called_ = false;
  while (true) {
    wait_for_work(lock);
    if (tasks_.empty()) return leave(lock);
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    call_a_thread();
    if (tasks_.empty()) taken_.notify_all();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

void Pool::wait_for_work(std::unique_lock<std::mutex>& lock) {
  while (tasks_.empty() && !ending_ && !is_too_many()) {
    ++idle_;
    wake_.wait(lock);
    --idle_;
    called_ = false;
  }
}

// Whoever ends the pool waits for the threads that are still its own, and for the last that left.
void Pool::leave(std::unique_lock<std::mutex>& lock) {
  const auto self = std::find_if(threads_.begin(), threads_.end(), [](const auto& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  if (self == threads_.end()) return;
  auto before = std::exchange(left_, std::move(*self));
  threads_.erase(self);
  lock.unlock();
  if (before.joinable()) before.join();
}

}  // namespace echomq::inline v2
