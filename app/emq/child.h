// SPDX-License-Identifier: MIT
// One run of a shell command: bytes in, bytes out, and an end in time.
//
// The command runs as `/bin/sh -c COMMAND` in a process group of its own, so that a Ctrl-C in the
// terminal reaches only `emq`, and so that whatever the command starts can be stopped with it. It
// is over when the shell is: processes that it left behind in its group are killed, and what is in
// the pipes by then is all the output there is.
//
// Input and output are moved by one poll loop, because a command may write much before it reads, or
// never read at all; either way nobody waits for the other for ever.
//
// Thread-safety: run_child() may be called from any thread, many at the same time. SIGPIPE must be
// ignored in the process: a command that does not read its input is no reason to die.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emq {

class Warden;

struct ChildOptions {
  std::string_view command;
  std::string_view input;
  // Set in the command's environment, on top of ours.
  std::vector<std::pair<std::string, std::string>> environment;
  // When stop is asked for the group gets SIGTERM, and SIGKILL after the grace or once hurry() says
  // so.
  std::stop_token stop;
  std::chrono::milliseconds grace{0};
  std::function<bool()> hurry;
  // Of stdout the beginning is kept and one byte over tells of more; of stderr the end.
  std::size_t output_limit = 0;
  std::size_t error_limit = 0;
  Warden* warden = nullptr;
};

struct ChildEnd {
  enum class How { exited, signaled, not_started };

  How how = How::not_started;
  int number = 0;        // exit status, signal, or the errno of the failed start
  bool stopped = false;  // it was sent SIGTERM by us before it ended,
  bool killed = false;   // and SIGKILL, because it did not end in time
  std::string output;
  std::string errors;
};

ChildEnd run_child(const ChildOptions& options);

}  // namespace emq
