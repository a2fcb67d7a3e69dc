// SPDX-License-Identifier: MIT
// Pool: the threads that run handlers. A thread is started only when a job finds none idle, so
// short handlers share a few threads, and long ones get up to `most`. Whoever takes a job wakes one
// more thread if work remains.
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

  void run(Task task);
  // Waits for all tasks and ends the threads.
  void join();
  // Lets go of threads that nobody waits for any more; the pool must outlive them.
  void abandon();

 private:
  void work();
  void call_a_thread();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  unsigned most_;
  unsigned idle_ = 0;
  bool ending_ = false;
};

}  // namespace echomq::inline v2
