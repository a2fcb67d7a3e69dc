// SPDX-License-Identifier: MIT
// What handlers of a test did, and how a test holds them back. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace echomq::test {

// The ids (or whatever is noted) of the runs, in the order of their starts.
class Runs {
 public:
  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    ++times_[what];
    all_.push_back(std::move(what));
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  // What was noted -> how often.
  [[nodiscard]] std::map<std::string, int> times() const {
    const std::lock_guard lock(mutex_);
    return times_;
  }
  [[nodiscard]] int times(const std::string& what) const {
    const auto all = times();
    const auto found = all.find(what);
    return found == all.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
  std::map<std::string, int> times_;
};

// Handlers wait at it until the test opens it; so that a failing test ends, not for ever. Make it
// before the worker: the worker's end waits for its handlers.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return open_; });
    --inside_;
  }
  // How many wait at it now.
  [[nodiscard]] unsigned waiting() const {
    const std::lock_guard lock(mutex_);
    return inside_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  unsigned inside_ = 0;
};

}  // namespace echomq::test
