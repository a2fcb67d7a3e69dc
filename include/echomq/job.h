// SPDX-License-Identifier: MIT
// A job, seen from two sides: JobInfo is a snapshot that anyone may read; RawJob and Job<T> are
// what a handler holds while it works.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "echomq/children.h"
#include "echomq/codec.h"
#include "echomq/export.h"
#include "echomq/options.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// Where a job is: exactly one of these until it is removed. See docs/states.md.
enum class JobState { waiting, prioritized, delayed, active, completed, failed, waiting_children };

// "waiting", "waiting-children"...
ECHOMQ_API std::string_view name(JobState state) noexcept;

namespace detail {
// Why a job in that state has no result to read.
ECHOMQ_API Error no_result(JobState state, std::string_view failed_reason);
}  // namespace detail

// One job at one moment. Times are milliseconds since 1970 by the server's clock, 0 = not yet.
struct JobInfo {
  std::string queue;
  std::string id;
  std::string name;
  std::string data;
  JobState state = JobState::waiting;
  JobOptions options;             // as given to add; id and name stand above
  unsigned attempts_made = 0;     // attempts that ended in a failure or success
  unsigned attempts_started = 0;  // times that a worker took it, crashes included
  unsigned crashes = 0;           // times that its lease ran out
  std::int64_t added_ms = 0;
  std::int64_t due_ms = 0;        // delayed: when it becomes ready
  std::int64_t processed_ms = 0;  // start of the last attempt that ended
  std::int64_t finished_ms = 0;
  std::string worker;                 // name of the worker of that attempt
  std::string progress;               // what the handler reported last
  std::optional<std::string> result;  // completed: what the handler returned
  std::string failed_reason;          // of the last failed attempt
  // The job that waits for this one (echomq/flow.h); both empty: none.
  std::string parent_queue{};
  std::string parent{};

  // What the handler returned, read as the type that it returned.
  // Errors: wrong_state (it is not completed; the field "state" says what it is, and "reason" why
  // it failed), decode.
  template <class R>
  [[nodiscard]] Result<R> result_as() const {
    if (state != JobState::completed) return detail::no_result(state, failed_reason);
    return Codec<R>::decode(result ? std::string_view(*result) : std::string_view());
  }
};

// Why a run was asked to stop.
struct StopReason {
  // Of several the last of this order counts.
  enum class Kind {
    none,       // it was not asked to
    shutdown,   // the worker stops, or the consumer is gone
    cancelled,  // Worker::cancel, cancel_all
    lease_lost  // another run owns the job, or it has ended: this one's result will be refused
  };
  Kind kind = Kind::none;
  std::string text{};  // cancelled: what it was called off with, the first time
};

class RunningJob;

// The job that a handler works on, valid inside the handler only, or that a consumer holds
// (echomq/consumer.h).
// Thread-safety: the members may be called from any thread while it is worked.
class ECHOMQ_API RawJob {
 public:
  explicit RawJob(std::shared_ptr<RunningJob> running);

  [[nodiscard]] const std::string& id() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const std::string& queue() const noexcept;
  [[nodiscard]] std::string_view bytes() const noexcept;  // the data as it was added
  [[nodiscard]] unsigned attempt() const noexcept;        // 1 for the first
  [[nodiscard]] unsigned attempts_allowed() const noexcept;
  [[nodiscard]] unsigned crashes() const noexcept;  // earlier runs that ended with their process
  [[nodiscard]] std::int64_t added_ms() const noexcept;
  // The trace that the job was added in (JobOptions::traceparent, tracestate); empty: none.
  [[nodiscard]] const std::string& traceparent() const noexcept;
  [[nodiscard]] const std::string& tracestate() const noexcept;
  // Asked to stop, for one of the reasons of StopReason. It is a request: what a handler answers
  // counts as ever, whether it went on or not.
  [[nodiscard]] std::stop_token stop_token() const noexcept;
  // Why; it can be read from when the token says so.
  [[nodiscard]] StopReason stop_reason() const;
  // Whether that is a lost lease.
  [[nodiscard]] bool lease_lost() const noexcept;
  // Stores what anyone reading the job shall see; the latest value wins, and none is waited for.
  // Under this run's lease only: one that has lost it changes nothing, and learns it by the first
  // value that the server refuses, if not before (StopReason). Errors: too_large (8 KiB), stale
  // (it is known that another run owns the job).
  Result<void> progress(std::string value);
  // Appends a line to the job's log, of which the newest 1,000 are kept (Queue::logs reads them).
  // Blocks for about one round trip, so that a line that was acknowledged is there when the job
  // ends. Errors: too_large (8 KiB), stale (another run owns the job), not_found (it was removed),
  // and those of the connection.
  Result<void> log(std::string line);
  // Replaces the job's data: its next run (a retry, or the one after its children) is given that,
  // and this one keeps what it has; so a handler of several steps notes how far it came. Blocks for
  // about one round trip. Errors: too_large (ClientOptions::data_limit), stale (another run owns
  // the job), not_found (it was removed), and those of the connection.
  Result<void> update_data(const std::string& data);
  // Gives the job's deduplication id free before its end, when the job owns it still; answers
  // whether it did. What is kept for the end is added now. False for a job without one. Blocks for
  // about two round trips. Errors: those of the connection.
  Result<bool> release_deduplication();
  // Adds jobs, and their own children, for which this one is to wait; answers their ids. They may
  // begin at once. The job waits when its handler returns Outcome::wait_for_children(), and runs
  // once more when they are done; so a handler looks first what children() has, because it runs
  // again after a crash too. Ids of one's own add a child once. Blocks for a few round trips.
  // Errors: as Flows::add; stale (this run lost the job), not_found (the job was removed).
  Result<std::vector<std::string>> add_children(const std::vector<FlowJob>& children);
  // What became of the children so far, of all runs. Reads all of them: results of up to 64 KiB
  // each. Errors: not_found (the job was removed), and those of the connection.
  Result<Children> children();
  // The job that waits for this one, and its queue; empty: none.
  [[nodiscard]] const std::string& parent() const noexcept;
  [[nodiscard]] const std::string& parent_queue() const noexcept;

 private:
  std::shared_ptr<RunningJob> running_;
};

// The same with decoded data.
template <class T = std::string>
class Job : public RawJob {
 public:
  Job(RawJob raw, T data) : RawJob(std::move(raw)), data_(std::move(data)) {}
  [[nodiscard]] const T& data() const noexcept { return data_; }
  [[nodiscard]] T& data() noexcept { return data_; }
  // See RawJob.
  Result<void> update_data(const T& data) { return RawJob::update_data(Codec<T>::encode(data)); }

 private:
  T data_;
};

// What a handler throws or returns when somebody else's limit is reached: Outcome::rate_limited.
struct RateLimited {
  std::chrono::milliseconds duration{1'000};
};

// How a handler's attempt ended.
class Outcome {
 public:
  enum class Kind { done, fail, retry, unrecoverable, rate_limited, wait_for_children };

  // Completed; `result` is kept with the job (at most 256 KiB).
  static Outcome done(std::string result = {}) { return {Kind::done, std::move(result)}; }
  // The attempt failed: tried again after its backoff while attempts are left, then `failed`.
  static Outcome fail(std::string reason) { return {Kind::fail, std::move(reason)}; }
  // The same, but tried again after `delay` instead of its backoff. 0 to ten years, the nearest of
  // them where it is outside.
  static Outcome fail(std::string reason, std::chrono::milliseconds delay) {
    return {Kind::fail, std::move(reason), delay};
  }
  // Not now: again after `delay`, without spending an attempt.
  static Outcome retry_in(std::chrono::milliseconds delay, std::string reason = "retry asked for") {
    return {Kind::retry, std::move(reason), delay};
  }
  // Failed for good, whatever attempts are left.
  static Outcome unrecoverable(std::string reason) {
    return {Kind::unrecoverable, std::move(reason)};
  }
  // Not now, and none of this queue: it is held for `duration` (1 ms to 30 days; what is beyond
  // counts as that), and the job goes back to the front of its line. No attempt is spent.
  static Outcome rate_limited(std::chrono::milliseconds duration) {
    return {Kind::rate_limited, "rate limited", duration};
  }
  // Not before its children are done: the job leaves its worker, and is ready again then, or at
  // once if all are. No attempt is spent. Where one of them has failed that fails its parent
  // (ChildFailure::fail_parent), the job fails instead.
  static Outcome wait_for_children() { return {Kind::wait_for_children, "waits for its children"}; }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // Until the next attempt, or how long the queue is held; nullopt: there is none, or its backoff
  // decides.
  [[nodiscard]] std::optional<std::chrono::milliseconds> delay() const noexcept { return delay_; }

 private:
  Outcome(Kind kind, std::string text, std::optional<std::chrono::milliseconds> delay = {})
      : kind_(kind), text_(std::move(text)), delay_(delay) {}

  Kind kind_;
  std::string text_;
  std::optional<std::chrono::milliseconds> delay_;
};

}  // namespace echomq::inline v2
