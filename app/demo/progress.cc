// SPDX-License-Identifier: MIT
#include "demo/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace demo {
namespace {

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

Progress::Progress() : terminal_(is_terminal()) {}

Progress::~Progress() { clear(); }

void Progress::say(const std::string& line) {
  clear();
  fmt::print(stderr, "{}\n", line);
}

void Progress::show(const std::string& what, std::size_t done, std::size_t total) {
  if (!terminal_) return;
  constexpr std::size_t kWidth = 40;
  const auto part = std::min(done, total);
  const auto filled = total == 0 ? kWidth : part * kWidth / total;
  auto bar = fmt::format("  {:<9} [{:#<{}}{:.<{}}] {}/{}", what, "", filled, "", kWidth - filled,
                         done, total);
  if (bar == bar_) return;
  fmt::print(stderr, "\r\x1b[K{}", bar);
  std::fflush(stderr);
  bar_ = std::move(bar);
}

void Progress::clear() {
  if (bar_.empty()) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  bar_.clear();
}

}  // namespace demo
