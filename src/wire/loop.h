// SPDX-License-Identifier: MIT
// Loop: the one I/O thread of a client. Everything that touches a connection runs on it, one task
// after the other, so that code above needs no locks of its own.
//
// Thread-safety: post() and inside() from any thread; after() on the loop only.
#pragma once

#include <chrono>
#include <memory>

#include "base/function.h"

namespace asio {
class io_context;
}

namespace echomq::inline v2::wire {

class Loop {
 public:
  // A pending call; dropping the handle leaves it pending, cancel() forgets it.
  class Timer {
   public:
    virtual ~Timer() = default;
    virtual void cancel() = 0;
  };

  Loop();
  // Ends the thread after the task at hand; tasks that are still queued are destroyed unrun.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void post(Task task);
  [[nodiscard]] bool inside() const noexcept;
  std::shared_ptr<Timer> after(std::chrono::milliseconds delay, Task task);
  [[nodiscard]] asio::io_context& context() noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace echomq::inline v2::wire
