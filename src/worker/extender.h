// SPDX-License-Identifier: MIT
// Extender: keeps the leases of running jobs from running out (protocol.md 5.3). A lease that the
// server gave to another run is lost: that run's handler should know, since its result will be
// refused.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "queue/queue_core.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {

class Extender : public std::enable_shared_from_this<Extender> {
 public:
  // Told of a job that no longer has the lease that it was claimed with. It may have ended while
  // the extension was on its way; then that is as it should be.
  using Lost = std::function<void(const std::shared_ptr<RunningJob>&)>;

  Extender(std::shared_ptr<QueueCore> queue, std::chrono::milliseconds lease, Lost lost)
      : queue_(std::move(queue)), lease_(lease), lost_(std::move(lost)) {}

  // From now on, all whose lease is not known to be lost. To be called well within each lease; no
  // answer, no harm: the next call tries again.
  void extend(const RunningJobs& running);

 private:
  using Batch = std::vector<std::shared_ptr<RunningJob>>;

  void send(Batch batch);

  std::shared_ptr<QueueCore> queue_;
  std::chrono::milliseconds lease_;
  Lost lost_;
};

}  // namespace echomq::inline v2
