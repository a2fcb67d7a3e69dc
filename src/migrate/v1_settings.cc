// SPDX-License-Identifier: MIT
#include "migrate/v1_settings.h"

#include <algorithm>
#include <string_view>

#include "base/number.h"
#include "echomq/limits.h"
#include "migrate/v1_options.h"

namespace echomq::inline v2::migrate {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kLeastMinutes = 1'440;  // a day
constexpr std::int64_t kEventCap = 10'000;

std::int64_t number_of(const V1Hash& meta, std::string_view name, std::int64_t most) {
  const auto it = meta.find(name);
  if (it == meta.end()) return 0;
  return std::clamp<std::int64_t>(v1_number(it->second).value_or(0), 0, most);
}

}  // namespace

Fields map_settings(const V1Settings& settings) {
  Fields fields;
  const auto cap = number_of(settings.meta, "opts.maxLenEvents", 1'000'000'000);
  fields.emplace_back("event_cap", std::to_string(cap > 0 ? cap : kEventCap));
  if (settings.paused) fields.emplace_back("pause", "1");
  if (settings.prioritized > 0)
    fields.emplace_back("priority_seq", std::to_string(settings.prioritized));
  const auto concurrency = number_of(settings.meta, "concurrency", kMaxQueueConcurrency);
  const auto max = number_of(settings.meta, "max", kMaxRate);
  const auto duration = number_of(settings.meta, "duration", kMaxLimitTime.count());
  const bool limited = max > 0 && duration > 0;
  if (concurrency > 0 || limited)
    fields.emplace_back("limits", std::to_string(concurrency) + ":" +
                                      std::to_string(limited ? max : 0) + ":" +
                                      std::to_string(limited ? duration : 0) + ":0:0");
  // v1's workers say how long they count; nothing of it is stored but what they counted.
  if (settings.metrics_points > 0)
    fields.emplace_back("metrics",
                        std::to_string(std::max(settings.metrics_points, kLeastMinutes)));
  return fields;
}

Fields map_metrics(std::int64_t last_ms, const std::vector<std::string>& points) {
  Fields fields;
  if (points.empty()) return fields;
  const auto newest = last_ms / kMinuteMs;
  const auto oldest = newest - static_cast<std::int64_t>(points.size()) + 1;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (const auto count = to_number<std::int64_t>(points[i]); count > 0)
      fields.emplace_back(std::to_string(newest - static_cast<std::int64_t>(i)),
                          std::to_string(count));
  fields.emplace_back("from", std::to_string(oldest));
  return fields;
}

std::string map_owner(const std::string& owner, std::int64_t until_ms, bool over) {
  return map_id(owner) + ":" + std::to_string(until_ms) + (until_ms > 0 && over ? ":1:" : ":0:");
}

std::int64_t until_of(std::string_view entry) {
  entry.remove_prefix(std::min(entry.find(':'), entry.size() - 1) + 1);
  return to_number<std::int64_t>(entry.substr(0, entry.find(':')));
}

}  // namespace echomq::inline v2::migrate
