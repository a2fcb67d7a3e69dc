// SPDX-License-Identifier: MIT
// PoolRunner: runs a worker's handler on the threads of a pool. Runs that end together are told to
// the loop together, because each call of the loop has its price and their ends can travel
// together.
//
// Thread-safety: on the loop only, but set_concurrency() and cancel() from any thread, and
// running_ids(), join() and abandon() from any but the pool's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/worker.h"
#include "queue/queue_core.h"
#include "worker/ahead.h"
#include "worker/pool.h"
#include "worker/runner.h"

namespace echomq::inline v2 {

class PoolRunner final : public Runner, public std::enable_shared_from_this<PoolRunner> {
 public:
  PoolRunner(std::shared_ptr<QueueCore> queue, RawHandler handler, unsigned concurrency);

  void run(const Jobs& jobs) override;
  // Those included that are claimed ahead.
  [[nodiscard]] unsigned capacity(std::size_t held) const override;
  [[nodiscard]] unsigned most(std::size_t held) const override;
  [[nodiscard]] unsigned concurrency() const { return concurrency_; }
  bool withdraw(const std::shared_ptr<RunningJob>& job) override;
  void stop(const Result<void>& status) override;
  // How many handlers may run at the same time, from now on; the core is to be told.
  void set_concurrency(unsigned concurrency);
  // Asks those runs to stop that have not ended, of one job or of all; answers how many they are.
  // One that has not begun begins all the same, and finds itself asked.
  std::size_t cancel(std::optional<std::string_view> only, const std::string& reason);
  // Ids of the handlers that are running now, separated by blanks.
  [[nodiscard]] std::string running_ids() const;
  // Ends the threads, which hold on to this runner: before the last handle goes.
  void join() { pool_.join(); }
  // Lets go of threads that nobody waits for any more; the runner must outlive them.
  void abandon() { pool_.abandon(); }

 private:
  void run_one(std::shared_ptr<RunningJob> job);
  bool begin(const std::shared_ptr<RunningJob>& job);
  void end(std::shared_ptr<RunningJob> job, Outcome outcome, std::chrono::nanoseconds took);
  void tell_ended();
  void watch();
  void look_at_waiting(std::uint64_t due);

  std::shared_ptr<QueueCore> queue_;
  RawHandler handler_;
  std::atomic<unsigned> concurrency_;

  mutable std::mutex mutex_;  // guards what follows, and RunningJob::begun of its jobs
  bool stopped_ = false;
  RunningJobs jobs_;  // from run() until withdraw(), or the end of the run
  Ended untold_;
  bool telling_ = false;  // a call of the loop is on its way
  Ahead ahead_;
  std::uint64_t taken_ = 0;  // jobs so far, and how many of them wait no more
  std::uint64_t left_ = 0;

  bool watching_ = false;  // on the loop only

  Pool pool_;  // last, so that it goes first: its threads use all of the above
};

}  // namespace echomq::inline v2
