// SPDX-License-Identifier: MIT
// Lines of a file descriptor, one after the other, with a limit to their length: input without an
// end of line cannot fill the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "echomq/result.h"

namespace emq {

class Lines {
 public:
  // A line may be `limit` bytes long, its end not counted.
  Lines(int fd, std::size_t limit) : fd_(fd), limit_(limit), buffer_(std::size_t{64} * 1024) {}

  // The next line without its end ("\n" or "\r\n"); nullopt after the last.
  // Errors: too_large, invalid_argument (the input cannot be read).
  echomq::Result<std::optional<std::string>> next();
  // How many were read; the number of the latest, counted from 1.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  // Back to where the input stood when it was first seen. False for a pipe or a terminal.
  bool can_rewind();
  void rewind();

 private:
  echomq::Result<bool> fill();

  int fd_;
  std::size_t limit_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t number_ = 0;
  std::int64_t start_ = -1;
};

}  // namespace emq
