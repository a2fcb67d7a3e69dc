// SPDX-License-Identifier: MIT
// Settlement: how an ended attempt is told to the server, decided from the handler's outcome and
// the job's options. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "echomq/job.h"
#include "echomq/worker.h"
#include "job/record.h"

namespace echomq::inline v2 {

class RunningJob;

struct Settlement {
  enum class Kind { complete, fail, retry, release, wait };

  std::shared_ptr<RunningJob> job;
  Kind kind = Kind::complete;
  std::string text{};          // the result, or the reason
  std::int64_t delay_ms = 0;   // retry: how long to wait
  std::int64_t hold_ms = 0;    // release: how long the queue is held
  unsigned attempts_made = 0;  // to be stored
  unsigned attempts_started = 0;
  Keep keep{};  // complete, fail: the rule of retention

  // For good: completed or failed.
  [[nodiscard]] bool ends_job() const { return kind == Kind::complete || kind == Kind::fail; }
  // Settlements that may travel in one call.
  [[nodiscard]] bool travels_with(const Settlement& other) const {
    return kind == other.kind && hold_ms == other.hold_ms && keep == other.keep &&
           (!ends_job() || has_parent() == other.has_parent());
  }
  // Its end is told to a parent.
  [[nodiscard]] bool has_parent() const;
};

// too_large where an outcome has a result that no job can have.
std::optional<Error> check_result(const Outcome& outcome);

// What becomes of a job whose handler ended with `outcome`. `draw` is uniform in [0,1), for the
// jitter.
Settlement settle(std::shared_ptr<RunningJob> job, const Outcome& outcome,
                  const WorkerOptions& options, double draw);

// What becomes of a job that a worker took at `now_ms`, which is after it expired; nullopt: it has
// not, and is to be run.
std::optional<Settlement> expire(const std::shared_ptr<RunningJob>& job,
                                 const WorkerOptions& options, std::int64_t now_ms);

// Given back by who has begun it: fails where that was so often that `options` let it no more.
Settlement put_back(std::shared_ptr<RunningJob> job, const WorkerOptions& options);

// Given back: started or not, it costs no attempt.
Settlement give_back(std::shared_ptr<RunningJob> job, bool started);

// What an end was told: `status`, or "unknown" where it was said again and the first time may have
// ended the run: then the job has gone on, or is gone, and no other run is to blame.
inline std::string_view end_status(std::string_view status, bool again) {
  return again && (status == "gone" || status == "stale") ? "unknown" : status;
}

// `text`, cut to `limit` bytes, not inside a UTF-8 character.
std::string cut(std::string_view text, std::size_t limit);

}  // namespace echomq::inline v2
