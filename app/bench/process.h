// SPDX-License-Identifier: MIT
// A process that is measured, or a member of the fleet: it reads one JSON command a line and
// answers with one JSON document a line (subject.h and fleet/agent.h say which). What it is given
// to read ends with this object, and then it ends by itself, or is killed.
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "echomq/result.h"

namespace bench {

using Json = nlohmann::ordered_json;

// The path of this very program, which is started again as a subject or a member.
std::string own_program();

class Process {
 public:
  // `words` is the program, looked up in PATH, and its arguments. `stopped` is asked while waiting
  // for an answer. Error: config (it cannot be started).
  static echomq::Result<Process> start(const std::vector<std::string>& words,
                                       std::function<bool()> stopped);
  ~Process() { end(); }
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        to_(std::exchange(other.to_, -1)),
        from_(std::exchange(other.from_, -1)),
        program_(std::move(other.program_)),
        stopped_(std::move(other.stopped_)),
        in_(std::move(other.in_)) {}
  Process& operator=(Process&&) = delete;

  // Errors: timeout, closed (it ended, or `stopped`), server_error (its own answer is an error).
  echomq::Result<Json> ask(const Json& command, std::chrono::milliseconds limit);
  // The most memory that it ever had, in bytes; 0 where /proc does not tell.
  [[nodiscard]] double peak_memory() const;
  // SIGKILL, now: it ends as in a crash.
  void kill();
  // Closes what it reads and waits until it has ended; kills it after five seconds.
  void end();

 private:
  Process(pid_t pid, int to, int from, std::string program, std::function<bool()> stopped)
      : pid_(pid),
        to_(to),
        from_(from),
        program_(std::move(program)),
        stopped_(std::move(stopped)) {}

  pid_t pid_;
  int to_;
  int from_;
  std::string program_;
  std::function<bool()> stopped_;
  std::string in_;
};

}  // namespace bench
