// SPDX-License-Identifier: MIT
// What a client logs, kept for a test to look at. Copies share the lines, which live as long as a
// client writes to them. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "echomq/client.h"

namespace echomq::test {

class Log {
 public:
  [[nodiscard]] std::function<void(LogLevel, std::string_view)> sink() const {
    return [lines = lines_](LogLevel, std::string_view text) {
      const std::lock_guard lock(lines->mutex);
      lines->text.append(text).append("\n");
    };
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(lines_->mutex);
    return lines_->text;
  }
  [[nodiscard]] bool says(std::string_view words) const {
    return text().find(words) != std::string::npos;
  }

 private:
  struct Lines {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

}  // namespace echomq::test
