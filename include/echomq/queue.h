// SPDX-License-Identifier: MIT
// Queue: adds jobs, looks at them, and moves them.
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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "echomq/bulk.h"
#include "echomq/client.h"
#include "echomq/codec.h"
#include "echomq/export.h"
#include "echomq/job.h"
#include "echomq/limits.h"
#include "echomq/logs.h"
#include "echomq/metrics.h"
#include "echomq/options.h"
#include "echomq/page.h"
#include "echomq/result.h"
#include "echomq/worker_info.h"

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
  bool limited = false;  // a limit is set, or the queue was held: Queue::limits() tells more
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

  // What the handler returned, read as the type that it returned.
  // Errors: wrong_state (it failed; the field "reason" says why), not_found (it is not kept),
  // decode.
  template <class R>
  [[nodiscard]] Result<R> result_as() const {
    if (state != JobState::completed) return detail::no_result(state, failed_reason);
    if (!kept)
      return Error{ErrorCode::not_found, "the job completed, and its result was not kept", {}};
    return Codec<R>::decode(result ? std::string_view(*result) : std::string_view());
  }
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

// Which job an add led to. Reads as its id wherever a string is wanted.
struct AddedJob {
  std::string id{};
  // The add was not stored: this job owns its deduplication id. With keep_last_if_active its data
  // may be kept for a job after this one.
  bool deduplicated = false;

  operator const std::string&() const noexcept { return id; }  // NOLINT: implicit
  operator std::string_view() const noexcept { return id; }    // NOLINT: implicit
  friend bool operator==(const AddedJob& job, std::string_view text) noexcept {
    return job.id == text;
  }
  friend bool operator==(const AddedJob&, const AddedJob&) = default;
  friend std::string operator+(std::string_view text, const AddedJob& job) {
    return std::string(text) += job.id;
  }
  friend std::string operator+(const AddedJob& job, std::string_view text) {
    return job.id + std::string(text);
  }
};

// Who owns a deduplication id.
struct DeduplicationOwner {
  std::string job{};          // its id
  std::int64_t until_ms = 0;  // 0: until it is over
  std::string next{};         // the id of the add that is kept for then; empty: none
};

using FinishedCallback = std::function<void(Result<FinishedJob>)>;
using AddCallback = std::function<void(Result<AddedJob>)>;
using AddResults = std::vector<Result<AddedJob>>;

class QueueCore;

// A queue of bytes; Queue<T> is the one to use.
class ECHOMQ_API RawQueue {
 public:
  RawQueue(const Client& client, std::string_view name);

  // Checks the name, the fence, and makes the queue where there is none.
  // Errors: invalid_name, fence, full, and those of the connection.
  Result<void> open();
  Result<AddedJob> add(std::string data, const JobOptions& options);
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

  // See Queue.
  Result<JobPage> jobs(JobState state, const PageOptions& options);
  Result<std::map<unsigned, std::int64_t>> counts_by_priority();
  Result<std::vector<WorkerInfo>> workers();
  Result<void> pause();
  Result<void> resume();
  Result<void> set_concurrency(unsigned concurrency);
  Result<void> clear_concurrency();
  Result<void> set_rate_limit(const RateLimit& limit);
  Result<void> clear_rate_limit();
  Result<void> set_max_length(std::int64_t max_length);
  Result<void> clear_max_length();
  Result<std::int64_t> rate_limit(std::chrono::milliseconds duration);
  Result<void> release_rate_limit();
  Result<Limits> limits();
  Result<JobResults> promote(const std::vector<std::string>& ids);
  Result<JobResults> change_delay(const std::vector<std::string>& ids,
                                  std::chrono::milliseconds delay);
  Result<JobResults> change_priority(const std::vector<std::string>& ids, unsigned priority);
  Result<JobResults> retry(const std::vector<std::string>& ids, const RetryOptions& how);
  Result<JobResults> remove(const std::vector<std::string>& ids);
  Result<BulkReport> promote_all(const BulkOptions& options);
  Result<BulkReport> retry_all(JobState state, const RetryOptions& how, const BulkOptions& options);
  Result<BulkReport> remove_all(JobState state, const BulkOptions& options);
  Result<BulkReport> clean(JobState state, std::chrono::milliseconds older_than,
                           const BulkOptions& options);
  Result<BulkReport> drain(const DrainOptions& what, const BulkOptions& options);
  Result<BulkReport> sweep_trash(const BulkOptions& options);
  Result<BulkReport> obliterate(const ObliterateOptions& options);
  Result<void> keep_metrics(std::chrono::minutes time);
  Result<Metrics> metrics(JobState state, std::int64_t from_ms, std::int64_t to_ms);
  Result<void> update_data(std::string_view id, std::string data);
  Result<void> log(std::string_view id, std::string line);
  Result<JobLogs> logs(std::string_view id, const LogOptions& options);
  Result<std::optional<DeduplicationOwner>> deduplication_owner(std::string_view id);
  Result<bool> release_deduplication(std::string_view id);

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const std::shared_ptr<QueueCore>& core() const noexcept { return core_; }

 private:
  void send(std::string data, const JobOptions& options, AddCallback done);
  std::optional<Error> prepare_bulk(std::vector<NewJob<std::string>>& jobs) const;

  std::shared_ptr<QueueCore> core_;
};

template <class T = std::string>
class Queue {
 public:
  Queue(const Client& client, std::string_view name) : raw_(client, name) {}

  // Checks the name and the fence, and makes the queue where there is none.
  // Errors: invalid_name, fence, full, and those of the connection.
  Result<void> open() { return raw_.open(); }

  // Adds one job; answers which one, of one that was deduplicated the one that owns its
  // deduplication id. Blocks for about one round trip.
  // Errors: invalid_argument, invalid_name, too_large (nothing sent); duplicate (a job with that
  // custom id exists); full (server at maxmemory); fence; collision; wrong_state (deduplicated,
  // and the owner was another one at each try); timeout and connection_lost (unknown).
  Result<AddedJob> add(const T& data, const JobOptions& options = {}) {
    return raw_.add(Codec<T>::encode(data), options);
  }

  // Adds many; answers one result for each, in order, those that were deduplicated among them. One
  // bad job refuses the whole call before anything is sent (the error's field "index" tells which);
  // duplicates are answered one by one.
  Result<AddResults> add_bulk(std::vector<NewJob<T>> jobs) {
    if constexpr (std::is_same_v<T, std::string>) {
      return raw_.add_bulk(std::move(jobs));
    } else {
      std::vector<NewJob<std::string>> raw;
      raw.reserve(jobs.size());
      for (auto& job : jobs) raw.push_back({Codec<T>::encode(job.data), std::move(job.options)});
      return raw_.add_bulk(std::move(raw));
    }
  }

  // Adds without waiting. `done` is called exactly once, on the I/O thread or where
  // ClientOptions::post decides; it may also be called before async_add returns, when the job is
  // refused.
  void async_add(const T& data, const JobOptions& options, AddCallback done) {
    raw_.async_add(Codec<T>::encode(data), options, std::move(done));
  }
  std::future<Result<AddedJob>> async_add(const T& data, const JobOptions& options = {}) {
    auto promise = std::make_shared<std::promise<Result<AddedJob>>>();
    auto future = promise->get_future();
    async_add(data, options,
              [promise](Result<AddedJob> job) { promise->set_value(std::move(job)); });
    return future;
  }

  // How many jobs are in each state. Errors: fence, and those of the connection.
  Result<Counts> counts() { return raw_.counts(); }
  // One job. Errors: not_found, invalid_name (no such id can exist), fence, and those of the
  // connection.
  Result<JobInfo> job(std::string_view id) { return raw_.job(id); }

  // --- reading. Errors of all: not_found (no such queue), fence, and those of the connection.

  // One page of the jobs of a state. A set that changes meanwhile is read as it is at each page: no
  // job that stays where it is is missed. Waiting jobs shift as others are taken, removed or added
  // in front of them; a page goes on behind the last one of those shown before that still waits
  // (the cursor names several). Where that is an older one, because those behind it have left, what
  // was shown after it may come again; where none is left, pages begin anew at their end of the
  // line.
  // Errors: invalid_argument (the limit; a cursor of another queue, state or order).
  Result<JobPage> jobs(JobState state, const PageOptions& options = {}) {
    return raw_.jobs(state, options);
  }
  // How many ready jobs each priority has, for those that have any: waiting ones under 0, then the
  // prioritized ones.
  Result<std::map<unsigned, std::int64_t>> counts_by_priority() {
    return raw_.counts_by_priority();
  }
  // The processes that hold jobs of this queue, and which. Idle ones hold none.
  Result<std::vector<WorkerInfo>> workers() { return raw_.workers(); }

  // --- the queue. What it is already changes nothing.

  // Workers take no more jobs from this queue until resume(); what runs is not touched, adds go on,
  // and delayed jobs become ready. Counts::paused tells. Errors: as for reading.
  Result<void> pause() { return raw_.pause(); }
  Result<void> resume() { return raw_.resume(); }

  // --- the limits of the queue, over all its workers and producers (echomq/limits.h). Each holds
  // until it is set again or cleared, from the next claim or add on; what runs is not touched.
  // Errors: invalid_argument (nothing sent), and as for reading.

  // At most so many jobs are active at the same time, 1..1,000,000. A job is active from when a
  // worker takes it until its attempt ends or is given back, or a crash was noticed.
  Result<void> set_concurrency(unsigned concurrency) { return raw_.set_concurrency(concurrency); }
  Result<void> clear_concurrency() { return raw_.clear_concurrency(); }
  // At most so many jobs start in a time.
  Result<void> set_rate_limit(const RateLimit& limit) { return raw_.set_rate_limit(limit); }
  Result<void> clear_rate_limit() { return raw_.clear_rate_limit(); }
  // At most so many jobs wait or are delayed, 1..1,000,000,000: an add beyond it is refused as
  // queue_full, and nothing of it is stored. Of a bulk add the first ones are stored, as far as
  // there is room. Jobs that run do not count; those that come back (retried, given back,
  // recovered) are never refused, so that the queue may be longer for a while.
  Result<void> set_max_length(std::int64_t max_length) { return raw_.set_max_length(max_length); }
  Result<void> clear_max_length() { return raw_.clear_max_length(); }
  // Holds the queue by hand: no job starts for `duration` from now, 1 ms to 30 days; not less than
  // it is held already. Answers until when, in milliseconds since 1970. A handler has
  // Outcome::rate_limited, which also gives its job back.
  Result<std::int64_t> rate_limit(std::chrono::milliseconds duration) {
    return raw_.rate_limit(duration);
  }
  // Ends a hold, however it came about.
  Result<void> release_rate_limit() { return raw_.release_rate_limit(); }
  // What is set, and which gate is closed now.
  Result<Limits> limits() { return raw_.limits(); }

  // --- single jobs, and lists of them, answered one by one (JobResults). Errors of the whole call:
  // invalid_argument, invalid_name (an id that no job can have; nothing was done), and as for
  // reading. After timeout or connection_lost a call may have been applied or not; saying it again
  // does no harm.

  // Makes delayed jobs ready now, in the order given; they keep their priority.
  Result<void> promote(std::string_view id) { return one(raw_.promote({std::string(id)})); }
  Result<JobResults> promote(const std::vector<std::string>& ids) { return raw_.promote(ids); }
  // Makes a delayed job wait for `delay` from now. 0 (ready at once) to ten years.
  Result<void> change_delay(std::string_view id, std::chrono::milliseconds delay) {
    return one(raw_.change_delay({std::string(id)}, delay));
  }
  Result<JobResults> change_delay(const std::vector<std::string>& ids,
                                  std::chrono::milliseconds delay) {
    return raw_.change_delay(ids, delay);
  }
  // Gives jobs that are not finished another priority, 0 to 2,097,151 (JobOptions::priority). A
  // ready one goes behind those that have it already; a delayed or running one has it from its next
  // turn on.
  Result<void> change_priority(std::string_view id, unsigned priority) {
    return one(raw_.change_priority({std::string(id)}, priority));
  }
  Result<JobResults> change_priority(const std::vector<std::string>& ids, unsigned priority) {
    return raw_.change_priority(ids, priority);
  }
  // Makes completed or failed jobs ready once more, with their data, options and priority; result,
  // reason and times of the last run are cleared. One that has been through a crash waits with its
  // like again.
  Result<void> retry(std::string_view id, const RetryOptions& how = {}) {
    return one(raw_.retry({std::string(id)}, how));
  }
  Result<JobResults> retry(const std::vector<std::string>& ids, const RetryOptions& how = {}) {
    return raw_.retry(ids, how);
  }
  // Removes jobs for good, with their logs and all else, also those that stand in no state, because
  // somebody deleted keys by hand. A running one is refused (wrong_state).
  Result<void> remove(std::string_view id) { return one(raw_.remove({std::string(id)})); }
  Result<JobResults> remove(const std::vector<std::string>& ids) { return raw_.remove(ids); }

  // --- all jobs of a state, in bounded calls. Errors: invalid_argument, and as for reading.

  // Makes all delayed jobs ready, the earliest first.
  Result<BulkReport> promote_all(const BulkOptions& options = {}) {
    return raw_.promote_all(options);
  }
  // Retries all failed, or all completed, jobs, the oldest first. Jobs that end while it runs are
  // left out.
  Result<BulkReport> retry_all(JobState state = JobState::failed, const RetryOptions& how = {},
                               const BulkOptions& options = {}) {
    return raw_.retry_all(state, how, options);
  }
  // Removes all jobs of a state; not of `active`. A job that has left it meanwhile stays.
  Result<BulkReport> remove_all(JobState state, const BulkOptions& options = {}) {
    return raw_.remove_all(state, options);
  }
  // Removes the jobs of a state that are older than that: completed and failed ones by the time of
  // their end, others by that of their add. 0 (all that are there now) to a hundred years. Finished
  // ones go in the order of their ends and cost only themselves; of other states each job is looked
  // at, in a dry run too.
  Result<BulkReport> clean(JobState state, std::chrono::milliseconds older_than,
                           const BulkOptions& options = {}) {
    return raw_.clean(state, older_than, options);
  }
  // Removes what is ready and, if asked, what is delayed. What runs goes on; what has ended stays.
  Result<BulkReport> drain(const DrainOptions& what = {}, const BulkOptions& options = {}) {
    return raw_.drain(what, options);
  }
  // Deletes what is left of finished jobs that retention has removed already: they are in no state
  // and nobody can read them, but their keys take memory. Workers do that as they end jobs, and
  // look twice a minute for what one that was killed has left; this is for a queue whose workers
  // are gone. BulkReport counts jobs; those that are skipped were deleted, or added anew,
  // meanwhile.
  Result<BulkReport> sweep_trash(const BulkOptions& options = {}) {
    return raw_.sweep_trash(options);
  }
  // Removes all jobs, finished ones too, and everything that belongs to the queue. What is left is
  // an empty queue with its settings, not paused, or nothing (ObliterateOptions::all). The queue is
  // paused first, so that no more jobs begin; when the call is interrupted it stays so, and another
  // call goes on where this one ended. Answers how many jobs were removed. At last all keys of the
  // server are looked through, some at a time, for jobs of the queue that stand in no state.
  // Errors: wrong_state (jobs run, the field "value" says how many, and the queue is as it was; or
  // they are added faster than they are removed); not_found (no such queue), and as for reading.
  Result<BulkReport> obliterate(const ObliterateOptions& options = {}) {
    return raw_.obliterate(options);
  }

  // --- how many jobs ended

  // From now on the jobs that end are counted by the minute, and that is kept for so long (a year
  // at most). 0: no more, and what was counted is forgotten; so it is at the beginning.
  // Errors: invalid_argument (nothing sent), and as for reading.
  Result<void> keep_metrics(std::chrono::minutes time) { return raw_.keep_metrics(time); }
  // How many jobs were completed, or failed for good, in each minute from that of `from_ms` to that
  // of `to_ms` (ms since 1970, two weeks apart at most), by the server's time. Jobs that were not
  // kept count too.
  // Errors: invalid_argument (nothing sent), and as for reading.
  Result<Metrics> metrics(JobState state, std::int64_t from_ms, std::int64_t to_ms) {
    return raw_.metrics(state, from_ms, to_ms);
  }

  // --- what a job holds

  // Replaces a job's data, in any state; a handler that runs keeps what it was given.
  // Errors: not_found, too_large, invalid_name, and as for reading.
  Result<void> update_data(std::string_view id, const T& data) {
    return raw_.update_data(id, Codec<T>::encode(data));
  }
  // Appends a line to a job's log; handlers have RawJob::log. At most 8 KiB; any bytes.
  // Errors: not_found, too_large, invalid_name, and as for reading.
  Result<void> log(std::string_view id, std::string line) { return raw_.log(id, std::move(line)); }
  // Lines of a job's log. Errors: invalid_argument, not_found, invalid_name, and as for reading.
  Result<JobLogs> logs(std::string_view id, const LogOptions& options = {}) {
    return raw_.logs(id, options);
  }

  // --- events

  // Waits until a job has ended for good, at most for `timeout` (0 to ten years; 0 only looks), and
  // tells how: right before, during and after its end, and when the job is removed by the very end
  // of its run or since.
  // Of a job that is gone the events tell how it ended, among the last 10,000 entries of the
  // stream, each of which may tell of up to 256 jobs. What is told there is answered at once
  // (FinishedJob::kept is false); and so is what is not, as not_found: a job that ended farther
  // back, or whose events were cut off (set_event_cap, trim_events, obliterate), one that was
  // removed before its end, and one that never was. None of them is waited for.
  // It waits on the stream of events, with one more connection for all who wait on this queue, and
  // asks for the job at the beginning, when events were missed, and at the end of the time. While
  // the server is away it goes on waiting.
  // Errors: timeout (it has not ended yet, or the server was away at that time), not_found (no such
  // job, or it is gone and no event tells how it ended), invalid_name, invalid_argument (the
  // timeout, or called on the I/O thread), fence, closed (the client was closed meanwhile), denied.
  Result<FinishedJob> wait_until_finished(std::string_view id, std::chrono::milliseconds timeout) {
    return raw_.wait_until_finished(id, timeout);
  }
  // The same, and reads what the handler returned as the type that it returned:
  //   auto size = thumbs.wait_for_result<Size>(id, 10s);
  // Errors: those of wait_until_finished and of FinishedJob::result_as.
  template <class R>
  Result<R> wait_for_result(std::string_view id, std::chrono::milliseconds timeout) {
    const auto finished = wait_until_finished(id, timeout);
    if (!finished) return finished.error();
    return finished->template result_as<R>();
  }
  // The same as wait_until_finished without waiting. `done` is called exactly once, on the I/O
  // thread or where ClientOptions::post decides; it may be called before this returns, when the
  // input is bad. When the last handle of the queue goes it is told ErrorCode::closed.
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

  // --- deduplication (JobOptions::deduplication)

  // Who owns a deduplication id now; nullopt: nobody. Errors: invalid_argument and encoding (the
  // id), not_found (no such queue), wrong_state (it was another one at each look), fence, and those
  // of the connection.
  Result<std::optional<DeduplicationOwner>> deduplication_owner(std::string_view id) {
    return raw_.deduplication_owner(id);
  }
  // Gives a deduplication id free, whoever owns it; answers whether somebody did. The owner stays
  // as it is. An add that is kept for its end is added now and owns the id then. Blocks for
  // about three round trips. Errors: as deduplication_owner.
  Result<bool> release_deduplication(std::string_view id) { return raw_.release_deduplication(id); }

  [[nodiscard]] const std::string& name() const noexcept { return raw_.name(); }
  [[nodiscard]] RawQueue& raw() noexcept { return raw_; }

 private:
  static Result<void> one(Result<JobResults> results) {
    if (!results) return results.error();
    return std::move(results->front());
  }

  RawQueue raw_;
};

}  // namespace echomq::inline v2
