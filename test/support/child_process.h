// SPDX-License-Identifier: MIT
// A program of test/support/bin, or of an absolute path, run as a process of its own, because some
// things can be seen only from outside: a kill, a stop, a signal, an exit code. It is killed with
// the object, and ends with the thread that started it, however that ends.
//
//   ChildProcess worker("worker_process", {"url=" + server.url(), "queue=mail"});
//   worker.signal(SIGTERM);
//   EXPECT_EQ(worker.wait(), 0) << worker.output();
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support/environment.h"
#include "support/folder.h"

namespace echomq::test {

class ChildProcess {
 public:
  // Starts the program, with these variables set beside ours; throws std::runtime_error when it
  // cannot.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const Environment& environment = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void signal(int number) const;
  // SIGKILL; returns when the process is gone.
  void kill9();
  // Its exit code, or 128 + the signal that ended it; nothing while it runs.
  std::optional<int> ended();
  // The same, waited for; -1 when it still runs after the deadline.
  int wait(std::chrono::milliseconds deadline = std::chrono::seconds(30));
  // What it has written to its standard output and error so far.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] ::pid_t pid() const noexcept { return pid_; }

 private:
  Folder folder_;
  ::pid_t pid_ = -1;
  std::optional<int> ended_;
};

}  // namespace echomq::test
