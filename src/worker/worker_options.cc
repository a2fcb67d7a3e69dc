// SPDX-License-Identifier: MIT
#include "worker/worker_options.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/bad_option.h"
#include "job/encode.h"

namespace echomq::inline v2 {

using std::chrono::milliseconds;

namespace {

std::optional<Error> check_jobs(std::string_view option, unsigned jobs) {
  if (jobs >= 1 && jobs <= 10'000) return std::nullopt;
  return bad_option(option, std::to_string(jobs), "1 to 10,000");
}

}  // namespace

std::optional<Error> check_worker_concurrency(unsigned concurrency) {
  return check_jobs("concurrency", concurrency);
}

WorkerOptions worker_options(const ConsumerOptions& options) {
  WorkerOptions how;
  how.concurrency = options.max_held;
  how.lease = options.lease;
  how.max_crashes = options.max_crashes;
  how.max_starts = options.max_starts;
  how.keep_completed = options.keep_completed;
  how.keep_failed = options.keep_failed;
  how.poll = options.poll;
  how.name = options.name;
  how.retry_undecodable = options.retry_undecodable;
  return how;
}

std::optional<Error> check(const ConsumerOptions& options) {
  if (auto bad = check_jobs("max_held", options.max_held)) return bad;
  return check(worker_options(options));
}

std::optional<Error> check(const WorkerOptions& options) {
  if (auto bad = check_worker_concurrency(options.concurrency)) return bad;
  if (options.lease < milliseconds(2'000) || options.lease > std::chrono::hours(24))
    return bad_option("lease", std::to_string(options.lease.count()),
                      "2,000 milliseconds to a day");
  if (options.max_crashes > 1'000)
    return bad_option("max_crashes", std::to_string(options.max_crashes), "0 to 1,000");
  if (options.max_starts > kMaxAttempts)
    return bad_option("max_starts", std::to_string(options.max_starts), "0 to 1,000,000");
  if (options.poll < milliseconds(100) || options.poll > milliseconds(60'000))
    return bad_option("poll", std::to_string(options.poll.count()), "100 to 60,000 milliseconds");
  if (auto ok = job::check_keep("keep_completed", options.keep_completed); !ok) return ok.error();
  if (auto ok = job::check_keep("keep_failed", options.keep_failed); !ok) return ok.error();
  if (options.name.size() > 255)
    return bad_option("name", std::to_string(options.name.size()) + " bytes", "at most 255");
  for (std::size_t i = 0; i < options.middleware.size(); ++i)
    if (!options.middleware[i])
      return bad_option("middleware", "an empty function at " + std::to_string(i), "functions");
  return std::nullopt;
}

RawHandler around(const std::vector<Middleware>& middleware, RawHandler handler) {
  for (auto it = middleware.rbegin(); it != middleware.rend(); ++it)
    handler = [run = *it, next = std::move(handler)](RawJob& job) { return run(job, next); };
  return handler;
}

}  // namespace echomq::inline v2
