// SPDX-License-Identifier: MIT
// ProgressSender: tells the server the progress that handlers report. One call at a time, and only
// the latest value of each job: a handler may report as often as it likes, and the server is asked
// no more than it can answer.
//
// Thread-safety: on the loop only.
#pragma once

#include <functional>
#include <memory>

#include "queue/queue_core.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {

class ProgressSender : public std::enable_shared_from_this<ProgressSender> {
 public:
  // `sent` is told when a call is through: progress that came meanwhile can be sent.
  ProgressSender(std::shared_ptr<QueueCore> queue, std::function<void()> sent)
      : queue_(std::move(queue)), sent_(std::move(sent)) {}

  // Sends what is new, unless a call is on its way.
  void send(const RunningJobs& running);

 private:
  std::shared_ptr<QueueCore> queue_;
  std::function<void()> sent_;
  bool in_flight_ = false;
};

}  // namespace echomq::inline v2
