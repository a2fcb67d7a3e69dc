// SPDX-License-Identifier: MIT
// Intake: how jobs come to a worker. It does what a Lifecycle decides: claims, waits on the marker,
// keeps the time of delayed jobs and promotes them, and that of schedulers, which it fires; and it
// knows which refusals of the server pass.
//
// Thread-safety: on the loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "echomq/worker.h"
#include "queue/queue_core.h"
#include "schedule/firer.h"
#include "worker/claimer.h"
#include "worker/lifecycle.h"
#include "worker/marker.h"
#include "worker/promoter.h"

namespace echomq::inline v2 {

class Intake : public std::enable_shared_from_this<Intake> {
 public:
  struct Events {
    // Both as the claimer tells them. A job keeps its slot until ended(), fit or not; then step()
    // is due.
    std::function<void(Claimer::Jobs fit, Claimer::Jobs unfit)> loaded;
    std::function<void()> progress;
    // A claim is through, whatever became of it: step() is due, and idle() may have changed.
    std::function<void()> claim_ended;
    // A mark that was put back is through: idle() may have changed.
    std::function<void()> put_ended;
    // The worker stops when empty, and the queue is: from each step() on which that is so.
    std::function<void()> drained;
    // The worker cannot go on.
    std::function<void(const Error&)> failed;
  };

  static std::shared_ptr<Intake> make(const std::shared_ptr<QueueCore>& queue,
                                      const WorkerOptions& options, Events events);
  Intake(std::shared_ptr<QueueCore> queue, const WorkerOptions& options, Events events);

  void open();
  // Does what is to be done now.
  void step();
  // Something may have changed that no mark tells of; then step() is due, as after the next two.
  void look_again() { life_.look_again(); }
  // The server's clock is not where the timer was set by; then step() is due.
  void clock_jumped();
  // Asks whether a tick of a scheduler is due that nobody keeps the time of.
  void look_at_schedules();
  // Claims no more, or goes on; then step() is due.
  void pause(bool pause) { life_.pause(pause); }
  // How many jobs it may have brought that have not ended; then step() is due.
  void set_concurrency(unsigned concurrency) { life_.set_concurrency(concurrency); }
  void ended(const std::shared_ptr<RunningJob>& job);
  // Takes no more, and puts back into the marker what others need: at the next step().
  void stop();

  [[nodiscard]] std::uint64_t claims_sent() const { return claimer_->sent(); }
  // Loads included.
  [[nodiscard]] unsigned claims_on_their_way() const { return claimer_->on_their_way(); }
  // A claim or its load is on its way: jobs may yet come.
  [[nodiscard]] bool claiming() const { return !claimer_->idle(); }
  // Nothing is on its way that a stop must wait for.
  [[nodiscard]] bool idle() const { return claimer_->idle() && marker_->idle(); }

 private:
  void claimed(const Claimer::Claimed& claimed);
  void crashed_ready();
  void claim_refused(const Error& error);
  void open_anew();
  void popped(const Result<Marker::Mark>& mark);
  void wait_late();
  void wait_refused(const Error& error);
  void promote();
  void fire();
  void look_again_after(std::chrono::milliseconds pause);
  void arm_timer();

  std::shared_ptr<QueueCore> queue_;
  Events events_;
  Lifecycle life_;
  std::shared_ptr<Claimer> claimer_;
  std::shared_ptr<Marker> marker_;
  std::shared_ptr<Promoter> promoter_;
  std::shared_ptr<schedule::Firer> firer_;
  std::shared_ptr<wire::Loop::Timer> timer_;
  std::int64_t timer_for_ms_ = 0;  // when it ends; 0: there is none
};

}  // namespace echomq::inline v2
