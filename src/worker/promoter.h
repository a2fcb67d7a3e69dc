// SPDX-License-Identifier: MIT
// Promoter: makes delayed jobs ready whose time has come. It peeks at the earliest ones and
// declares them to the script, which moves those that still are as they were seen (protocol.md
// 5.2): any number of workers may race.
//
// Thread-safety: on the loop only.
#pragma once

#include <cstdint>
#include <memory>

#include "base/function.h"
#include "queue/queue_core.h"

namespace echomq::inline v2 {

class Promoter : public std::enable_shared_from_this<Promoter> {
 public:
  struct Promoted {
    bool more_due = false;      // a call was filled, so there may be more
    std::int64_t again_ms = 0;  // nothing was promoted: the time to try again; 0: no need
  };
  using Done = Function<void(Promoted)>;

  explicit Promoter(std::shared_ptr<QueueCore> queue) : queue_(std::move(queue)) {}

  void promote(Done done);

 private:
  void peeked(const wire::Reply& earliest, Done done);

  std::shared_ptr<QueueCore> queue_;
};

}  // namespace echomq::inline v2
