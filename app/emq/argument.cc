// SPDX-License-Identifier: MIT
#include "argument.h"

#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

#include "echomq/id.h"
#include "echomq/keyspace.h"

namespace emq {
namespace {

using echomq::Backoff;
using echomq::Keep;
using echomq::Result;
using std::chrono::milliseconds;

// The number that is the whole of the text.
template <class N>
std::optional<N> number(std::string_view text) {
  N value{};
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || at != end) return std::nullopt;
  return value;
}

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Cuts the text at its first `mark`; the second half is nullopt where there is none.
std::pair<std::string_view, std::optional<std::string_view>> cut(std::string_view text, char mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

constexpr std::string_view kDurationForm =
    "a whole number with ms, s, m, h or d (\"500ms\", \"2m\"), at most ten years";
constexpr std::string_view kBackoffForm =
    "fixed:TIME or exponential:TIME, and perhaps ,JITTER from 0 to 1 (\"exponential:1s,0.2\")";
constexpr std::string_view kKeepForm =
    "all, none, or some of COUNT,AGE,SIZE in that order: an age in whole seconds with its unit, "
    "a size in KiB, MiB or GiB (\"1000,24h\", \"64MiB\")";

using Unit = std::pair<std::string_view, std::int64_t>;

// A whole number and its unit ("64MiB"), as so many of the smallest; nullopt: it is none, or more
// than `most`.
std::optional<std::int64_t> with_unit(std::string_view text, std::initializer_list<Unit> units,
                                      std::int64_t most) {
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  const auto count = number<std::int64_t>(digits);
  for (const auto& [unit, worth] : units)
    if (count && text.substr(digits.size()) == unit && *count <= most / worth)
      return *count * worth;
  return std::nullopt;
}

// "64MiB"; nullopt: it is no size, or none at all.
std::optional<std::int64_t> size_of(std::string_view text) {
  constexpr std::int64_t kKiB = 1'024;
  const auto size =
      with_unit(text, {{"KiB", kKiB}, {"MiB", kKiB * kKiB}, {"GiB", kKiB * kKiB * kKiB}},
                echomq::kMaxKeepBytes);
  return size == 0 ? std::nullopt : size;
}

}  // namespace

echomq::Error bad_value(std::string_view option, std::string_view value,
                        std::string_view expected) {
  std::string detail(option);
  detail.append(" is \"").append(value).append("\"; expected ").append(expected);
  return {echomq::ErrorCode::invalid_argument,
          std::move(detail),
          {{"option", std::string(option)},
           {"value", std::string(value)},
           {"expected", std::string(expected)}}};
}

Result<std::uint64_t> whole_number(std::string_view option, std::string_view text,
                                   std::uint64_t least, std::uint64_t most) {
  const auto value = digits_only(text) ? number<std::uint64_t>(text) : std::nullopt;
  if (!value || *value < least || *value > most)
    return bad_value(
        option, text,
        "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return *value;
}

Result<milliseconds> duration(std::string_view option, std::string_view text, milliseconds least) {
  const auto value = with_unit(
      text, {{"", 1}, {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}},
      echomq::kMaxDelay.count());
  if (!value) return bad_value(option, text, kDurationForm);
  if (milliseconds(*value) < least)
    return bad_value(option, text, "at least " + std::to_string(least.count()) + "ms");
  return milliseconds(*value);
}

Result<Backoff> backoff(std::string_view option, std::string_view text) {
  if (text == "none") return Backoff{};
  const auto [kind, rest] = cut(text, ':');
  if (!rest || (kind != "fixed" && kind != "exponential"))
    return bad_value(option, text, kBackoffForm);
  const auto [time, jitter_text] = cut(*rest, ',');
  const auto jitter = jitter_text ? number<double>(*jitter_text) : std::optional<double>(0.0);
  if (!jitter || !(*jitter >= 0.0 && *jitter <= 1.0)) return bad_value(option, text, kBackoffForm);
  const auto delay = duration(option, time);
  if (!delay) return bad_value(option, text, kBackoffForm);
  return kind == "fixed" ? Backoff::fixed(*delay, *jitter) : Backoff::exponential(*delay, *jitter);
}

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> items;
  std::optional<std::string_view> rest = text;
  while (rest && !text.empty()) {
    const auto [item, next] = cut(*rest, ',');
    items.emplace_back(item);
    rest = next;
  }
  return items;
}

Result<Keep> keep(std::string_view option, std::string_view text) {
  if (text == "all") return Keep::all();
  if (text == "none") return Keep::none();
  Keep rule = Keep::all();
  int part = 0;  // what came last: 1 the count, 2 the age, 3 the size
  for (const auto& item : comma_list(text)) {
    const auto count = digits_only(item) ? number<std::int64_t>(item) : std::nullopt;
    const auto size = size_of(item);
    const auto time = duration(option, item, std::chrono::seconds(1));
    const auto before = part;
    if (count) {
      rule.count = *count;
      part = 1;
    } else if (size) {
      rule.bytes = *size;
      part = 3;
    } else if (time && !digits_only(item) && time->count() % 1'000 == 0) {
      rule.age = std::chrono::duration_cast<std::chrono::seconds>(*time);
      part = 2;
    }
    if (part <= before) return bad_value(option, text, kKeepForm);
  }
  if (part == 0) return bad_value(option, text, kKeepForm);
  return rule;
}

echomq::Result<std::string> plain_id(const std::string& text) {
  auto id =
      echomq::is_branded_id(text) ? echomq::unbrand_id(text) : echomq::Result<std::string>(text);
  if (!id) return id;
  if (auto fits = echomq::check_any_job_id(*id); !fits) return fits.error();
  return id;
}

echomq::Result<echomq::JobState> job_state(std::string_view option, std::string_view text) {
  using echomq::JobState;
  for (const auto state :
       {JobState::waiting, JobState::prioritized, JobState::delayed, JobState::active,
        JobState::completed, JobState::failed, JobState::waiting_children})
    if (text == name(state)) return state;
  return bad_value(option, text,
                   "waiting, prioritized, delayed, active, completed, failed or waiting-children");
}

}  // namespace emq
