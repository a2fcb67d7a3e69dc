// SPDX-License-Identifier: MIT
#include "worker/settlement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "echomq/limits.h"
#include "job/encode.h"
#include "worker/running_job.h"

namespace echomq::inline v2 {
namespace {

Settlement ended(std::shared_ptr<RunningJob> job, Settlement::Kind kind, std::string text,
                 const Keep& keep) {
  const auto& loaded = job->job;
  Settlement settlement{std::move(job), kind, std::move(text)};
  settlement.attempts_made = loaded.attempts_made + 1;
  settlement.attempts_started = loaded.attempts_started + 1;
  settlement.keep = keep;
  return settlement;
}

Settlement failed(std::shared_ptr<RunningJob> job, std::string reason,
                  const WorkerOptions& options) {
  const auto keep = job->job.options.keep_failed.value_or(options.keep_failed);
  return ended(std::move(job), Settlement::Kind::fail, std::move(reason), keep);
}

// The end of a job that is put off once more, when it may be no more.
std::optional<Settlement> put_off_too_often(const std::shared_ptr<RunningJob>& job,
                                            const WorkerOptions& options) {
  const auto starts = job->job.attempts_started + 1;
  if (options.max_starts == 0 || starts < options.max_starts) return std::nullopt;
  return failed(job,
                "started " + std::to_string(starts) +
                    " times and put off each time; max_starts is " +
                    std::to_string(options.max_starts),
                options);
}

std::chrono::milliseconds within_range(std::chrono::milliseconds delay) {
  return std::clamp(delay, std::chrono::milliseconds(0), kMaxDelay);
}

}  // namespace

bool Settlement::has_parent() const { return !job->job.parent.empty(); }

std::string cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  auto end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

std::optional<Error> check_result(const Outcome& outcome) {
  if (outcome.kind() != Outcome::Kind::done || outcome.text().size() <= kMaxResultBytes)
    return std::nullopt;
  const auto size = std::to_string(outcome.text().size());
  const auto limit = std::to_string(kMaxResultBytes);
  return Error{ErrorCode::too_large,
               "the result is " + size + " bytes long; the limit is " + limit,
               {{"value", size}, {"expected", limit}}};
}

Settlement settle(std::shared_ptr<RunningJob> job, const Outcome& outcome,
                  const WorkerOptions& options, double draw) {
  const auto& loaded = job->job;
  if (outcome.kind() == Outcome::Kind::done) {
    if (const auto bad = check_result(outcome))
      return failed(std::move(job), bad->message(), options);
    const auto keep = loaded.options.keep_completed.value_or(options.keep_completed);
    return ended(std::move(job), Settlement::Kind::complete, outcome.text(), keep);
  }
  if (outcome.kind() == Outcome::Kind::rate_limited) {
    auto settlement = put_back(std::move(job), options);
    if (settlement.kind == Settlement::Kind::release)
      settlement.hold_ms =
          std::clamp(*outcome.delay(), std::chrono::milliseconds(1), kMaxLimitTime).count();
    return settlement;
  }
  if (outcome.kind() == Outcome::Kind::wait_for_children) {
    auto settlement = put_back(std::move(job), options);
    if (settlement.kind == Settlement::Kind::release) settlement.kind = Settlement::Kind::wait;
    return settlement;
  }
  auto reason = cut(outcome.text(), kMaxReasonBytes);
  if (outcome.kind() == Outcome::Kind::retry) {
    if (auto failed = put_off_too_often(job, options)) return *std::move(failed);
    auto settlement = ended(std::move(job), Settlement::Kind::retry, std::move(reason), {});
    settlement.attempts_made = loaded.attempts_made;
    settlement.delay_ms = within_range(*outcome.delay()).count();
    return settlement;
  }
  const auto failures = loaded.attempts_made + 1;
  if (outcome.kind() == Outcome::Kind::unrecoverable || failures >= loaded.options.attempts)
    return failed(std::move(job), std::move(reason), options);
  auto settlement = ended(std::move(job), Settlement::Kind::retry, std::move(reason), {});
  const auto delay = outcome.delay() ? within_range(*outcome.delay())
                                     : job::backoff_delay(loaded.options.backoff, failures, draw);
  settlement.delay_ms = delay.count();
  return settlement;
}

std::optional<Settlement> expire(const std::shared_ptr<RunningJob>& job,
                                 const WorkerOptions& options, std::int64_t now_ms) {
  const auto& loaded = job->job;
  if (!loaded.options.expires_in) return std::nullopt;
  const auto allowed = loaded.options.expires_in->count();
  const auto waited = now_ms - loaded.added_ms;
  if (waited <= allowed) return std::nullopt;
  auto settlement = failed(job,
                           "expired: taken " + std::to_string(waited) +
                               " ms after its add; expires_in is " + std::to_string(allowed),
                           options);
  settlement.attempts_made = loaded.attempts_made;  // none was
  return settlement;
}

Settlement put_back(std::shared_ptr<RunningJob> job, const WorkerOptions& options) {
  if (auto failed = put_off_too_often(job, options)) return *std::move(failed);
  return give_back(std::move(job), /*started=*/true);
}

Settlement give_back(std::shared_ptr<RunningJob> job, bool started) {
  const auto attempts_started = started ? job->job.attempts_started + 1 : 0;
  Settlement settlement{std::move(job), Settlement::Kind::release};
  settlement.attempts_started = attempts_started;
  return settlement;
}

}  // namespace echomq::inline v2
