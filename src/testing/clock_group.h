// SPDX-License-Identifier: MIT
// ClockGroup: the clients of a test that stand at one time, and are set ahead together.
//
// Thread-safety: all members from any thread but a client's loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "client/client_core.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

class ClockGroup : public std::enable_shared_from_this<ClockGroup> {
 public:
  // The one that this client follows: the same each time.
  static std::shared_ptr<ClockGroup> of(const std::shared_ptr<ClientCore>& client);

  // Errors: wrong_state, see testing::Clock.
  Result<void> join(const std::shared_ptr<ClientCore>& client);
  // Errors: invalid_argument, see testing::Clock.
  Result<void> advance(std::chrono::milliseconds time);
  [[nodiscard]] std::int64_t now_ms() const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::weak_ptr<ClientCore>> clients_;
  std::chrono::milliseconds jumped_{0};
};

}  // namespace echomq::inline v2
