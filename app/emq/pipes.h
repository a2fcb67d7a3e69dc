// SPDX-License-Identifier: MIT
// File descriptors that close themselves, and pipes of them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace emq {

class Fd {
 public:
  explicit Fd(int number = -1) noexcept : number_(number) {}
  ~Fd() { close(); }
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  void close() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  void set_nonblocking() const noexcept {
    ::fcntl(number_, F_SETFL, ::fcntl(number_, F_GETFL) | O_NONBLOCK);
  }

 private:
  int number_;
};

// Both ends close on exec.
struct Pipe {
  Fd read{};
  Fd write{};

  // False with errno set when there are no more descriptors.
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = Fd(ends[0]);
    write = Fd(ends[1]);
    return true;
  }
};

}  // namespace emq
