// SPDX-License-Identifier: MIT
// Worker: takes jobs from a queue and runs a handler on them.
//
//   echomq::Worker worker{mail, {.concurrency = 8}, [](echomq::Job<>& job) { send(job.data()); }};
//   return worker.run_until(stop);
//
// A handler takes Job<T>& and returns nothing, a value that Codec can encode (kept as the job's
// result, which JobInfo::result_as reads), a Result of one, or an Outcome; it may throw anything. A
// throw, or an error in the Result, is a failed attempt. Data that is not a T fails the job without
// a run: its reason is "decode: " and what is wrong where, and it is not tried again unless asked.
// Handlers run on a pool of threads of the worker; up to `concurrency` at the same time.
//
// A worker of short jobs (a mean below `concurrency` milliseconds) claims ahead, at most three jobs
// for each handler: those that it is going to begin within a millisecond. They begin in their
// order, and go back to their place when they have not begun after 10 ms. With a concurrency of 1
// jobs are claimed one by one.
//
// A job runs at least once: while its handler works, the worker extends its lease; if the process
// dies or loses the server for longer than the lease, another worker runs the job again, and this
// one's result is refused. Make handlers idempotent.
//
// Crashes: at most one job that has been through a crash runs in a process at a time, so that a job
// which kills its process is found out, and ends in `failed` after `max_crashes`, while its
// neighbours complete.
//
// Thread-safety: every member may be called from any thread, but from inside the worker's own
// handlers only those that say so.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "echomq/export.h"
#include "echomq/job.h"
#include "echomq/queue.h"
#include "echomq/result.h"
#include "echomq/signals.h"

namespace echomq::inline v2 {

using RawHandler = std::function<Outcome(RawJob&)>;
// Something around each run of a handler: for logs, traces and measurements, or to change how runs
// end. It calls `next`, the next middleware or the handler itself, at most once, on the same
// thread. A throw is a failed attempt, as in a handler. A backoff of one's own:
//
//   [](echomq::RawJob& job, const echomq::RawHandler& next) {
//     auto outcome = next(job);
//     if (outcome.kind() != echomq::Outcome::Kind::fail) return outcome;
//     return echomq::Outcome::fail(outcome.text(), job.attempt() * 90s);
//   }
using Middleware = std::function<Outcome(RawJob&, const RawHandler& next)>;

struct WorkerOptions {
  unsigned concurrency = 1;  // handlers at the same time, 1..10,000; see Worker::set_concurrency
  // A job whose worker is silent for this long is given to another. At least 2 s; extended every
  // third of it. Give all workers of a queue the same: recovery waits a third of it before it acts.
  std::chrono::milliseconds lease{30'000};
  // A job whose lease ran out more often than this ends in `failed`. 0..1,000.
  unsigned max_crashes = 2;
  // A handler may put its job off (Outcome::retry_in, rate_limited) until the job has been started
  // this often; then it ends in `failed`. 0 (never) to 1,000,000.
  unsigned max_starts = 0;
  // Finished jobs that are kept, unless the job has its own rule.
  Keep keep_completed{1'000, std::chrono::hours(24)};
  Keep keep_failed{10'000, std::chrono::hours(24 * 7)};
  // An idle worker asks the server at least this often, whatever it was told. 100 ms..60 s.
  std::chrono::milliseconds poll{5'000};
  // Stop by itself once nothing is waiting, delayed or active in the queue.
  bool stop_when_empty = false;
  std::string name = "worker";  // stored with each job that it ran; at most 255 bytes
  // Around each run, the first outermost.
  std::vector<Middleware> middleware{};
  // A job whose data its type cannot read is tried again under its own attempts and backoff, as if
  // its handler had failed. For deploys in which workers of the old release meet data of the new
  // one: with enough attempts a new worker gets the job. Otherwise it fails at once.
  bool retry_undecodable = false;
};

// What a worker did since it started.
struct WorkerStats {
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;     // ended in failed
  std::uint64_t retried = 0;    // attempts that gave the job another one
  std::uint64_t released = 0;   // given back: unworked, rate limited, or waiting for their children
  std::uint64_t recovered = 0;  // taken back from dead workers
  std::uint64_t refused = 0;    // results refused: another run owned the job, or it was gone
  std::uint64_t unknown = 0;    // results whose answer was lost: they count, or not
};

class PoolRunner;
class WorkerCore;

// The worker without types; Worker is the one to use. Here neither the handler nor the middleware
// may throw.
class ECHOMQ_API RawWorker {
 public:
  RawWorker(RawQueue queue, WorkerOptions options, RawHandler handler);
  ~RawWorker();
  RawWorker(RawWorker&&) noexcept;
  RawWorker& operator=(RawWorker&&) = delete;

  // See Worker.
  int run_until(const Signals& stop, std::chrono::milliseconds grace);
  Result<void> stop(std::chrono::milliseconds grace);
  bool wait(std::chrono::milliseconds timeout);
  void pause();
  void resume();
  [[nodiscard]] bool paused() const;
  Result<void> set_concurrency(unsigned concurrency);
  [[nodiscard]] unsigned concurrency() const;
  bool cancel(std::string_view id, const std::string& reason);
  std::size_t cancel_all(const std::string& reason);
  [[nodiscard]] Result<void> status() const;
  [[nodiscard]] WorkerStats stats() const;

 private:
  std::shared_ptr<WorkerCore> core_;
  std::shared_ptr<PoolRunner> runner_;
};

namespace detail {

template <class R>
struct IsResult : std::false_type {};
template <class R>
struct IsResult<Result<R>> : std::true_type {};

template <class R>
Outcome to_outcome(R&& returned) {
  using Value = std::remove_cvref_t<R>;
  if constexpr (std::is_same_v<Value, Outcome>) {
    return std::forward<R>(returned);
  } else if constexpr (std::is_same_v<Value, RateLimited>) {
    return Outcome::rate_limited(returned.duration);
  } else if constexpr (IsResult<Value>::value) {
    if (!returned.ok()) return Outcome::fail(returned.error().message());
    if constexpr (std::is_void_v<typename Value::value_type>) {
      return Outcome::done();
    } else {
      return to_outcome(*std::forward<R>(returned));
    }
  } else if constexpr (std::is_convertible_v<R, std::string>) {
    return Outcome::done(std::string(std::forward<R>(returned)));
  } else {
    return Outcome::done(Codec<Value>::encode(std::forward<R>(returned)));
  }
}

// The end of a job whose data is not what its type reads.
inline Outcome undecodable(const Error& why, bool retry) {
  auto reason = "decode: " + why.detail;
  return retry ? Outcome::fail(std::move(reason)) : Outcome::unrecoverable(std::move(reason));
}

template <class T, class F>
Outcome run_handler(F& handler, RawJob& raw, bool retry_undecodable) {
  auto data = Codec<T>::decode(raw.bytes());
  if (!data) return undecodable(data.error(), retry_undecodable);
  Job<T> job{raw, *std::move(data)};
  if constexpr (std::is_void_v<std::invoke_result_t<F&, Job<T>&>>) {
    handler(job);
    return Outcome::done();
  } else {
    return to_outcome(handler(job));
  }
}

#if defined(__cpp_exceptions)
inline constexpr const char* kUnknownThrow = "something that is not a std::exception";

// What was thrown, and what caused it (std::throw_with_nested), the outermost first.
inline std::string what_of(const std::exception& problem, unsigned depth = 0) {
  constexpr unsigned kDeepest = 16;
  std::string text = problem.what();
  if (depth == kDeepest) return text;
  try {
    std::rethrow_if_nested(problem);
  } catch (const std::exception& cause) {
    text += "; caused by: " + what_of(cause, depth + 1);
  } catch (...) {
    text += std::string("; caused by: ") + kUnknownThrow;
  }
  return text;
}
#endif

// A throw ends here, in code compiled by the user, so that it never crosses the library.
template <class F>
Outcome caught(F&& run) {
#if defined(__cpp_exceptions)
  try {
    return run();
  } catch (const RateLimited& limit) {
    return Outcome::rate_limited(limit.duration);
  } catch (const std::exception& problem) {
    return Outcome::fail(what_of(problem));
  } catch (...) {
    return Outcome::fail(std::string("the handler threw ") + kUnknownThrow);
  }
#else
  return run();
#endif
}

template <class T, class F>
RawHandler make_handler(F handler, bool retry_undecodable) {
  return [handler = std::move(handler), retry_undecodable](RawJob& raw) mutable -> Outcome {
    return caught([&] { return run_handler<T>(handler, raw, retry_undecodable); });
  };
}

inline WorkerOptions with_caught_middleware(WorkerOptions options) {
  for (auto& middleware : options.middleware)
    if (middleware)
      middleware = [run = std::move(middleware)](RawJob& raw, const RawHandler& next) {
        return caught([&] { return run(raw, next); });
      };
  return options;
}

}  // namespace detail

class Worker {
 public:
  // Starts to take jobs at once. Bad options, a bad queue name and a foreign queue stop the worker:
  // run_until() answers 1 and status() tells why.
  template <class T, class F>
  Worker(Queue<T>& queue, WorkerOptions options, F handler)
      : Worker(queue.raw(), detail::make_handler<T>(std::move(handler), options.retry_undecodable),
               std::move(options)) {}

  // Works until a signal comes (or stop_when_empty, or stop() from another thread), then shuts
  // down: takes no more jobs, gives unstarted ones back, asks running handlers to stop by their
  // stop_token, and waits up to `grace` for them; a second signal ends the wait. Handlers that are
  // still running are named in the log; their jobs are recovered when their lease ends. Answers
  // what main() should return: 0 shut down cleanly, 1 stopped by an error (status()), 2 handlers
  // were still running.
  int run_until(const Signals& stop, std::chrono::milliseconds grace = std::chrono::seconds(25)) {
    return raw_.run_until(stop, grace);
  }

  // The same shutdown without signals. Errors: timeout (handlers were still running after `grace`;
  // the error's field "jobs" names them), and those of the connection.
  Result<void> stop(std::chrono::milliseconds grace = std::chrono::seconds(25)) {
    return raw_.stop(grace);
  }

  // Waits until the worker has stopped by itself (stop_when_empty, an error); answers whether it
  // has.
  bool wait(std::chrono::milliseconds timeout) { return raw_.wait(timeout); }

  // Takes no more jobs until resume(), and leaves them to the other workers of the queue. Handlers
  // that run go on, and what was claimed by then is worked. Neither waits; both may be said at any
  // time, also twice. To pause all workers of a queue: Queue::pause().
  void pause() { raw_.pause(); }
  void resume() { raw_.resume(); }
  [[nodiscard]] bool paused() const { return raw_.paused(); }

  // So many handlers at the same time from now on, 1..10,000; does not wait. More begin at once. Of
  // fewer, handlers that run go on, and none begins until so many have ended that there is room;
  // what was claimed for them and has not begun goes back to its place and spends no attempt.
  // Threads are made and ended as they are needed. Handlers may call it too.
  // Errors: invalid_argument (out of range; nothing was changed).
  Result<void> set_concurrency(unsigned concurrency) { return raw_.set_concurrency(concurrency); }
  // As it was set last.
  [[nodiscard]] unsigned concurrency() const { return raw_.concurrency(); }

  // Asks the run of one job to stop: its stop_token says so and its stop_reason why, `cancelled`
  // with this text. Answers whether the job runs in this worker; one that runs elsewhere is not
  // touched. One that was claimed and has not begun begins, and finds itself asked. It is for the
  // handler to stop, and what it answers is how the attempt ends: Outcome::unrecoverable, say, to
  // end the job, or a throw to have it tried again. Does not wait. Handlers may call it too.
  bool cancel(std::string_view id, const std::string& reason = {}) {
    return raw_.cancel(id, reason);
  }
  // The same for all that this worker runs now; answers how many they are.
  std::size_t cancel_all(const std::string& reason = {}) { return raw_.cancel_all(reason); }

  // Why the worker stopped by itself; ok while it works or when it stopped cleanly.
  [[nodiscard]] Result<void> status() const { return raw_.status(); }
  [[nodiscard]] WorkerStats stats() const { return raw_.stats(); }

  // The destructor is stop() with no limit to the grace: it returns when the last handler has.
  ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  Worker(Worker&&) noexcept = default;
  Worker& operator=(Worker&&) = delete;

 private:
  Worker(RawQueue queue, RawHandler handler, WorkerOptions&& options)
      : raw_(std::move(queue), detail::with_caught_middleware(std::move(options)),
             std::move(handler)) {}

  RawWorker raw_;
};

}  // namespace echomq::inline v2
