// SPDX-License-Identifier: MIT
// Warden: a process that outlives `emq work` by a second, to end what it left behind.
//
// When a worker is killed with -9 its jobs are given to others after their lease. Commands that it
// was running would go on meanwhile, and work on the same jobs as their successors. The warden is
// told of each process group while it runs; when the pipe to it breaks, which it does however this
// process ends, it sends SIGTERM to the groups that are still there, and SIGKILL a second later.
//
// Thread-safety: watch() and forget() may be called from any thread.
#pragma once

#include <sys/types.h>

#include "echomq/result.h"
#include "pipes.h"

namespace emq {

class Warden {
 public:
  // Forks, so it must be called while the process has one thread.
  // Error: config, when the system refuses a process or a pipe.
  static echomq::Result<Warden> start();
  ~Warden();
  Warden(Warden&& other) noexcept;
  Warden& operator=(Warden&&) = delete;

  // To be forgotten before the group's leader is reaped: then its number cannot be another's yet.
  void watch(pid_t group);
  void forget(pid_t group);

 private:
  Warden(Fd pipe, pid_t pid) : pipe_(std::move(pipe)), pid_(pid) {}
  void tell(pid_t number);

  Fd pipe_;
  pid_t pid_;
};

}  // namespace emq
