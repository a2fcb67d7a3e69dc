// SPDX-License-Identifier: MIT
// What the demo says while it runs, on stderr: lines, and below them a bar that a terminal shows
// and nothing else sees.
#pragma once

#include <cstddef>
#include <string>

namespace demo {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A line that stays.
  void say(const std::string& line);
  // The bar: `what`, and how much of it is done.
  void show(const std::string& what, std::size_t done, std::size_t total);
  // Takes the bar away.
  void clear();

 private:
  const bool terminal_;
  std::string bar_;  // as it stands on the terminal; empty for none
};

}  // namespace demo
