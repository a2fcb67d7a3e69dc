// SPDX-License-Identifier: MIT
#include "echomq/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace echomq::inline v2 {
namespace {

// What the handler touches: lock-free atomics and one eventfd, nothing else.
std::atomic<int> g_count{0};
std::atomic<int> g_event{-1};
std::atomic<bool> g_taken{false};

struct Saved {
  int signal = 0;
  struct sigaction before {};
};
std::array<Saved, 8> g_saved{};
std::size_t g_saved_count = 0;

void on_signal(int) {
  const int saved_errno = errno;
  g_count.fetch_add(1);
  const std::uint64_t one = 1;
  // A failed write means that the counter is full, which wakes the waiters just as well.
  [[maybe_unused]] const auto written = write(g_event.load(), &one, sizeof one);
  errno = saved_errno;
}

}  // namespace

Signals::Signals(std::initializer_list<int> signals) {
  if (g_taken.exchange(true)) return;
  mine_ = true;
  g_count = 0;
  g_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const int signal : signals) {
    if (g_saved_count == g_saved.size()) break;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    auto& saved = g_saved.at(g_saved_count++);
    saved.signal = signal;
    sigaction(signal, &action, &saved.before);
  }
}

Signals::~Signals() {
  if (!mine_) return;
  while (g_saved_count > 0) {
    const auto& saved = g_saved.at(--g_saved_count);
    sigaction(saved.signal, &saved.before, nullptr);
  }
  close(g_event.exchange(-1));
  g_taken = false;
}

int Signals::count() const noexcept { return mine_ ? g_count.load() : 0; }

bool Signals::wait(int count, std::chrono::milliseconds timeout) const {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (this->count() < count) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd event{mine_ ? g_event.load() : -1, POLLIN, 0};
    poll(&event, 1, static_cast<int>(left.count()));
    // Emptied, so that the next wait sleeps; the count above is what decides.
    std::uint64_t seen = 0;
    if (mine_) [[maybe_unused]]
      const auto drained = read(g_event.load(), &seen, sizeof seen);
  }
  return true;
}

}  // namespace echomq::inline v2
