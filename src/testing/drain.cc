// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/bad_option.h"
#include "echomq/testing.h"
#include "testing/clock_group.h"
#include "worker/pool_runner.h"
#include "worker/worker_core.h"
#include "worker/worker_options.h"

namespace echomq::inline v2::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long nothing must have come before the queue is asked whether anything will.
constexpr milliseconds kQuiet{1};

// A worker with one thread, which hands each job over to the thread that drains. That one decides,
// before it hands the outcome back, whether the worker goes on: so no job is taken in vain.
class Drain {
 public:
  Drain(RawQueue& queue, RawHandler handler, DrainSettings settings)
      : queue_(queue),
        settings_(std::move(settings)),
        handler_(around(settings_.worker.middleware, std::move(handler))),
        until_(steady_clock::now() + settings_.deadline) {
    settings_.worker.concurrency = 1;
    settings_.worker.stop_when_empty = false;
    settings_.worker.poll = WorkerOptions{}.poll;
  }

  Result<DrainReport> run() {
    const auto runner = std::make_shared<PoolRunner>(
        queue_.core(), [this](RawJob& job) { return hand_over(job); },
        settings_.worker.concurrency);
    worker_ =
        std::make_shared<WorkerCore>(queue_.core(), settings_.worker, v2::check(settings_.worker));
    worker_->start(runner, [this](const Settlement& settlement, std::string_view status) {
      settled(settlement, status);
    });
    while (!worker_->report().wait_stopped(milliseconds(0)))
      if (!serve() && !stopping_) look();
    runner->join();
    if (auto status = worker_->report().status(); !status) return status.error();
    if (problem_) return *problem_;
    auto left = queue_.counts();
    if (!left) return left.error();
    report_.left = *left;
    return std::move(report_);
  }

 private:
  // On the worker's thread.
  Outcome hand_over(RawJob& job) {
    std::unique_lock lock(mutex_);
    job_ = &job;
    changed_.notify_all();
    const auto answered = [this] { return outcome_.has_value(); };
    if (!changed_.wait_until(lock, until_, answered)) {
      worker_->request_stop();  // sets the handler's stop token
      changed_.wait(lock, answered);
    }
    job_ = nullptr;
    auto outcome = *std::move(outcome_);
    outcome_.reset();
    return outcome;
  }

  // Runs the job that is handed over, if one comes soon; answers whether one did.
  bool serve() {
    RawJob* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, kQuiet, [this] { return job_ && !outcome_; })) return false;
      job = job_;
    }
    auto outcome = handler_(*job);
    ++report_.runs;
    after(*job, outcome);
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    changed_.notify_all();
    return true;
  }

  void after(const RawJob& job, const Outcome& outcome) {
    if (stopping_) return;
    const auto runs = ++runs_[job.id()];
    const bool again =
        outcome.kind() == Outcome::Kind::retry || outcome.kind() == Outcome::Kind::rate_limited ||
        outcome.kind() == Outcome::Kind::wait_for_children ||
        (outcome.kind() == Outcome::Kind::fail && job.attempt() < job.attempts_allowed());
    if (again && runs >= settings_.max_runs_per_job)
      return stop(Error{ErrorCode::wrong_state,
                        "job " + job.id() + " (\"" + job.name() + "\") of \"" + job.queue() +
                            "\" has run " + std::to_string(runs) +
                            " times and is to run again: " + outcome.text(),
                        {{"queue", job.queue()},
                         {"value", job.id()},
                         {"reason", outcome.text()},
                         {"expected", "at most " + std::to_string(settings_.max_runs_per_job) +
                                          " runs (max_runs_per_job)"}}});
    if (steady_clock::now() >= until_) stop(late("after a run of job " + job.id()));
  }

  // Nothing has come for a moment: is anything going to?
  void look() {
    const auto counts = queue_.counts();
    // The worker makes the queue when it opens it, and waits for the server where it has to.
    if (!counts && !is_passing(counts.error())) return stop(counts.error());
    if (steady_clock::now() >= until_) return stop(late(counts ? told(*counts) : ""));
    if (!counts || counts->active > 0) return;
    const auto next_ms = next_time(*counts);
    // Nothing moved meanwhile, so what was read belongs together.
    const auto still = queue_.counts();
    if (!next_ms || !still || told(*still) != told(*counts)) return;
    if (*next_ms == 0) return stop();
    go_to(*next_ms);
  }

  // When the next job of a queue without running ones may start; 0: at no time that is known,
  // nullopt: it may now.
  std::optional<std::int64_t> next_time(const Counts& counts) {
    std::int64_t next_ms = 0;
    if (counts.waiting + counts.prioritized > 0) {
      const auto limits = queue_.limits();
      if (!limits || limits->gate == QueueGate::open || limits->gate == QueueGate::concurrency)
        return std::nullopt;
      next_ms = limits->opens_ms;
    }
    if (counts.delayed > 0) {
      const auto page = queue_.jobs(JobState::delayed, {.limit = 1});
      if (!page || page->jobs.empty()) return std::nullopt;
      const auto due_ms = page->jobs.front().due_ms;
      next_ms = next_ms == 0 ? due_ms : std::min(next_ms, due_ms);
    }
    return next_ms;
  }

  void go_to(std::int64_t time_ms) {
    const auto& client = queue_.core()->client();
    const milliseconds ahead(time_ms - client->now_ms());
    if (ahead <= milliseconds(0)) return;  // it is due: the worker is about to see that
    if (!settings_.with_delayed || report_.jumped + ahead > settings_.horizon) return stop();
    if (auto jumped = ClockGroup::of(client)->advance(ahead); !jumped) return stop(jumped.error());
    report_.jumped += ahead;
  }

  static bool is_passing(const Error& error) {
    return error.code == ErrorCode::not_found || is_weather(error.code);
  }

  void stop(std::optional<Error> why = std::nullopt) {
    stopping_ = true;
    problem_ = std::move(why);
    worker_->request_stop();
  }

  static std::string told(const Counts& counts) {
    return "waiting " + std::to_string(counts.waiting) + ", prioritized " +
           std::to_string(counts.prioritized) + ", delayed " + std::to_string(counts.delayed) +
           ", active " + std::to_string(counts.active);
  }

  [[nodiscard]] Error late(const std::string& where) const {
    return {ErrorCode::timeout,
            "\"" + queue_.name() + "\" is not drained within " +
                std::to_string(settings_.deadline.count()) + " ms, after " +
                std::to_string(report_.runs) + " runs; " + where,
            {{"queue", queue_.name()}}};
  }

  // On the loop; run() reads it when the worker has stopped.
  void settled(const Settlement& settlement, std::string_view status) {
    using Kind = Settlement::Kind;
    const auto& job = settlement.job->job;
    if (status != "ok" && status != "done") {
      ++report_.refused;
      return;
    }
    const bool put_off = settlement.kind == Kind::retry
                             ? settlement.attempts_made == job.attempts_made
                             : settlement.kind == Kind::wait || (settlement.kind == Kind::release &&
                                                                 settlement.attempts_started > 0);
    if (put_off) ++report_.put_off;
    if (settlement.kind == Kind::complete) ++report_.completed;
    if (put_off || settlement.kind == Kind::complete || settlement.kind == Kind::release) return;
    const bool final = settlement.kind == Kind::fail;
    ++(final ? report_.failed : report_.retried);
    report_.failures.push_back({job.id, job.name, job.attempts_made + 1, settlement.text, final});
  }

  RawQueue& queue_;
  DrainSettings settings_;
  RawHandler handler_;
  steady_clock::time_point until_;
  std::shared_ptr<WorkerCore> worker_;

  std::mutex mutex_;  // guards what follows, up to the blank line
  std::condition_variable changed_;
  RawJob* job_ = nullptr;           // handed over
  std::optional<Outcome> outcome_;  // handed back

  std::map<std::string, unsigned> runs_;
  bool stopping_ = false;
  std::optional<Error> problem_;
  DrainReport report_;
};

std::optional<Error> check(const DrainSettings& settings) {
  if (settings.horizon < milliseconds(0) || settings.horizon > kMaxJump)
    return bad_option("horizon", std::to_string(settings.horizon.count()),
                      "0 milliseconds to fifty years");
  if (settings.deadline < milliseconds(1) || settings.deadline > std::chrono::hours(24))
    return bad_option("deadline", std::to_string(settings.deadline.count()),
                      "1 millisecond to a day");
  if (settings.max_runs_per_job < 1 || settings.max_runs_per_job > 1'000'000)
    return bad_option("max_runs_per_job", std::to_string(settings.max_runs_per_job),
                      "1 to 1,000,000");
  return std::nullopt;
}

}  // namespace

Result<DrainReport> drain_raw(RawQueue& queue, RawHandler handler, DrainSettings settings) {
  if (auto bad = check(settings)) return *bad;
  if (queue.core()->client()->loop().inside())
    return Error{ErrorCode::invalid_argument,
                 "a drain from inside a callback of the I/O thread would wait for itself",
                 {}};
  return Drain(queue, std::move(handler), std::move(settings)).run();
}

}  // namespace echomq::inline v2::testing
