// SPDX-License-Identifier: MIT
// The worker processes of the demo: started, watched, killed, stopped, always by their process ids.
//
// Each has a process group of its own, so that Ctrl-C in the terminal reaches the driver alone, and
// writes to a log file of its own. The destructor kills what still runs.
//
// Thread-safety: none; and start() must be called on the main thread, whose end is the workers'
// too.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "echomq/result.h"

namespace demo {

class Fleet {
 public:
  // `program` is started as `program arguments... --name NAME`; logs go to `log_folder`/NAME.log.
  Fleet(std::string program, std::vector<std::string> arguments, std::string log_folder);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Error: config (it cannot be started).
  echomq::Result<void> start(const std::string& name);
  // SIGKILL to the first worker, which is gone on return; answers its name and process id.
  std::string kill_first();
  // Ok while all run. Error: closed, naming a worker that ended by itself, how, and its log.
  echomq::Result<void> check();
  // SIGTERM to all, and SIGKILL after `grace`. Error: closed, naming one that did not end with 0.
  echomq::Result<void> stop(std::chrono::milliseconds grace);

 private:
  struct Process {
    std::string name;
    ::pid_t pid;
  };

  [[nodiscard]] std::string log_of(const Process& process) const;
  [[nodiscard]] echomq::Error ended(const Process& process, int status) const;

  std::string program_;
  std::vector<std::string> arguments_;
  std::string log_folder_;
  std::vector<Process> running_;
};

// The program NAME in the folder of the running one.
std::string sibling_program(const std::string& name);

}  // namespace demo
