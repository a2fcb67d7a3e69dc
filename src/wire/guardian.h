// SPDX-License-Identifier: MIT
// Guardian: a small process between an owner and its server, which ends the server when the owner
// ends, however it ends. The owner cannot do that itself when it is killed, and a signal on the
// parent's death (PR_SET_PDEATHSIG) follows the thread that forked, not the process.
//
//   owner ──fork──▶ guardian ──fork, exec──▶ server
//     └── a socket pair ──┘
//
// The owner's end of the pair is closed by its death, and the guardian's parent changes; the
// guardian looks for both, because a process that the owner forked (without exec) keeps the end
// open. The guardian also keeps the lock of the server's folder, and no process but it does: the
// lock is free exactly when the guardian, and with it the server, is gone, so nobody starts a
// second server on data that the first is still writing. If the guardian itself is killed, the
// server gets SIGTERM from the kernel.
//
// Thread-safety: plain values; start() from any thread of any program.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "echomq/result.h"

namespace echomq::inline v2::wire {

struct GuardedProgram {
  std::vector<std::string> argv;  // argv[0] is the program's path
  int log = -1;                   // its stdout and stderr
  int lock = -1;                  // held as long as the guardian lives
};

class Guardian {
 public:
  // Forks both and returns once the program has been executed. The caller closes `log` and `lock`.
  static Result<Guardian> start(const GuardedProgram& program);

  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&& other) noexcept;
  ~Guardian();  // ends the program at once, as the owner's death would

  [[nodiscard]] int program_pid() const noexcept { return program_pid_; }
  // False once the program has ended.
  [[nodiscard]] bool running();
  // SIGTERM, and SIGKILL after 10 s; returns when the program and the guardian are gone.
  void stop();

 private:
  Guardian(int channel, int guardian_pid) : channel_(channel), guardian_pid_(guardian_pid) {}
  bool ended_within(std::chrono::milliseconds timeout);
  void collect();

  int channel_ = -1;
  int guardian_pid_ = 0;
  int program_pid_ = 0;
  int owner_pid_ = 0;
};

}  // namespace echomq::inline v2::wire
