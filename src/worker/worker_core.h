// SPDX-License-Identifier: MIT
// WorkerCore: the running worker, or consumer. It puts the parts together: the Intake brings jobs,
// the Runner works them, the Settler tells how that ended; meanwhile their leases are extended,
// their progress is sent, and jobs of dead workers are swept up. It knows what runs, and how to
// stop.
//
// Thread-safety: public members from any thread; the private ones are called on the loop only,
// unless they say otherwise.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "echomq/worker.h"
#include "flow/sweep.h"
#include "queue/queue_core.h"
#include "queue/relay.h"
#include "worker/evictor.h"
#include "worker/extender.h"
#include "worker/intake.h"
#include "worker/progress_sender.h"
#include "worker/reconciler.h"
#include "worker/releaser.h"
#include "worker/runner.h"
#include "worker/running_job.h"
#include "worker/settler.h"
#include "worker/sweeper.h"
#include "worker/worker_report.h"

namespace echomq::inline v2 {

class WorkerCore : public std::enable_shared_from_this<WorkerCore> {
 public:
  // `bad`: what is wrong with the options. It stops with that, and takes no job.
  WorkerCore(std::shared_ptr<QueueCore> queue, WorkerOptions options, std::optional<Error> bad)
      : queue_(std::move(queue)), options_(std::move(options)), bad_(std::move(bad)) {}

  // Once, before anyone else knows this core. `settled`, if any, is told on the loop how each run
  // ended and what the server answered.
  using Observer = std::function<void(const Settlement&, std::string_view status)>;
  void start(std::shared_ptr<Runner> runner, Observer settled = nullptr);
  void request_stop();
  // Takes no more jobs, or goes on.
  void pause(bool pause);
  [[nodiscard]] bool paused() const { return paused_; }
  // The runner works another number of jobs than before.
  void capacity_changed();
  // The process is to end in spite of handlers that do not. From then on nobody waits for them, and
  // what they use is kept for ever.
  void give_up() { given_up_ = true; }
  [[nodiscard]] bool given_up() const { return given_up_; }
  void abandon() { kept_ = shared_from_this(); }
  // Once it was asked to stop: it is kept until it has, whoever lets go of it.
  void keep_until_stopped();
  [[nodiscard]] const WorkerReport& report() const { return report_; }
  void log(LogLevel level, const std::string& text) const { queue_->client()->log(level, text); }

 private:
  void begin();
  void open();
  void open_later(const Error& why);
  void opened(const Result<void>& result);
  void fail(const Error& why);
  void step();
  void loaded(Claimer::Jobs fit, Claimer::Jobs unfit);
  void end_expired(Claimer::Jobs& jobs);
  void run(const Claimer::Jobs& jobs);
  void look_at_capacity();
  [[nodiscard]] Runner::Claims claims() const;
  void wanted();
  void let_in();
  void ended(const Runner::Ended& runs);
  void end_attempt(const std::shared_ptr<RunningJob>& job, const std::optional<Outcome>& outcome);
  void settled(const Settlement& settlement, const std::string& status);
  void recovered(Sweeper::Recovered jobs) { report_.recovered(jobs.requeued + jobs.failed); }
  void tick();
  void lease_lost(const std::shared_ptr<RunningJob>& job);
  void progress_told();
  void send_progress();
  void reconnected();
  void clock_jumped();
  void drained();
  void released();
  void stop_now();
  void give_back_unstarted(std::size_t most);
  void give_back_surplus();
  void check_stopped();

  std::shared_ptr<QueueCore> queue_;
  WorkerOptions options_;
  std::optional<Error> bad_;
  std::shared_ptr<Intake> intake_;
  std::shared_ptr<Runner> runner_;
  std::shared_ptr<Evictor> evictor_;
  std::shared_ptr<Settler> settler_;
  std::shared_ptr<Releaser> releaser_;
  std::shared_ptr<Relay> relay_;
  std::shared_ptr<flow::FlowSweep> flow_sweep_;
  bool drain_waits_ = false;  // for the two before
  std::shared_ptr<Sweeper> sweeper_;
  std::shared_ptr<Reconciler> reconciler_;
  std::shared_ptr<Extender> extender_;
  std::shared_ptr<ProgressSender> progress_;
  std::shared_ptr<wire::Loop::Timer> tick_;
  std::shared_ptr<ClientCore::Hook> reconnect_hook_;
  std::shared_ptr<ClientCore::Hook> jump_hook_;
  Observer observer_;
  std::minstd_rand random_{std::random_device{}()};
  WorkerReport report_;
  RunningJobs running_;
  unsigned ticks_ = 0;  // since the last sweep of trash
  bool step_posted_ = false;
  bool lowered_ = false;  // the capacity: some of what runs may not have begun
  bool opening_ = false;
  bool began_ = false;
  bool stopping_ = false;

  std::atomic<bool> paused_{false};
  std::atomic<bool> given_up_{false};
  std::shared_ptr<WorkerCore> kept_;  // itself, once abandoned
  std::shared_ptr<WorkerCore> until_stopped_;
};

}  // namespace echomq::inline v2
