// SPDX-License-Identifier: MIT
#include "queue/metrics.h"

#include <algorithm>
#include <string>

#include "base/bad_option.h"
#include "echomq_scripts.h"
#include "job/record.h"
#include "queue/ask.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
// A day of them in one call.
constexpr std::int64_t kMinutesAtOnce = 1'440;

}  // namespace

Result<void> keep_metrics(QueueCore& queue, std::chrono::minutes time) {
  if (time.count() < 0 || time > kMaxMetricsKept)
    return bad_option(
        "time", std::to_string(time.count()),
        "0 (off) to " + std::to_string(kMaxMetricsKept.count()) + " minutes (a year)");
  const auto reply =
      ask(queue, ScriptCall::of<scripts::QueueKeepMetrics>(
                     queue.keys(), {.revision = scripts::kRevision, .minutes = time.count()}));
  if (!reply) return reply.error();
  return {};
}

Result<Metrics> read_metrics(QueueCore& queue, JobState state, std::int64_t from_ms,
                             std::int64_t to_ms) {
  if (!job::has_ended(state)) return bad_option("state", name(state), "completed or failed");
  if (from_ms < 0) return bad_option("from_ms", std::to_string(from_ms), "0 or more");
  const auto first = from_ms / kMinuteMs;
  if (to_ms < from_ms || to_ms / kMinuteMs - first >= static_cast<std::int64_t>(kMaxMetricsMinutes))
    return bad_option("to_ms", std::to_string(to_ms),
                      "from_ms (" + std::to_string(from_ms) + ") to two weeks later");
  const auto& key =
      state == JobState::completed ? queue.keys().metrics_completed : queue.keys().metrics_failed;
  Metrics metrics;
  metrics.first_ms = first * kMinuteMs;
  for (auto minute = first; minute <= to_ms / kMinuteMs; minute += kMinutesAtOnce) {
    const auto reply =
        ask(queue, ScriptCall::of<scripts::QueueMetrics>(
                       {.meta = queue.keys().meta, .metrics = key},
                       {.revision = scripts::kRevision,
                        .from = minute,
                        .count = std::min(kMinutesAtOnce, to_ms / kMinuteMs - minute + 1)}));
    if (!reply) return reply.error();
    metrics.kept = std::chrono::minutes(wire::number_of(reply->items.at(0)));
    for (std::size_t i = 1; i < reply->items.size(); ++i)
      metrics.counts.push_back(wire::number_of(reply->items[i]));
  }
  return metrics;
}

}  // namespace echomq::inline v2
