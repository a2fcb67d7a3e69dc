// SPDX-License-Identifier: MIT
// Delivery: hands events to a listener's callback, one after the other, on whatever thread that is,
// and knows how far the listener has come.
//
// Thread-safety: deliver() on one thread at a time; the others from any thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "echomq/events.h"

namespace echomq::inline v2 {

class Delivery {
 public:
  explicit Delivery(EventCallback callback) : callback_(std::move(callback)) {}

  // Answers false when the delivery was ended before the last of them.
  bool deliver(const std::vector<Event>& events);
  // No further call of the callback. With `wait` the one that is running has returned as well,
  // unless that is what calls this.
  void end(bool wait);

  void begin_at(std::string id);
  [[nodiscard]] std::string last_id() const;

 private:
  bool begin_call();
  bool end_call(const Event& event);

  EventCallback callback_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable returned_;
  std::string last_id_;
  std::thread::id calling_{};  // the thread that is in the callback
  bool ended_ = false;
};

}  // namespace echomq::inline v2
