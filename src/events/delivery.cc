// SPDX-License-Identifier: MIT
#include "events/delivery.h"

namespace echomq::inline v2 {

bool Delivery::deliver(const std::vector<Event>& events) {
  for (const auto& event : events) {
    if (!begin_call()) return false;
    callback_(event);
    if (!end_call(event)) return false;
  }
  return true;
}

bool Delivery::begin_call() {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  calling_ = std::this_thread::get_id();
  return true;
}

bool Delivery::end_call(const Event& event) {
  const std::lock_guard lock(mutex_);
  calling_ = {};
  last_id_ = event.id;
  returned_.notify_all();
  return !ended_;
}

void Delivery::end(bool wait) {
  std::unique_lock lock(mutex_);
  ended_ = true;
  if (!wait || calling_ == std::this_thread::get_id()) return;
  returned_.wait(lock, [this] { return calling_ == std::thread::id(); });
}

void Delivery::begin_at(std::string id) {
  const std::lock_guard lock(mutex_);
  if (last_id_.empty()) last_id_ = std::move(id);
}

std::string Delivery::last_id() const {
  const std::lock_guard lock(mutex_);
  return last_id_;
}

}  // namespace echomq::inline v2
