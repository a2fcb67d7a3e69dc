// SPDX-License-Identifier: MIT
// Claims, and the gates that they meet.
#include <algorithm>

#include "protocol/lease.h"
#include "support/model/queue_model.h"

namespace echomq::test {
namespace {

// Stamps of several clients differ: one from shortly before a span counts as its beginning. One
// from before it by more than its length, a second at least, tells of a clock that was set back.
bool is_within(std::int64_t now, std::int64_t from, std::int64_t length) {
  return from - now <= std::max<std::int64_t>(length, 1'000) && now < from + length;
}

}  // namespace

std::string limits_field(const ModelLimits& limits) {
  return std::to_string(limits.concurrency) + ":" + std::to_string(limits.max) + ":" +
         std::to_string(limits.duration) + ":" + std::to_string(limits.burst) + ":" +
         std::to_string(limits.length);
}

// What the gates let through at this moment.
struct QueueModel::OpenGates {
  ModelLimits limits{};
  std::optional<std::int64_t> held_until{};
  std::optional<std::int64_t> slots{};
  std::optional<std::int64_t> rate{};
  std::int64_t since = 0, level = 0;  // of the window: its count; of the bucket

  [[nodiscard]] std::size_t room() const {
    if (held_until) return 0;
    return static_cast<std::size_t>(
        std::min({std::int64_t{1'000'000}, slots.value_or(1'000'000), rate.value_or(1'000'000)}));
  }
  // The first that is closed once so many have passed, and when it opens.
  [[nodiscard]] std::pair<std::string, std::int64_t> closed(std::int64_t taken) const {
    if (held_until) return {"held", *held_until};
    if (slots && *slots <= taken) return {"concurrency", 0};
    if (!rate || *rate > taken) return {"open", 0};
    if (limits.burst == 0) return {"rate", since + limits.duration};
    const auto missing = limits.duration * (taken + 1) - level;
    return {"rate", since + (missing + limits.max - 1) / limits.max};
  }
};

QueueModel::OpenGates QueueModel::look_at_gates() const {
  OpenGates now_open{.limits = limits.value_or(ModelLimits{})};
  const auto& [concurrency, max, duration, burst, length] = now_open.limits;
  if (gates.hold && is_within(now, gates.hold->first, gates.hold->second))
    now_open.held_until = gates.hold->first + gates.hold->second;
  if (concurrency > 0)
    now_open.slots =
        std::max<std::int64_t>(concurrency - static_cast<std::int64_t>(active.size()), 0);
  if (max > 0 && burst == 0) {
    const bool goes_on = gates.window && is_within(now, gates.window->first, duration);
    now_open.since = goes_on ? gates.window->first : now;
    now_open.level = goes_on ? gates.window->second : 0;
    now_open.rate = std::max<std::int64_t>(max - now_open.level, 0);
  } else if (max > 0) {
    // In units of a job / duration: a millisecond brings `max`, a job takes `duration`.
    const bool is_new =
        !gates.bucket || gates.bucket->first - now > std::max<std::int64_t>(duration, 1'000);
    const auto since = is_new ? now : gates.bucket->first;
    const auto level = is_new ? burst * duration : gates.bucket->second;
    now_open.since = std::max(since, now);
    now_open.level = std::min(level + (now_open.since - since) * max, burst * duration);
    now_open.rate = now_open.level / duration;
  }
  return now_open;
}

std::string QueueModel::claim(std::size_t count, const ClaimOptions& options) {
  const Lease lease{Lease::deadline_for(now, options.lease_ms), options.node, *options.nonce};
  const auto open = look_at_gates();
  const auto want = paused ? 0 : limits ? std::min(count, open.room()) : count;
  Ids ids;
  if (options.take_crashed && want > 0 && !crashed.empty()) {
    ids.push_back(crashed.front());
    crashed.pop_front();
  }
  if (ids.size() < want)
    for (const auto& id : take_from_line(want - ids.size())) ids.push_back(id);
  for (const auto& [id, place] : in_order(prioritized)) {
    if (ids.size() >= want) break;
    ids.push_back(id);
    prioritized.erase(id);
  }
  for (const auto& id : ids) active[id] = static_cast<std::int64_t>(lease.score());

  const auto left = wait.size() + prioritized.size();
  std::pair<std::string, std::int64_t> gate{paused ? "paused" : "open", 0};
  if (limits && !paused) {
    const auto taken = static_cast<std::int64_t>(ids.size());
    pass(open, taken);
    gate = open.closed(taken);
    if (gate.second > 0 && left + crashed.size() > 0 && gates.armed != gate.second) {
      gates.armed = gate.second;
      marker["2"] = gate.second;
    }
  }
  if (gate.first == "open" && (left > 0 || (options.take_crashed && !crashed.empty()))) wake();
  std::int64_t due = 0;
  std::int64_t oldest = 0;
  if (ids.size() < count) {
    if (!delayed.empty()) due = in_order(delayed).front().second;
    if (!active.empty()) oldest = in_order(active).front().second;
  }
  return bracketed({gate.first, std::to_string(left), std::to_string(crashed.size()),
                    std::to_string(due), std::to_string(oldest), std::to_string(gate.second),
                    blank_joined(ids)});
}

// What so many that were claimed leave behind. A hold that is over is forgotten.
void QueueModel::pass(const OpenGates& open, std::int64_t taken) {
  if (gates.hold && !open.held_until) {
    gates.hold.reset();
    if (limits == ModelLimits{}) {
      limits.reset();
      gates = {};
    }
  }
  if (!open.rate || taken == 0) return;
  if (open.limits.burst == 0)
    gates.window = {open.since, open.level + taken};
  else
    gates.bucket = {open.since, open.level - taken * open.limits.duration};
}

void QueueModel::hold_until(std::int64_t length) {
  if (gates.hold && is_within(now, gates.hold->first, gates.hold->second) &&
      gates.hold->first + gates.hold->second >= now + length)
    return;
  gates.hold = {now, length};
  if (!limits) limits.emplace();
}

std::string QueueModel::hold(std::int64_t duration) {
  if (duration > 0) {
    hold_until(duration);
    return std::to_string(gates.hold->first + gates.hold->second);
  }
  gates.hold.reset();
  gates.armed.reset();
  if (limits == ModelLimits{}) limits.reset();
  marker.erase("2");
  wake();
  return "0";
}

std::string QueueModel::limit(const LimitsToSet& set) {
  const auto before = limits.value_or(ModelLimits{});
  auto after = before;
  if (!set.concurrency.empty()) after.concurrency = std::stoll(set.concurrency);
  if (!set.max.empty())
    after = {after.concurrency, std::stoll(set.max), std::stoll(set.duration),
             std::stoll(set.burst), after.length};
  if (!set.length.empty()) after.length = std::stoll(set.length);
  if (after.max == 0) after = {.concurrency = after.concurrency, .length = after.length};
  if (after == before) return "0";
  // The count of a window stays, whatever its number and length are now; so does the level of a
  // bucket, as long as its unit, the duration, is the same.
  const bool is_other_kind = after.max == 0 || after.burst != before.burst;
  if (is_other_kind || after.duration != before.duration) gates.bucket.reset();
  if (is_other_kind) gates.window.reset();
  gates.armed.reset();
  limits = after;
  if (after == ModelLimits{} && !gates.hold) limits.reset();
  marker.erase("2");
  wake();
  return "1";
}

std::string QueueModel::gate() {
  const auto open = look_at_gates();
  const auto [closed, opens] =
      paused ? std::pair<std::string, std::int64_t>("paused", 0) : open.closed(0);
  const auto& [concurrency, max, duration, burst, length] = open.limits;
  return bracketed({closed, std::to_string(opens), std::to_string(concurrency), std::to_string(max),
                    std::to_string(duration), std::to_string(burst), std::to_string(length),
                    std::to_string(open.held_until.value_or(0))});
}

}  // namespace echomq::test
