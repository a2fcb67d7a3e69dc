// SPDX-License-Identifier: MIT
// Signals: an opt-in way for main() to wait for SIGTERM and SIGINT. The library itself installs
// none.
//
//   echomq::Signals stop{SIGTERM, SIGINT};
//   return worker.run_until(stop);
//
// While a Signals lives, the named signals are counted instead of ending the process; its
// destructor puts the earlier dispositions back. One at a time in a process: a second one counts
// nothing.
//
// Thread-safety: wait() may be called from any thread.
#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>

#include "echomq/export.h"

namespace echomq::inline v2 {

class ECHOMQ_API Signals {
 public:
  Signals(std::initializer_list<int> numbers);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // How many have come so far.
  [[nodiscard]] int count() const noexcept;
  // Waits until at least `count` have come, or the time is over; answers whether they have.
  bool wait(int count, std::chrono::milliseconds timeout) const;

 private:
  bool mine_ = false;  // the only one of this process
};

}  // namespace echomq::inline v2
