// SPDX-License-Identifier: MIT
// Marker: a worker's side of the queue's marker (protocol.md 5.6). It waits for a mark on a
// connection of its own, because the wait blocks in the server, and puts back what others need.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "queue/queue_core.h"
#include "wire/connection.h"
#include "wire/loop.h"

namespace echomq::inline v2 {

class Marker : public std::enable_shared_from_this<Marker> {
 public:
  struct Mark {
    enum class Kind {
      none,  // the wait timed out, or its answer was lost: a mark may have been popped all the same
      wake,  // "0": something can be claimed
      timer,  // "1": the next delayed job is due at `due_ms`
      gate,   // "2": a gate that is closed opens at `due_ms`
      tick,   // "3": the next tick of a scheduler is due at `due_ms`
    };
    Kind kind = Kind::none;
    std::int64_t due_ms = 0;
  };
  struct Events {
    // What a wait ended with; the error of a server that refused it.
    std::function<void(const Result<Mark>&)> popped;
    // A wait has not ended when it should have, so its connection may be dead, and a mark that
    // others put in lost: told again and again, until the wait ends.
    std::function<void()> late;
    // A mark that was put back is there, or its answer was lost.
    std::function<void()> put_back;
  };

  // A wait ends after `poll`, whatever comes.
  Marker(std::shared_ptr<QueueCore> queue, std::chrono::milliseconds poll, Events events)
      : queue_(std::move(queue)), poll_(poll), events_(std::move(events)) {}

  void open();
  // Ends a wait, which is not told any more.
  void close();

  // One at a time.
  void wait();
  void put_wake();
  void put_timer(std::int64_t due_ms);
  // Nobody keeps the time of the gate: the worker that this wakes learns it from its claim.
  void put_gate();
  void put_tick(std::int64_t due_ms);
  // Nothing that was put back is on its way.
  [[nodiscard]] bool idle() const { return puts_ == 0; }

 private:
  void answered(Result<wire::Reply> reply);
  void watch(std::chrono::milliseconds wait);
  void overdue();
  void put(std::initializer_list<std::string_view> command);

  std::shared_ptr<QueueCore> queue_;
  std::chrono::milliseconds poll_;
  Events events_;
  std::shared_ptr<wire::Connection> lane_;
  std::shared_ptr<wire::Loop::Timer> watch_;
  unsigned puts_ = 0;  // on their way
  bool closed_ = false;
};

}  // namespace echomq::inline v2
