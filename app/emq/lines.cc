// SPDX-License-Identifier: MIT
#include "lines.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace emq {

using echomq::Result;

// Answers whether there is anything more.
Result<bool> Lines::fill() {
  for (;;) {
    const auto got = ::read(fd_, buffer_.data(), buffer_.size());
    if (got >= 0) {
      at_ = 0;
      end_ = static_cast<std::size_t>(got);
      return got > 0;
    }
    if (errno != EINTR) {
      const auto reason = std::generic_category().message(errno);
      return echomq::Error{echomq::ErrorCode::invalid_argument,
                           "the input cannot be read: " + reason,
                           {{"reason", reason}}};
    }
  }
}

Result<std::optional<std::string>> Lines::next() {
  std::string line;
  bool any = false;
  for (;;) {
    if (at_ == end_) {
      const auto more = fill();
      if (!more) return more.error();
      if (!*more) break;
    }
    any = true;
    const char* const from = buffer_.data() + at_;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', end_ - at_));
    const auto size = newline ? static_cast<std::size_t>(newline - from) : end_ - at_;
    line.append(from, size);
    at_ += size + (newline ? 1 : 0);
    // One more for the "\r" that may still go.
    if (line.size() > limit_ + 1) break;
    if (newline) break;
  }
  if (!any) return std::optional<std::string>();
  ++number_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.size() > limit_)
    return echomq::Error{
        echomq::ErrorCode::too_large,
        "longer than " + std::to_string(limit_) + " bytes, the limit of a job's data",
        {{"expected", std::to_string(limit_)}}};
  return std::optional<std::string>(std::move(line));
}

bool Lines::can_rewind() {
  if (start_ < 0) start_ = ::lseek(fd_, 0, SEEK_CUR);
  return start_ >= 0;
}

void Lines::rewind() {
  ::lseek(fd_, start_, SEEK_SET);
  at_ = end_ = 0;
  number_ = 0;
}

}  // namespace emq
