// SPDX-License-Identifier: MIT
#include "queue/limits.h"

#include <array>
#include <string>

#include "base/bad_option.h"
#include "echomq_scripts.h"
#include "queue/ask.h"
#include "wire/reply_form.h"

namespace echomq::inline v2 {
namespace {

constexpr std::array kGates{QueueGate::open, QueueGate::paused, QueueGate::held,
                            QueueGate::concurrency, QueueGate::rate};

bool is_limit_time(std::chrono::milliseconds time) {
  return time.count() >= 1 && time <= kMaxLimitTime;
}

// An empty argument leaves its limit as it is, and so does one that is not given.
scripts::QueueLimit::Args no_change() {
  scripts::QueueLimit::Args args;
  args.revision = scripts::kRevision;
  return args;
}

Result<void> set_limits(QueueCore& queue, const scripts::QueueLimit::Args& args) {
  const auto reply = ask(queue, ScriptCall::of<scripts::QueueLimit>(queue.keys(), args));
  if (!reply) return reply.error();
  return {};
}

}  // namespace

std::string_view name(QueueGate gate) noexcept {
  switch (gate) {
    case QueueGate::open: return "open";
    case QueueGate::paused: return "paused";
    case QueueGate::held: return "held";
    case QueueGate::concurrency: return "concurrency";
    case QueueGate::rate: return "rate";
  }
  return "";
}

std::optional<Error> check_concurrency(unsigned concurrency) {
  if (concurrency >= 1 && concurrency <= kMaxQueueConcurrency) return std::nullopt;
  return bad_option("concurrency", std::to_string(concurrency), "1 to 1,000,000");
}

std::optional<Error> check_rate(const RateLimit& rate) {
  if (rate.max < 1 || rate.max > kMaxRate)
    return bad_option("max", std::to_string(rate.max), "1 to 1,000,000");
  if (!is_limit_time(rate.duration))
    return bad_option("duration", std::to_string(rate.duration.count()),
                      "1 millisecond to 30 days");
  if (rate.burst > rate.max)
    return bad_option("burst", std::to_string(rate.burst),
                      "0 (a window) to max, which is " + std::to_string(rate.max));
  return std::nullopt;
}

std::optional<Error> check_length(std::int64_t max_length) {
  if (max_length >= 1 && max_length <= kMaxQueueLength) return std::nullopt;
  return bad_option("max_length", std::to_string(max_length), "1 to 1,000,000,000");
}

std::optional<Error> check_hold(std::chrono::milliseconds duration) {
  if (is_limit_time(duration)) return std::nullopt;
  return bad_option("duration", std::to_string(duration.count()), "1 millisecond to 30 days");
}

Result<void> limit_concurrency(QueueCore& queue, unsigned concurrency) {
  auto args = no_change();
  args.concurrency = concurrency;
  return set_limits(queue, args);
}

Result<void> limit_length(QueueCore& queue, std::int64_t max_length) {
  auto args = no_change();
  args.length = max_length;
  return set_limits(queue, args);
}

Result<void> limit_rate(QueueCore& queue, const std::optional<RateLimit>& rate) {
  const auto set = rate.value_or(RateLimit{0, std::chrono::milliseconds(0), 0});
  auto args = no_change();
  args.max = set.max;
  args.duration = set.duration.count();
  args.burst = set.burst;
  return set_limits(queue, args);
}

Result<std::int64_t> hold(QueueCore& queue, std::chrono::milliseconds duration) {
  const auto reply =
      ask(queue, ScriptCall::of<scripts::QueueHold>(queue.keys(), {.revision = scripts::kRevision,
                                                                   .now = queue.client()->now_ms(),
                                                                   .duration = duration.count()}));
  if (!reply) return reply.error();
  return wire::number_of(*reply);
}

Result<Limits> read_limits(QueueCore& queue) {
  const auto reply = ask(
      queue, ScriptCall::of<scripts::QueueGate>(
                 queue.keys(), {.revision = scripts::kRevision, .now = queue.client()->now_ms()}));
  if (!reply) return reply.error();
  if (reply->items.size() < 8)
    return Error{ErrorCode::protocol, "queue/gate answered too little", {}};
  const auto at = [&reply](std::size_t i) { return wire::number_of(reply->items[i]); };
  Limits limits;
  for (const auto gate : kGates)
    if (reply->items[0].text == name(gate)) limits.gate = gate;
  limits.opens_ms = at(1);
  if (at(2) > 0) limits.concurrency = static_cast<unsigned>(at(2));
  if (at(3) > 0)
    limits.rate = RateLimit{static_cast<unsigned>(at(3)), std::chrono::milliseconds(at(4)),
                            static_cast<unsigned>(at(5))};
  if (at(6) > 0) limits.max_length = at(6);
  limits.held_until_ms = at(7);
  return limits;
}

}  // namespace echomq::inline v2
