// SPDX-License-Identifier: MIT
// A listener that notes what it is told, for tests. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "echomq/events.h"
#include "support/deadline.h"

namespace echomq::test {

class Heard {
 public:
  // Copies share what was heard.
  [[nodiscard]] EventCallback callback() const {
    return [all = all_](const Event& event) {
      const std::lock_guard lock(all->mutex);
      all->events.push_back(event);
    };
  }
  [[nodiscard]] std::vector<Event> all() const {
    const std::lock_guard lock(all_->mutex);
    return all_->events;
  }
  // "added 1", "mine", "gap 3".
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> out;
    for (const auto& event : all()) out.push_back(word_of(event));
    return out;
  }
  [[nodiscard]] std::size_t count() const { return all().size(); }
  [[nodiscard]] std::size_t count(EventType type) const {
    std::size_t found = 0;
    for (const auto& event : all())
      if (event.type == type) ++found;
    return found;
  }
  bool wait_for(std::size_t events) const {
    return eventually([&] { return count() >= events; });
  }
  bool wait_for(EventType type, std::size_t events = 1) const {
    return eventually([&] { return count(type) >= events; });
  }

  static std::string word_of(const Event& event) {
    if (event.type == EventType::gap) return "gap " + std::to_string(event.missed);
    return event.job.empty() ? event.name : event.name + " " + event.job;
  }

 private:
  struct All {
    std::mutex mutex;
    std::vector<Event> events;
  };
  std::shared_ptr<All> all_ = std::make_shared<All>();
};

}  // namespace echomq::test
