// SPDX-License-Identifier: MIT
// WorkerCore: the running worker. It puts the pure parts (Lifecycle, settle) to work on the
// connection, and the handlers on the pool. All of it runs on the loop but the handlers themselves
// and the public calls.
#pragma once

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "echomq/worker.h"
#include "queue/queue_core.h"
#include "worker/evictor.h"
#include "worker/extender.h"
#include "worker/lifecycle.h"
#include "worker/progress_sender.h"
#include "worker/promoter.h"
#include "worker/reconciler.h"
#include "worker/runner.h"
#include "worker/running_job.h"
#include "worker/settler.h"
#include "worker/sweeper.h"
#include "worker/worker_report.h"

namespace echomq::inline v2 {

class WorkerCore : public std::enable_shared_from_this<WorkerCore> {
 public:
  WorkerCore(std::shared_ptr<QueueCore> queue, WorkerOptions options);

  // Any thread.
  void start(RawHandler handler);
  void request_stop();
  // Ends the pool's threads, which hold on to this core: before the last handle goes.
  void join() { runner_->join(); }
  // The process is to end in spite of handlers that do not. From then on nobody waits for them, and
  // what they use is kept for ever.
  void give_up() { given_up_ = true; }
  [[nodiscard]] bool given_up() const { return given_up_; }
  void abandon() {
    kept_ = shared_from_this();
    runner_->abandon();
  }
  [[nodiscard]] const WorkerReport& report() const { return report_; }
  // Ids of the handlers that are running now, separated by blanks.
  [[nodiscard]] std::string running_ids() const { return runner_->running_ids(); }
  [[nodiscard]] const QueueCore& queue() const { return *queue_; }
  void log(LogLevel level, const std::string& text) const { queue_->client()->log(level, text); }

 private:
  using Jobs = std::vector<std::shared_ptr<RunningJob>>;
  struct Claim;

  void begin();
  void fail(const Error& why);
  void step();
  void arm_timer();
  void claim(unsigned count);
  void claimed(const std::shared_ptr<Claim>& claim, Result<wire::Reply> reply);
  void claim_refused(const Error& error);
  void load(const std::shared_ptr<Claim>& claim);
  void loaded(const std::shared_ptr<Claim>& claim);
  void run(const std::shared_ptr<RunningJob>& job);
  void ended(const Runner::Ended& runs);
  void end_attempt(const std::shared_ptr<RunningJob>& job, const std::optional<Outcome>& outcome);
  void recovered(Sweeper::Recovered jobs) { report_.recovered(jobs.requeued + jobs.failed); }
  void settled(const Settlement& settlement, const std::string& status);
  void block();
  void unblocked(Result<wire::Reply> reply);
  void block_refused(const std::string& text);
  void promote();
  void put_marker(std::initializer_list<std::string_view> words);
  void renew_tick();
  void lease_lost(const std::shared_ptr<RunningJob>& job);
  void reconnected();
  void give_back_unstarted();
  void send_progress();
  void stop_now();
  void check_stopped();

  std::shared_ptr<QueueCore> queue_;
  WorkerOptions options_;
  Lifecycle life_;
  std::shared_ptr<Runner> runner_;
  std::shared_ptr<Promoter> promoter_;
  std::shared_ptr<Reconciler> reconciler_;
  std::shared_ptr<Extender> extender_;
  std::shared_ptr<ProgressSender> progress_;
  std::shared_ptr<Evictor> evictor_;
  std::shared_ptr<Settler> settler_;
  std::shared_ptr<Sweeper> sweeper_;
  std::shared_ptr<wire::Connection> lane_;
  std::shared_ptr<wire::Loop::Timer> timer_;
  std::int64_t timer_for_ms_ = 0;
  std::shared_ptr<wire::Loop::Timer> renew_timer_;
  std::shared_ptr<ClientCore::Hook> reconnect_hook_;
  std::shared_ptr<ClientCore::Hook> permit_hook_;
  std::minstd_rand random_{std::random_device{}()};
  WorkerReport report_;
  RunningJobs running_;
  std::uint64_t runs_ = 0;                     // jobs claimed so far
  std::shared_ptr<RunningJob> permit_holder_;  // the one job that has been through a crash
  unsigned claims_ = 0;                        // claims and loads on their way
  unsigned puts_ = 0;                          // marker writes on their way
  unsigned renewals_ = 0;                      // ticks since the last sweep of trash
  bool began_ = false;
  bool stopping_ = false;

  std::atomic<bool> given_up_{false};
  std::shared_ptr<WorkerCore> kept_;  // itself, once abandoned
};

}  // namespace echomq::inline v2
