// SPDX-License-Identifier: MIT
// Schedulers: jobs that a queue makes by itself, at the times of a cron pattern or at an interval.
//
//   echomq::Queue<Report> reports{mq, "reports"};
//   echomq::Schedulers schedulers{reports};
//   schedulers.upsert("nightly", {.when = echomq::Cron{"30 2 * * *", "Europe/Berlin"}},
//                     {.data = Report{"sales"}, .options = {.attempts = 3}}).value();
//
// A scheduler has an id, a schedule and a template. At each of its times (a tick) one job is made
// of the template, with the id "<scheduler>.<tick>", the tick in milliseconds since 1970 by the
// server's clock; scheduled_tick() reads it back. So no tick makes two jobs, however many workers
// and producers there are and whatever their clocks say. A job of that id that is there already
// counts as the tick's.
//
// Ticks are made by the workers of the queue, any of them, also while it is paused: the jobs wait
// then. While no worker runs, nothing is made, and what becomes of those ticks says `missed`.
//
// Cron patterns have 5 fields, or 6 with the second first:
//
//   [second 0-59] minute 0-59  hour 0-23  day-of-month 1-31  month 1-12  day-of-week 0-7
//
//   *  2  1-5  */15  10-50/20  5/20 (from 5 on)  1,15,30   as everywhere; JAN-DEC, SUN-SAT; Sunday
//                                                          is 0 and 7
//   ?     in the two fields of days the same as *
//   L     the last day of the month; L-3 three days before it; LW its last working day
//   15W   the working day of the month that is nearest to the 15th
//   5L    the last Friday of the month; MON#2 the second Monday
//   @yearly @annually @monthly @weekly @daily @midnight @hourly
//
// Where both day fields are restricted (neither begins with * or ?), a day that matches one of them
// will do.
//
// The change of clocks. A pattern whose hour field begins with * goes by the time that passes: it
// runs whenever the clock on the wall shows a time that matches, in an hour that comes twice both
// times, and in one that is left out not at all. Any other pattern means certain hours: a time that
// comes twice is run the first time; one that the clock leaves out is run when the clock has leapt,
// once for all that were left out.
//
// Thread-safety: a Schedulers may be used from any thread; its members block for one round trip or
// two. The free functions are pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "echomq/codec.h"
#include "echomq/export.h"
#include "echomq/options.h"
#include "echomq/queue.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

inline constexpr std::size_t kMaxSchedulerId = 200;  // bytes
inline constexpr std::chrono::milliseconds kMinInterval{10};
inline constexpr std::chrono::milliseconds kMaxInterval = std::chrono::hours(24 * 365 * 10);
inline constexpr unsigned kMaxMissedRuns = 100;
inline constexpr std::uint64_t kMaxScheduleLimit = 1'000'000'000;
// A tick that is made later than that is a missed one.
inline constexpr std::chrono::milliseconds kMissedAfter{60'000};
inline constexpr std::size_t kMaxTicksAtOnce = 10'000;  // of next_times
inline constexpr std::size_t kMaxSchedulerPage = 256;

// At the times of a pattern, by the clocks of a time zone.
struct Cron {
  std::string pattern{};    // at most 255 bytes
  std::string zone{"UTC"};  // an IANA name, as the system's zone files have it
};

// Every so often: at offset + k * interval since 1970-01-01 00:00 UTC, or since Schedule::start_ms
// where that is given. Every 15 minutes with an offset of 3: at :03, :18, :33 and :48.
struct Every {
  std::chrono::milliseconds interval{0};  // 10 ms to ten years
  std::chrono::milliseconds offset{0};    // 0 to less than the interval
};

// What becomes of ticks that were not made in time: no worker ran, or the server was down. Of those
// that are due together all but the newest are missed, and the newest is when it is more than a
// minute late (kMissedAfter). Those that are not run are counted (SchedulerInfo::skipped).
struct Missed {
  enum class Kind { skip, run_once, run_all };

  Kind kind = Kind::run_once;
  unsigned max = 1;  // of run_all: 1..100

  // None is run.
  static Missed skip() { return {Kind::skip, 1}; }
  // The newest is run, for all.
  static Missed run_once() { return {Kind::run_once, 1}; }
  // The newest `max` are run.
  static Missed run_all(unsigned max = kMaxMissedRuns) { return {Kind::run_all, max}; }
  friend bool operator==(const Missed&, const Missed&) = default;
};

// What becomes of a tick while the job of the one before waits or runs still.
enum class Overlap {
  allow,  // it makes its job all the same
  skip,   // it makes none, and is counted as skipped
};

// When. Times are milliseconds since 1970 by the server's clock.
struct Schedule {
  std::variant<Cron, Every> when{};
  std::int64_t start_ms = 0;  // no tick before it; 0: from now on
  std::int64_t end_ms = 0;    // and none after it; 0: without end
  std::uint64_t limit = 0;    // so many jobs, then no more, at most 1,000,000,000; 0: without end
  // The first tick is at once, the others as ever. For Every alone, and not with start_ms.
  bool immediately = false;
  Missed missed{};
  Overlap overlap = Overlap::allow;
};

// What the jobs are made of. Options but id, delay, deduplication and durability, which are
// refused: the id is that of the tick, a delay would be another schedule, an id of deduplication
// would swallow ticks (Overlap::skip is for that), and nobody waits for the add.
template <class T = std::string>
struct JobTemplate {
  T data{};
  JobOptions options{};
};

// A scheduler at one moment.
struct SchedulerInfo {
  std::string id{};
  Schedule schedule{};
  std::string data{};        // of the template, as its codec made it
  JobOptions options{};      // of the template
  std::int64_t next_ms = 0;  // of the next tick; 0: there is none (paused, or it has ended)
  bool paused = false;
  std::uint64_t made = 0;     // jobs so far, since start or limit were changed last
  std::uint64_t skipped = 0;  // ticks that made none, as far as they were counted
  std::int64_t last_ms = 0;   // of the last tick that was made or skipped; 0: none so far
  std::string last_job{};     // the id of the last job; empty: none so far
};

struct SchedulerPage {
  std::vector<SchedulerInfo> schedulers{};
  std::string cursor{};  // goes on behind them; empty: that was the end
};

struct SchedulerPageOptions {
  std::size_t limit = 50;  // about so many, 1..256
  std::string cursor{};    // of the page before; empty: from the beginning
};

struct Upserted {
  bool changed = false;      // false: it was so already
  std::int64_t next_ms = 0;  // of the next tick; 0: there is none (paused, or it has ended)
};

// Which tick a job was made for.
struct ScheduledTick {
  std::string scheduler{};
  std::int64_t tick_ms = 0;
  friend bool operator==(const ScheduledTick&, const ScheduledTick&) = default;
};
// Reads it from the job's id; nullopt: that is no id of a scheduler's job.
ECHOMQ_API std::optional<ScheduledTick> scheduled_tick(std::string_view job_id);

// 1 to 200 of [A-Za-z0-9._-]. Errors: invalid_name, with the field "value".
ECHOMQ_API Result<void> check_scheduler_id(std::string_view id);

// Errors: invalid_argument, with the fields option, value and expected; of a pattern also field and
// position (of the byte, from 1). A pattern that never comes is one.
ECHOMQ_API Result<void> check_schedule(const Schedule& schedule);

// The next `count` ticks after `from_ms`, fewer where the schedule ends before; `limit` counts from
// there. Errors: those of check_schedule; invalid_argument (from_ms, count).
ECHOMQ_API Result<std::vector<std::int64_t>> next_times(const Schedule& schedule,
                                                        std::int64_t from_ms, std::size_t count);

// How far the clocks of a time zone are ahead of UTC at that time (behind it: below 0).
// Errors: invalid_argument (zone, at_ms).
ECHOMQ_API Result<std::chrono::seconds> utc_offset(std::string_view zone, std::int64_t at_ms);

// The schedulers of a queue, of bytes; Schedulers<T> is the one to use.
class ECHOMQ_API RawSchedulers {
 public:
  explicit RawSchedulers(const RawQueue& queue) : core_(queue.core()) {}

  // See Schedulers.
  Result<Upserted> upsert(std::string_view id, const Schedule& schedule,
                          const JobTemplate<std::string>& jobs);
  Result<SchedulerInfo> get(std::string_view id);
  Result<SchedulerPage> list(const SchedulerPageOptions& options);
  Result<std::int64_t> count();
  Result<void> pause(std::string_view id);
  Result<std::int64_t> resume(std::string_view id);
  Result<void> remove(std::string_view id);

 private:
  std::shared_ptr<QueueCore> core_;
};

template <class T = std::string>
class Schedulers {
 public:
  explicit Schedulers(Queue<T>& queue) : raw_(queue.raw()) {}

  // Makes the scheduler, or makes the one of that id so. What it is already changes nothing, so
  // programs may say it at each start. With another template the times stay as they are. With
  // another schedule the next tick is computed anew, from now on; a paused one stays paused; what
  // it has made so far counts on for its limit, unless `start_ms` or `limit` is another one.
  // One that has ended (end_ms, limit) stays until it is removed, and makes nothing.
  // Errors: invalid_name (the id), those of check_schedule, those of an add for the template
  // (nothing sent); wrong_state (it ticked at each try); full, fence, and those of the connection.
  Result<Upserted> upsert(std::string_view id, const Schedule& schedule,
                          const JobTemplate<T>& jobs = {}) {
    return raw_.upsert(id, schedule, {Codec<T>::encode(jobs.data), jobs.options});
  }

  // One scheduler. Errors of this and all below: not_found (no such scheduler or queue),
  // invalid_name (the id), fence, and those of the connection; decode (a schedule that this version
  // does not read).
  Result<SchedulerInfo> get(std::string_view id) { return raw_.get(id); }
  // Some of them, in no order; one that is there all the time is on one page at least.
  // Errors also: invalid_argument (limit, cursor).
  Result<SchedulerPage> list(const SchedulerPageOptions& options = {}) {
    return raw_.list(options);
  }
  // How many there are, paused and ended ones among them; 0 also where there is no queue.
  Result<std::int64_t> count() { return raw_.count(); }

  // It makes no more jobs until it is resumed. What it is already changes nothing.
  Result<void> pause(std::string_view id) { return raw_.pause(id); }
  // It goes on with its next tick from now on: those of the pause are neither made nor missed.
  // Answers when that is; 0: it has ended. Errors also: wrong_state (it changed at each try).
  Result<std::int64_t> resume(std::string_view id) { return raw_.resume(id); }
  // Removes it. The jobs that it made stay: they are jobs as any others.
  Result<void> remove(std::string_view id) { return raw_.remove(id); }

  [[nodiscard]] RawSchedulers& raw() noexcept { return raw_; }

 private:
  RawSchedulers raw_;
};

}  // namespace echomq::inline v2
