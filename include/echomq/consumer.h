// SPDX-License-Identifier: MIT
// Consumer: fetches jobs and finishes them, without a handler. For programs that have a loop or
// threads of their own; where a handler will do, a Worker is less to write.
//
//   echomq::Consumer<> letters{mail, {.max_held = 16}};
//   while (auto letter = letters.fetch(5s).value()) {
//     send(letter->data());
//     letter->complete().value();
//   }
//
// Jobs are claimed on demand: never more than fetches wait for. What a claim brings too late, for a
// fetch that has given up, goes back to its place at once.
//
// A fetched job is owned by its FetchedJob, and its lease is extended in the background until that
// is finished. One that is destroyed unfinished gives its job back to the front of its line, which
// spends no attempt. As with a worker a job runs at least once: if the process dies or loses the
// server for longer than the lease, another worker takes the job, and what this one says of it is
// refused (stale). A job that has been through a crash is fetched when the process holds no other
// such.
//
// In between it does what a worker does for its queue: it makes delayed jobs ready while it waits,
// takes back the jobs of dead workers, and cleans up.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "echomq/export.h"
#include "echomq/job.h"
#include "echomq/queue.h"
#include "echomq/result.h"
#include "echomq/worker.h"

namespace echomq::inline v2 {

struct ConsumerOptions {
  // Jobs at the same time that are fetched and not finished, 1..10,000. While there are so many,
  // fetches wait.
  unsigned max_held = 1'000;
  // The rest is as in WorkerOptions.
  std::chrono::milliseconds lease = WorkerOptions{}.lease;
  unsigned max_crashes = WorkerOptions{}.max_crashes;
  unsigned max_starts = WorkerOptions{}.max_starts;
  Keep keep_completed = WorkerOptions{}.keep_completed;
  Keep keep_failed = WorkerOptions{}.keep_failed;
  std::chrono::milliseconds poll = WorkerOptions{}.poll;
  std::string name = "consumer";
  bool retry_undecodable = WorkerOptions{}.retry_undecodable;
};

class ConsumerCore;

using SettledCallback = std::function<void(Result<void>)>;

// A fetched job without types; FetchedJob is the one to use.
class ECHOMQ_API RawFetchedJob {
 public:
  RawFetchedJob(std::shared_ptr<ConsumerCore> consumer, std::shared_ptr<RunningJob> running);
  ~RawFetchedJob();
  RawFetchedJob(RawFetchedJob&& other) noexcept;
  RawFetchedJob& operator=(RawFetchedJob&& other) noexcept;

  // See FetchedJob.
  [[nodiscard]] RawJob& job() noexcept { return job_; }
  [[nodiscard]] bool held() const noexcept { return running_ != nullptr; }
  Result<void> finish(const Outcome& outcome);
  void async_finish(const Outcome& outcome, SettledCallback done);
  Result<void> release();

 private:
  [[nodiscard]] std::optional<Error> refusal(const Outcome* outcome) const;
  Result<void> settle(std::optional<Outcome> outcome);
  void let_go() noexcept;

  std::shared_ptr<ConsumerCore> consumer_;
  std::shared_ptr<RunningJob> running_;  // while it is held
  RawJob job_;
};

// A job that was fetched, until it is finished.
//
// How it ends is told to the server, and the server's answer is waited for. Errors of all members
// that end it: stale (another run owns the job, which it took over after the lease had ended; or
// what was said is not new to the server, after a lost connection), not_found (the job was removed
// meanwhile), timeout (no answer within ClientOptions::command_timeout, so it is unknown; it goes
// on being told in the background), connection_lost (unknown, and given up). After each of these
// and after success it is held no more. It is still held after too_large (a result of more than
// 256 KiB; nothing was sent) and invalid_argument (a blocking call on the I/O thread); wrong_state:
// it is not held.
//
// Thread-safety: one thread at a time; the members of its job() from any.
template <class T = std::string>
class FetchedJob {
 public:
  FetchedJob(RawFetchedJob raw, T data) : raw_(std::move(raw)), job_(raw_.job(), std::move(data)) {}

  // What a handler has: ids, attempts, data, progress, log, update_data. Its stop_token tells that
  // the lease was lost, or that the Consumer is gone.
  [[nodiscard]] Job<T>& job() noexcept { return job_; }
  [[nodiscard]] const T& data() const noexcept { return job_.data(); }
  [[nodiscard]] T& data() noexcept { return job_.data(); }

  // Completed; with a result, whatever a handler may return.
  Result<void> complete() { return finish(Outcome::done()); }
  template <class R>
  Result<void> complete(R&& result) {
    return finish(detail::to_outcome(std::forward<R>(result)));
  }
  // As the members of Outcome of these names.
  Result<void> fail(std::string reason) { return finish(Outcome::fail(std::move(reason))); }
  Result<void> fail(std::string reason, std::chrono::milliseconds delay) {
    return finish(Outcome::fail(std::move(reason), delay));
  }
  Result<void> retry_in(std::chrono::milliseconds delay) {
    return finish(Outcome::retry_in(delay));
  }
  // How its attempt ended, whichever way.
  Result<void> finish(const Outcome& outcome) { return raw_.finish(outcome); }
  // The same without waiting. `done`, unless it is empty, is called exactly once, on the I/O thread
  // or where ClientOptions::post decides, or before this returns (too_large, wrong_state).
  void async_finish(const Outcome& outcome, SettledCallback done = nullptr) {
    raw_.async_finish(outcome, std::move(done));
  }
  // Given back: it goes to the front of its line, and no attempt is spent. Over max_starts it
  // fails. To do the same without waiting, destroy it.
  Result<void> release() { return raw_.release(); }
  // Whether it is still to be finished.
  [[nodiscard]] bool held() const noexcept { return raw_.held(); }

 private:
  RawFetchedJob raw_;
  Job<T> job_;
};

using RawFetchCallback = std::function<void(Result<std::vector<RawFetchedJob>>)>;

// The consumer without types; Consumer is the one to use.
class ECHOMQ_API RawConsumer {
 public:
  RawConsumer(RawQueue queue, const ConsumerOptions& options);
  ~RawConsumer();
  RawConsumer(RawConsumer&&) noexcept;
  RawConsumer& operator=(RawConsumer&&) = delete;

  // See Consumer.
  Result<std::vector<RawFetchedJob>> fetch_many(unsigned max, std::chrono::milliseconds timeout);
  void async_fetch_many(unsigned max, std::chrono::milliseconds timeout, RawFetchCallback done);
  [[nodiscard]] Result<void> status() const;
  [[nodiscard]] WorkerStats stats() const;

  // For calls that come after others, when the RawConsumer may be gone: then they answer closed.
  [[nodiscard]] std::weak_ptr<ConsumerCore> core() const noexcept { return core_; }
  static void async_fetch_many(const std::weak_ptr<ConsumerCore>& core, unsigned max,
                               std::chrono::milliseconds timeout, RawFetchCallback done);

 private:
  std::shared_ptr<ConsumerCore> core_;
};

template <class T = std::string>
using FetchCallback = std::function<void(Result<std::vector<FetchedJob<T>>>)>;

// Thread-safety: every member may be called from any thread; fetches are served in their order.
template <class T = std::string>
class Consumer {
 public:
  // Bad options, a bad queue name and a foreign queue are answered by each fetch.
  explicit Consumer(Queue<T>& queue, const ConsumerOptions& options = {})
      : raw_(queue.raw(), options), retry_undecodable_(options.retry_undecodable) {}
  // Fetches that wait answer closed, and what was claimed and not fetched goes back to its place.
  // Jobs that are still held stay so: their stop tokens are set (StopReason::shutdown), their
  // leases extended, and they may be finished as ever. The last of the Consumer and its FetchedJobs
  // to go waits until the server has been told of all ends, as a Worker does.
  ~Consumer() = default;
  Consumer(Consumer&&) noexcept = default;
  Consumer& operator=(Consumer&&) = delete;

  // The next job; nullopt: none came within the time. 0 only looks: it takes what is ready. A claim
  // that is on its way when the time is over is waited for, within ClientOptions::command_timeout.
  // Data that is not a T fails its job as with a Worker ("decode: ..."), and the fetch goes on to
  // the next. While the server is away fetches wait for it, within their time.
  // Errors: invalid_argument (the timeout, 0 to ten years; the options; called on the I/O thread),
  // invalid_name, fence, wrong_type, denied, protocol, closed (the client was closed, or the
  // Consumer is gone). Those other than of the timeout and the thread are for good: see status().
  Result<std::optional<FetchedJob<T>>> fetch(std::chrono::milliseconds timeout) {
    auto jobs = fetch_many(1, timeout);
    if (!jobs) return jobs.error();
    if (jobs->empty()) return std::optional<FetchedJob<T>>();
    return std::optional<FetchedJob<T>>(std::move(jobs->front()));
  }
  // The next jobs, as soon as there is one: so many of those that are ready, 1..256. Empty: none
  // came within the time. Errors: as fetch, and invalid_argument (max).
  Result<std::vector<FetchedJob<T>>> fetch_many(unsigned max, std::chrono::milliseconds timeout) {
    const auto begin = std::chrono::steady_clock::now();
    auto left = timeout;
    while (true) {
      auto raw = raw_.fetch_many(max, left);
      if (!raw) return raw.error();
      const bool none = raw->empty();
      auto jobs = readable(*std::move(raw), retry_undecodable_);
      if (none || !jobs.empty()) return jobs;
      left = left_of(timeout, begin);
    }
  }
  // The same without waiting. `done` is called exactly once, on the I/O thread or where
  // ClientOptions::post decides, or before this returns (invalid_argument). It may fetch again.
  void async_fetch_many(unsigned max, std::chrono::milliseconds timeout, FetchCallback<T> done) {
    fetch_later(raw_.core(), {max, timeout, std::chrono::steady_clock::now(), retry_undecodable_},
                timeout, std::make_shared<FetchCallback<T>>(std::move(done)));
  }

  // Why it stopped by itself; ok while it works. A lost connection does not stop it.
  [[nodiscard]] Result<void> status() const { return raw_.status(); }
  [[nodiscard]] WorkerStats stats() const { return raw_.stats(); }

 private:
  using Clock = std::chrono::steady_clock;

  static std::chrono::milliseconds left_of(std::chrono::milliseconds timeout,
                                           Clock::time_point begin) {
    const auto passed = std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin);
    return passed < timeout ? timeout - passed : std::chrono::milliseconds(0);
  }

  // Those that are a T; the others fail.
  static std::vector<FetchedJob<T>> readable(std::vector<RawFetchedJob> fetched, bool retry) {
    std::vector<FetchedJob<T>> jobs;
    jobs.reserve(fetched.size());
    for (auto& raw : fetched) {
      if (auto data = Codec<T>::decode(raw.job().bytes()))
        jobs.emplace_back(std::move(raw), *std::move(data));
      else
        raw.async_finish(detail::undecodable(data.error(), retry), nullptr);
    }
    return jobs;
  }

  struct Wish {
    unsigned max;
    std::chrono::milliseconds timeout;
    Clock::time_point begin;
    bool retry_undecodable;
  };
  static void fetch_later(const std::weak_ptr<ConsumerCore>& core, const Wish& wish,
                          std::chrono::milliseconds left, std::shared_ptr<FetchCallback<T>> done) {
    RawConsumer::async_fetch_many(
        core, wish.max, left, [core, wish, done](Result<std::vector<RawFetchedJob>> raw) {
          if (!raw) return (*done)(raw.error());
          const bool none = raw->empty();
          auto jobs = readable(*std::move(raw), wish.retry_undecodable);
          if (none || !jobs.empty()) return (*done)(std::move(jobs));
          fetch_later(core, wish, left_of(wish.timeout, wish.begin), done);
        });
  }

  RawConsumer raw_;
  bool retry_undecodable_;
};

}  // namespace echomq::inline v2
