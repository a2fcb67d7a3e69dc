// SPDX-License-Identifier: MIT
// Queue: adds jobs and looks at them.
//
//   echomq::Queue<> mail{mq, "mail"};
//   std::string id = mail.add("to: you", {.attempts = 5}).value();
//
// The constructor does nothing on the server and cannot fail: a bad name, and a queue of another
// wire (ErrorCode::fence), are answered by the first operation; open() asks for it.
//
// Group commit: adds that are made while a batch is on its way travel together in the next one, up
// to 256 jobs or 256 KiB. Nothing waits on a timer: alone, an add is sent at once.
//
// An add that answers ok is in the queue, at the durability of the server (docs: appendfsync). One
// that answers timeout or connection_lost may be there or not; the library repeats it by itself
// after a reconnect, within the command deadline, and never adds twice.
//
// Thread-safety: every member may be called from any thread. Copies share one queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/client.h"
#include "echomq/codec.h"
#include "echomq/export.h"
#include "echomq/job.h"
#include "echomq/options.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// How many jobs are in each state, at one moment.
struct Counts {
  std::int64_t waiting = 0;  // ready, of priority 0
  std::int64_t prioritized = 0;
  std::int64_t active = 0;
  std::int64_t delayed = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t waiting_children = 0;
  bool paused = false;
};

// A job to be added, by add_bulk.
template <class T = std::string>
struct NewJob {
  T data;
  JobOptions options{};
};

// How a job ended.
struct FinishedJob {
  JobState state = JobState::completed;  // completed or failed
  // The job is still there and read. Otherwise its retention has removed it, or it has been given
  // another run since, and what it left is not known any more.
  bool kept = false;
  std::optional<std::string> result{};  // completed and kept: what the handler returned
  std::string failed_reason{};          // failed and kept
};

// How many entries the stream of a queue's events holds. One entry is one call of a script, which
// may tell of up to 256 jobs.
struct EventCap {
  std::uint64_t entries = 10'000;  // 1..10,000,000
  // false: about so many, a few hundred more at times, which costs the server less.
  bool exact = false;
};

// Of a custom event; a larger payload belongs into a job or a store of its own.
inline constexpr std::size_t kMaxEventBytes = std::size_t{8} << 10;

using FinishedCallback = std::function<void(Result<FinishedJob>)>;
using AddCallback = std::function<void(Result<std::string>)>;
using AddResults = std::vector<Result<std::string>>;

class QueueCore;

// A queue of bytes; Queue<T> is the one to use.
class ECHOMQ_API RawQueue {
 public:
  RawQueue(const Client& client, std::string_view name);

  // Checks the name, the fence, and makes the queue where there is none.
  // Errors: invalid_name, fence, full, and those of the connection.
  Result<void> open();
  Result<std::string> add(std::string data, const JobOptions& options);
  Result<AddResults> add_bulk(std::vector<NewJob<std::string>> jobs);
  void async_add(std::string data, const JobOptions& options, AddCallback done);
  Result<Counts> counts();
  Result<JobInfo> job(std::string_view id);
  Result<FinishedJob> wait_until_finished(std::string_view id, std::chrono::milliseconds timeout);
  void async_wait_until_finished(std::string_view id, std::chrono::milliseconds timeout,
                                 FinishedCallback done);
  Result<std::string> emit_event(std::string_view event, std::string_view payload);
  Result<void> set_event_cap(const EventCap& cap);
  Result<std::uint64_t> trim_events(std::uint64_t keep);

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const std::shared_ptr<QueueCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<QueueCore> core_;
};

template <class T = std::string>
class Queue {
 public:
  Queue(const Client& client, std::string_view name) : raw_(client, name) {}

  // Checks the name and the fence, and makes the queue where there is none.
  // Errors: invalid_name, fence, full, and those of the connection.
  Result<void> open() { return raw_.open(); }

  // Adds one job; answers its id. Blocks for about one round trip.
  // Errors: invalid_argument, invalid_name, too_large (nothing sent); duplicate (a job with that
  // custom id exists); full (server at maxmemory); fence; collision; timeout and connection_lost
  // (unknown).
  Result<std::string> add(const T& data, const JobOptions& options = {}) {
    return raw_.add(Codec<T>::encode(data), options);
  }

  // Adds many; answers one result for each, in order. One bad job refuses the whole call before
  // anything is sent (the error's field "index" tells which); duplicates are answered one by one.
  Result<AddResults> add_bulk(const std::vector<NewJob<T>>& jobs) {
    std::vector<NewJob<std::string>> raw;
    raw.reserve(jobs.size());
    for (const auto& job : jobs) raw.push_back({Codec<T>::encode(job.data), job.options});
    return raw_.add_bulk(std::move(raw));
  }

  // Adds without waiting. `done` is called exactly once, on the I/O thread or where
  // ClientOptions::post decides; it may also be called before async_add returns, when the job is
  // refused.
  void async_add(const T& data, const JobOptions& options, AddCallback done) {
    raw_.async_add(Codec<T>::encode(data), options, std::move(done));
  }
  std::future<Result<std::string>> async_add(const T& data, const JobOptions& options = {}) {
    auto promise = std::make_shared<std::promise<Result<std::string>>>();
    auto future = promise->get_future();
    async_add(data, options,
              [promise](Result<std::string> id) { promise->set_value(std::move(id)); });
    return future;
  }

  // How many jobs are in each state. Errors: fence, and those of the connection.
  Result<Counts> counts() { return raw_.counts(); }
  // One job. Errors: not_found, invalid_name (no such id can exist), fence, and those of the
  // connection.
  Result<JobInfo> job(std::string_view id) { return raw_.job(id); }

  // Waits until a job has ended for good, at most for `timeout` (0 to ten years; 0 only looks), and
  // tells how: right before, during and after its end, and when the job is removed by the very end
  // of its run (a job that is gone already is looked for among the last 1,000 entries of events).
  // It waits on the stream of events, with one more connection for all who wait on this queue, and
  // asks for the job at the beginning, when events were missed, and at the end of the time. While
  // the server is away it goes on waiting.
  // Errors: timeout (it has not ended yet, or the server was away at that time), not_found (no such
  // job, or it was removed and no event tells how it ended), invalid_name, invalid_argument (the
  // timeout, or called on the I/O thread), fence, closed (the client was closed meanwhile), denied.
  Result<FinishedJob> wait_until_finished(std::string_view id, std::chrono::milliseconds timeout) {
    return raw_.wait_until_finished(id, timeout);
  }
  // The same without waiting. `done` is called exactly once, on the I/O thread or where
  // ClientOptions::post decides; it may be called before this returns, when the input is bad. When
  // the last handle of the queue goes it is told ErrorCode::closed.
  void async_wait_until_finished(std::string_view id, std::chrono::milliseconds timeout,
                                 FinishedCallback done) {
    raw_.async_wait_until_finished(id, timeout, std::move(done));
  }

  // Writes an event of your own into the queue's stream of events; answers its id. Listeners get it
  // as EventType::custom (echomq/events.h). `event` is 1 to 255 of [A-Za-z0-9._-] and not the name
  // of an EventType; the payload is any bytes, at most kMaxEventBytes. Not repeated by itself: what
  // answers timeout or connection_lost was written once or not at all. (Not called `emit`, which is
  // a macro of Qt's.)
  // Errors: invalid_name, too_large (nothing sent); full, fence, and those of the connection.
  Result<std::string> emit_event(std::string_view event, std::string_view payload = {}) {
    return raw_.emit_event(event, payload);
  }
  // How many entries the stream keeps from now on, whoever writes them; older ones are removed. It
  // holds until it is set again. A queue begins with EventCap{}.
  // Errors: invalid_argument (nothing sent); not_found (no such queue), fence, and those of the
  // connection.
  Result<void> set_event_cap(const EventCap& cap) { return raw_.set_event_cap(cap); }
  // Removes all entries but the newest `keep`, exactly, now; answers how many were removed.
  // Errors: not_found (no such queue), fence, and those of the connection.
  Result<std::uint64_t> trim_events(std::uint64_t keep) { return raw_.trim_events(keep); }

  [[nodiscard]] const std::string& name() const noexcept { return raw_.name(); }
  [[nodiscard]] RawQueue& raw() noexcept { return raw_; }

 private:
  RawQueue raw_;
};

}  // namespace echomq::inline v2
