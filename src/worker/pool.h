// SPDX-License-Identifier: MIT
// Pool: the threads that run handlers. A thread is called only when work is there and none is on
// its way already, and a thread that arrives calls the next one if work remains. So short handlers
// share the one or two threads that are awake, because calling a thread costs more than such a
// handler; and long ones get up to `most`, one after the other. Threads that are too many, because
// that was lowered, leave when they have nothing to do.
//
// Thread-safety: all members from any thread but the pool's own.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/function.h"

namespace echomq::inline v2 {

class Pool {
 public:
  explicit Pool(unsigned most) : most_(most) {}
  ~Pool() { join(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void run(std::vector<Task> tasks);
  // From now on; no task that runs is touched.
  void set_most(unsigned most);
  // Waits for all tasks and ends the threads.
  void join();
  // Lets go of threads that nobody waits for any more; the pool must outlive them.
  void abandon();

 private:
  void work();
  void call_a_thread();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool is_too_many() const { return threads_.size() > most_ && !ending_; }
  void leave(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable taken_;  // the last task has its thread
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  std::thread left_;  // each that leaves waits for the one that left before it
  unsigned most_;
  unsigned idle_ = 0;
  bool called_ = false;  // a thread is on its way
  bool ending_ = false;
};

}  // namespace echomq::inline v2
