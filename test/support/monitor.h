// SPDX-License-Identifier: MIT
// A monitor (probe/monitor.h) of a server of the test's own.
#pragma once

#include <stdexcept>

#include "probe/monitor.h"
#include "support/server.h"

namespace echomq::test {

class Monitor {
 public:
  explicit Monitor(const TestServer& server) : listener_(server.connect()) {
    if (const auto refused = monitor_.start(); !refused.empty())
      throw std::runtime_error("MONITOR: " + refused);
  }

  std::vector<MonitorLine> take(RawClient& redis) { return monitor_.take(redis); }

 private:
  RawClient listener_;
  probe::Monitor monitor_{listener_};
};

}  // namespace echomq::test
