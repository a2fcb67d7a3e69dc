// SPDX-License-Identifier: MIT
#include "worker/pool.h"

#include <utility>

namespace echomq::inline v2 {

void Pool::run(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  call_a_thread();
}

// One idle thread, or a new one. A thread that is called calls the next before it works, while
// tasks remain: so every task gets its thread, and a burst of short ones is done by the first few.
void Pool::call_a_thread() {
  if (idle_ > 0)
    wake_.notify_one();
  else if (threads_.size() < most_ && !ending_)
    threads_.emplace_back([this] { work(); });
}

void Pool::join() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (auto& thread : threads) thread.join();
}

void Pool::abandon() {
  const std::lock_guard lock(mutex_);
  for (auto& thread : threads_) thread.detach();
  threads_.clear();
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    if (!tasks_.empty()) call_a_thread();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace echomq::inline v2
