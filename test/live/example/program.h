// SPDX-License-Identifier: MIT
// A built program, run by a test as a user runs it: arguments and environment in, exit code and
// output back. What is still running when the Program goes is killed, by its process id.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace echomq_test {

struct Ran {
  int code;  // exit code; 128 + the signal that ended it; -1 when it had to be killed at the
             // deadline
  std::string out;
  std::string err;

  [[nodiscard]] std::string last_line() const;
};

class Program {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  // Starts `name` of the build's bin folder. Output is kept in files below `folder`.
  Program(const std::string& folder, const std::string& name, std::vector<std::string> arguments,
          const Environment& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  // Until it has ended; its output so far.
  Ran wait(std::chrono::milliseconds deadline = std::chrono::seconds(60));
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;

 private:
  std::string out_path_;
  std::string err_path_;
  ::pid_t pid_ = -1;
};

// Asks again and again until `condition` holds or the time is over; answers whether it held.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds deadline = std::chrono::seconds(30));

// The live processes (zombies are not) whose command line holds `text`, this one excepted.
std::vector<::pid_t> processes_with(const std::string& text);

// A new folder below the temporary one, removed when it goes.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Writes a file of `size` bytes of noise that differs by name; answers its path.
  [[nodiscard]] std::string noise(const std::string& name, std::size_t size) const;

 private:
  std::string path_;
};

}  // namespace echomq_test
