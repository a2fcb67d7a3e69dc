// SPDX-License-Identifier: MIT
// Fd: a file descriptor that is closed when its holder goes.
#pragma once

#include <unistd.h>

#include <utility>

namespace echomq::inline v2::wire {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

}  // namespace echomq::inline v2::wire
