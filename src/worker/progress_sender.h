// SPDX-License-Identifier: MIT
// ProgressSender: tells the server the progress that handlers report. One call at a time, and only
// the latest value of each job: a handler may report as often as it likes, and the server is asked
// no more than it can answer. Where more jobs report than a call holds, they take turns.
//
// Thread-safety: on the loop only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "queue/queue_core.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {

// The jobs that have something to report, in the order of their turns: those behind the one that
// was told last go first. Pure.
std::vector<std::shared_ptr<RunningJob>> in_turn(const RunningJobs& running,
                                                 std::uint64_t last_told);

class ProgressSender : public std::enable_shared_from_this<ProgressSender> {
 public:
  // Told of a job whose progress was refused, because it no longer has the lease that it was
  // claimed with. It may have ended meanwhile; then that is as it should be.
  using Lost = std::function<void(const std::shared_ptr<RunningJob>&)>;

  // `sent` is told when a call is through: progress that came meanwhile can be sent.
  ProgressSender(std::shared_ptr<QueueCore> queue, Lost lost, std::function<void()> sent)
      : queue_(std::move(queue)), lost_(std::move(lost)), sent_(std::move(sent)) {}

  // Sends what is new, unless a call is on its way.
  void send(const RunningJobs& running);

 private:
  using Reports = std::vector<std::pair<std::shared_ptr<RunningJob>, std::string>>;

  Reports take(const RunningJobs& running);
  void answered(Reports& reports, const Result<wire::Reply>& reply);

  std::shared_ptr<QueueCore> queue_;
  Lost lost_;
  std::function<void()> sent_;
  bool in_flight_ = false;
  std::uint64_t last_told_ = 0;  // RunningJob::order: the turn is of the next one
};

}  // namespace echomq::inline v2
