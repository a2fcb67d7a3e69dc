// SPDX-License-Identifier: MIT
// For tests of handlers and producers: a private server, a clock that jumps, running what is
// queued, and looking at what was enqueued. Not part of echomq/echomq.h; needs no test framework
// and goes with any.
//
//   namespace mqt = echomq::testing;
//   auto server = mqt::Server::start().value();
//   echomq::Queue<Mail> mails{server.client(), "mails"};
//
//   register_user(mails, "ada");                                        // the code under test
//   auto mail = mqt::find_enqueued(mails, [](auto& job) { return job.data.to == "ada"; });
//   CHECK(mqt::problem(mail) == "");          // or: not_found: no job of "mails" is it; there
//   are...
//
//   auto report = mqt::drain(mails, send_mail, {.with_delayed = true});  // retries and all, at
//   once CHECK(report.value().completed == 1);
//
// Nothing here is simulated but the time: jobs are added, claimed, run, retried and kept by the
// same code and the same scripts as in production.
//
// Time. All times of the protocol (delays, backoffs, rates, holds, ages of retention, minutes of
// metrics, ids) are stamps of the clients' clocks, which follow the server's. A Clock sets those of
// its clients ahead, never back; what has become due is done by workers at once. These stay in real
// time: timeouts and deadlines of calls, intervals at which workers and clients look after things,
// and the server's own clock. So a jump neither takes a job away from a handler that runs (the
// worker renews its leases with the jump), nor recovers at once the job of a worker that is gone:
// that takes a third of its lease, as ever. Every client that works on the queues of a test must
// follow the test's clock; a process that does not sees leases and dates from the future.
//
// Thread-safety: a Server, a Clock and the functions may be used from any thread at any time, also
// from inside handlers, but not from callbacks on the I/O thread, where they answer
// invalid_argument.
//
// In a file with this header, code inside of namespace echomq or under `using namespace echomq`
// must write ::testing for GoogleTest's namespace.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "echomq/client.h"
#include "echomq/codec.h"
#include "echomq/embedded.h"
#include "echomq/export.h"
#include "echomq/job.h"
#include "echomq/queue.h"
#include "echomq/result.h"
#include "echomq/worker.h"

namespace echomq::inline v2 {

class ClockGroup;

namespace testing {

// ------------------------------------------------------------------------------------------ time

// The most that a clock is set ahead, all its jumps together: ids and leases end in 2092.
inline constexpr std::chrono::milliseconds kMaxJump = std::chrono::hours(24 * 365 * 50);

// The clock of one or more clients. Copies are one clock, and all Clocks of one client are.
class ECHOMQ_API Clock {
 public:
  // That of this client.
  explicit Clock(const Client& client);

  // Another client follows this clock from now on, and is set ahead by as much as it was already.
  // Errors: wrong_state (it follows another one already).
  Result<void> follow(const Client& client);
  // Sets all clients ahead by `time`. When this returns their workers know: what has become due is
  // about to run.
  // Errors: invalid_argument (negative, or more than kMaxJump in all; nothing was changed).
  Result<void> advance(std::chrono::milliseconds time);
  // Milliseconds since 1970.
  [[nodiscard]] std::int64_t now_ms() const;

 private:
  std::shared_ptr<ClockGroup> group_;
};

// ---------------------------------------------------------------------------------------- server

struct ServerOptions {
  // Of client(), and those of connect() unless it is told others.
  ClientOptions client{};
  // As in EmbeddedOptions.
  std::string server{};
  bool cluster_enabled = false;
  std::chrono::milliseconds start_timeout{10'000};
};

// A server of a test's own: an Embedded in a new temporary folder that writes nothing to the disk.
// It ends with this object, or with the process, however that ends; copies of its clients may live
// on and find nobody. Starting takes some tens of milliseconds: have one for each test, or one for
// all and clear() between.
class ECHOMQ_API Server {
 public:
  // Errors: those of Embedded::start and of connect.
  static Result<Server> start(const ServerOptions& options = {});

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();

  // For code under test that connects by itself; its client may then follow() clock().
  [[nodiscard]] std::string url() const;
  // Connected, and on clock().
  [[nodiscard]] const Client& client() const;
  // A further client that follows clock(), as another process would be one. Errors: as connect().
  Result<Client> connect() const;
  Result<Client> connect(ClientOptions options) const;

  [[nodiscard]] Clock& clock();
  // clock().advance(time)
  Result<void> advance(std::chrono::milliseconds time) { return clock().advance(time); }

  // Removes all queues with their settings, also under workers that run. Clients and clock stay.
  // Errors: those of Queue::obliterate.
  Result<void> clear();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// ----------------------------------------------------------------------------------------- drain

struct DrainSettings {
  // Jobs that wait for a time, retries with a backoff among them, and queues that are held or at
  // their rate: the clock is set ahead to each next time, until nothing is left. Without, they
  // stay.
  bool with_delayed = false;
  // With with_delayed: not further than that in all; what is due later stays.
  std::chrono::milliseconds horizon = kMaxJump;
  // Real time for all of it. The stop token of a handler that still runs then is set.
  std::chrono::milliseconds deadline{10'000};
  // No job is run more often than that in one drain, 1..1,000,000: one that is tried again for ever
  // is an error that names it.
  unsigned max_runs_per_job = 100;
  // Middleware, retention, max_starts, lease... as of the worker in production. concurrency,
  // stop_when_empty and poll are the drain's own.
  WorkerOptions worker{};
};

// A run of a job that did not end well.
struct FailedRun {
  std::string id;
  std::string name;
  unsigned attempt = 1;  // 1 for the first
  std::string reason;    // as it is stored with the job
  bool final = false;    // the job is in `failed` now; otherwise it got another attempt
};

struct DrainReport {
  std::uint64_t runs = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;   // jobs that ended in failed
  std::uint64_t retried = 0;  // failed attempts after which the job got another one
  std::uint64_t put_off =
      0;  // runs that cost no attempt: retry_in, rate_limited, wait_for_children
  std::uint64_t refused =
      0;  // runs whose result the server refused: the job was gone, or another's
  std::vector<FailedRun> failures{};    // of failed and retried, in the order in which they ended
  std::chrono::milliseconds jumped{0};  // how far the clock was set ahead
  Counts left{};                        // the queue afterwards
};

// Runs the handler on what the queue has, one job at a time, on the calling thread, until nothing
// is ready: also on jobs that it adds there itself. Handlers are those of Worker, and jobs end as
// they do there: a throw is a failed attempt, data that is not a T fails its job. A paused queue
// gives nothing, as it gives no worker anything: see `left`. Other workers of the queue may run,
// and are waited for.
//
// Errors: timeout (the deadline; the message tells how far it came), wrong_state (a job ran
// max_runs_per_job times; the fields "value" and "reason" are its id and why it was tried again),
// invalid_argument, and those that end a worker (Worker::status). What was done until then is done.
template <class T, class F>
Result<DrainReport> drain(Queue<T>& queue, F handler, DrainSettings settings = {});

// ---------------------------------------------------------------------------- what was enqueued

// A job that waits for its run.
template <class T = std::string>
struct EnqueuedJob {
  std::string id;
  std::string name;
  T data;
  JobOptions options;                  // as in JobInfo
  JobState state = JobState::waiting;  // or prioritized, delayed
  std::int64_t added_ms = 0;
  std::int64_t due_ms = 0;  // delayed: when it becomes ready
};

// All that is enqueued, in the order in which it is going to run: ready jobs without a priority,
// then by priority, then delayed ones by their time. Empty for a queue that does not exist. Errors:
// decode (of a job's data; the field "id" tells whose), and those of Queue::jobs.
template <class T>
Result<std::vector<EnqueuedJob<T>>> enqueued(Queue<T>& queue);

// The first job that `match`, a predicate of an EnqueuedJob<T>, says yes to.
// Errors: not_found (the message lists what is there instead), and those of enqueued().
template <class T, class Match>
requires std::predicate < Match&, const EnqueuedJob<T>
& > Result<EnqueuedJob<T>> find_enqueued(Queue<T>& queue, Match match);
// The first whose data is equal to `data`.
template <class T>
requires std::equality_comparable<T> Result<EnqueuedJob<T>> find_enqueued(
    Queue<T>& queue, const std::type_identity_t<T>& data);

// Whether so many jobs are enqueued, or so many that match.
// Errors: wrong_state (others; the message lists what is there), and those of enqueued().
template <class T>
Result<void> expect_enqueued(Queue<T>& queue, std::size_t count);
template <class T, class Match>
requires std::predicate < Match&, const EnqueuedJob<T>
& > Result<void> expect_enqueued(Queue<T>& queue, std::size_t count, Match match);

// What a Result complains of, "" for nothing. For a framework that shows both sides of a
// comparison:
//   EXPECT_EQ(mqt::problem(mqt::expect_enqueued(mails, 1)), "");
template <class T>
std::string problem(const Result<T>& result) {
  return result ? std::string() : result.error().message();
}

// --------------------------------------------------------------------------- how it is made of T

// As drain(), of bytes. The handler must not throw, nor the middleware.
ECHOMQ_API Result<DrainReport> drain_raw(RawQueue& queue, RawHandler handler,
                                         DrainSettings settings);
// As enqueued(), without decoding.
ECHOMQ_API Result<std::vector<JobInfo>> enqueued_raw(RawQueue& queue);
// "2 jobs are enqueued:\n  1 \"job\" waiting: {...}"; the first twenty.
ECHOMQ_API std::string describe(const std::vector<JobInfo>& jobs);

template <class T, class F>
Result<DrainReport> drain(Queue<T>& queue, F handler, DrainSettings settings) {
  auto raw = detail::make_handler<T>(std::move(handler), settings.worker.retry_undecodable);
  settings.worker = detail::with_caught_middleware(std::move(settings.worker));
  return drain_raw(queue.raw(), std::move(raw), std::move(settings));
}

template <class T>
Result<EnqueuedJob<T>> decode_enqueued(const JobInfo& info) {
  auto data = Codec<T>::decode(info.data);
  if (!data) {
    auto error = data.error();
    error.detail = "job " + info.id + " of \"" + info.queue + "\": " + error.detail;
    error.fields.emplace_back("id", info.id);
    return error;
  }
  return EnqueuedJob<T>{info.id,    info.name,     *std::move(data), info.options,
                        info.state, info.added_ms, info.due_ms};
}

template <class T>
Result<std::vector<EnqueuedJob<T>>> enqueued(Queue<T>& queue) {
  const auto infos = enqueued_raw(queue.raw());
  if (!infos) return infos.error();
  std::vector<EnqueuedJob<T>> jobs;
  for (const auto& info : *infos) {
    auto job = decode_enqueued<T>(info);
    if (!job) return job.error();
    jobs.push_back(*std::move(job));
  }
  return jobs;
}

template <class T, class Match>
requires std::predicate < Match&, const EnqueuedJob<T>
& > Result<EnqueuedJob<T>> find_enqueued(Queue<T>& queue, Match match) {
  const auto infos = enqueued_raw(queue.raw());
  if (!infos) return infos.error();
  for (const auto& info : *infos) {
    auto job = decode_enqueued<T>(info);
    if (!job || std::invoke(match, std::as_const(*job))) return job;
  }
  return Error{ErrorCode::not_found,
               "no job of \"" + queue.name() + "\" is it; " + describe(*infos),
               {{"queue", queue.name()}}};
}

template <class T>
requires std::equality_comparable<T> Result<EnqueuedJob<T>> find_enqueued(
    Queue<T>& queue, const std::type_identity_t<T>& data) {
  return find_enqueued(queue, [&data](const EnqueuedJob<T>& job) { return job.data == data; });
}

template <class T, class Match>
requires std::predicate < Match&, const EnqueuedJob<T>
& > Result<void> expect_enqueued(Queue<T>& queue, std::size_t count, Match match) {
  const auto infos = enqueued_raw(queue.raw());
  if (!infos) return infos.error();
  std::size_t found = 0;
  for (const auto& info : *infos) {
    const auto job = decode_enqueued<T>(info);
    if (!job) return job.error();
    if (std::invoke(match, *job)) ++found;
  }
  if (found == count) return {};
  return Error{ErrorCode::wrong_state,
               std::to_string(found) + " jobs of \"" + queue.name() + "\" are it, not " +
                   std::to_string(count) + "; " + describe(*infos),
               {{"queue", queue.name()},
                {"value", std::to_string(found)},
                {"expected", std::to_string(count)}}};
}

template <class T>
Result<void> expect_enqueued(Queue<T>& queue, std::size_t count) {
  return expect_enqueued(queue, count, [](const EnqueuedJob<T>&) { return true; });
}

}  // namespace testing
}  // namespace echomq::inline v2
