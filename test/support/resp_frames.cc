// SPDX-License-Identifier: MIT
#include "support/resp_frames.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace echomq::test {

std::optional<std::string> RespFrames::next() {
  while (!foreign_) {
    if (string_ > 0) {
      const auto there = std::min(string_, buffer_.size() - at_);
      at_ += there;
      string_ -= there;
      if (string_ > 0) return std::nullopt;
      if (complete()) return take();
      continue;
    }
    const auto end = buffer_.find("\r\n", at_);
    if (end == std::string::npos) break;
    const auto line = std::string_view(buffer_).substr(at_, end - at_);
    at_ = end + 2;
    if (begin(line.empty() ? '?' : line[0], line.empty() ? line : line.substr(1)) && complete())
      return take();
  }
  if (!foreign_ || buffer_.empty()) return std::nullopt;
  at_ = buffer_.size();
  return take();
}

// True when the line is a whole value.
bool RespFrames::begin(char type, std::string_view line) {
  long count = 0;
  std::from_chars(line.data(), line.data() + line.size(), count);
  const auto size = static_cast<std::size_t>(std::max(count, 0L));
  switch (type) {
    case '+':
    case '-':
    case ':':
    case ',':
    case '#':
    case '_':
    case '(': return true;
    case '$':
    case '=':
    case '!':
      if (count < 0) return true;
      string_ = size + 2;
      return false;
    case '*':
    case '~':
    case '>':
      if (size > 0) missing_.push_back(size);
      return size == 0;
    case '%':
      if (size > 0) missing_.push_back(2 * size);
      return size == 0;
    case '|': missing_.push_back(2 * size + 1); return false;  // with the value that it describes
    default: foreign_ = true; return false;
  }
}

// A value is whole; answers whether the message is.
bool RespFrames::complete() {
  while (!missing_.empty()) {
    if (--missing_.back() > 0) return false;
    missing_.pop_back();
  }
  return true;
}

std::string RespFrames::take() {
  std::string message = buffer_.substr(0, at_);
  buffer_.erase(0, at_);
  at_ = 0;
  return message;
}

}  // namespace echomq::test
