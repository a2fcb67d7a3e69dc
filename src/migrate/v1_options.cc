// SPDX-License-Identifier: MIT
#include "migrate/v1_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "base/number.h"
#include "job/encode.h"

namespace echomq::inline v2::migrate {
namespace {

// What a job has in fields of its own, or in its edge.
constexpr std::array<std::string_view, 12> kSaidElsewhere{
    "jobId", "timestamp", "delay", "priority", "lifo",       "parent",
    "fpof",  "cpof",      "idof",  "rdof",     "prevMillis", "repeatJobKey"};

std::int64_t whole_of(const Json& value) {
  return value.is_number() ? saturating_int64(value.get<double>()) : 0;
}

std::int64_t whole_of(const Json& object, const char* key, std::int64_t otherwise) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? whole_of(*it) : otherwise;
}

bool flag_of(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

std::chrono::milliseconds delay_of(std::int64_t ms) {
  return std::chrono::milliseconds(std::clamp<std::int64_t>(ms, 0, kMaxDelay.count()));
}

std::optional<Keep> keep_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? Keep::none() : Keep::all();
  if (value.is_number()) return Keep{whole_of(value), std::chrono::seconds(0)};
  if (!value.is_object()) return std::nullopt;
  const auto age = std::clamp<std::int64_t>(whole_of(value, "age", 0), 0, kMaxKeepAge.count());
  return Keep{whole_of(value, "count", -1), std::chrono::seconds(age)};
}

// What a strategy of the v1 worker's own would have said nobody can know here: it becomes a fixed
// delay, and stays to be seen in what is left.
bool take_backoff(const Json& value, Backoff& backoff) {
  if (value.is_number()) {
    backoff = Backoff::fixed(delay_of(whole_of(value)));
    return true;
  }
  if (!value.is_object()) return false;
  const auto type = value.find("type");
  const bool known = type != value.end() && (*type == "fixed" || *type == "exponential");
  backoff = {known && *type == "exponential" ? Backoff::Kind::exponential : Backoff::Kind::fixed,
             delay_of(whole_of(value, "delay", 0)), 0.0};
  if (const auto jitter = value.find("jitter"); jitter != value.end() && jitter->is_number())
    backoff.jitter = std::clamp(jitter->get<double>(), 0.0, 1.0);
  return known;
}

bool take_deduplication(const Json& value, std::optional<Deduplication>& to) {
  const auto id = value.is_object() ? value.find("id") : value.end();
  if (id == value.end() || !id->is_string()) return false;
  Deduplication rule{.id = id->get<std::string>()};
  if (!job::check_deduplication_id(rule.id)) return false;
  if (const auto ttl = whole_of(value, "ttl", 0); ttl > 0) rule.ttl = delay_of(ttl);
  rule.extend = flag_of(value, "extend");
  rule.replace = flag_of(value, "replace");
  rule.keep_last = flag_of(value, "keepLastIfActive");
  to = std::move(rule);
  return true;
}

// Whether 2.0 has all of what the option says.
bool take_option(const std::string& name, const Json& value, JobOptions& options) {
  if (value.is_null()) return true;
  if (name == "attempts") {
    const auto attempts = whole_of(value);
    options.attempts = static_cast<unsigned>(std::clamp<std::int64_t>(attempts, 1, kMaxAttempts));
    return value.is_number() && attempts <= kMaxAttempts;
  }
  if (name == "backoff") return take_backoff(value, options.backoff);
  if (name == "removeOnComplete" || name == "removeOnFail") {
    auto& rule = name == "removeOnComplete" ? options.keep_completed : options.keep_failed;
    rule = keep_of(value);
    return rule.has_value();
  }
  if (name == "de" || name == "debounce" || name == "deduplication")
    return take_deduplication(value, options.deduplication);
  return std::find(kSaidElsewhere.begin(), kSaidElsewhere.end(), name) != kSaidElsewhere.end();
}

std::string text_of_json(const Json& value) {
  constexpr std::size_t kMost = 60;
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "...");
  return text;
}

// Of one option that 2.0 does not have as v1 has it.
Change change_of(const std::string& name, const Json& value, const JobOptions& options) {
  const auto its = "its " + name + " is " + text_of_json(value);
  if (name == "attempts")
    return {name, its + "; here it has " + std::to_string(options.attempts) + " attempts"};
  if (name == "backoff") {
    if (!value.is_object()) return {name, its + ", which says nothing here: it has no backoff"};
    const auto type = value.find("type");
    return {name, "its backoff is of the type " +
                      (type == value.end() ? std::string("none") : text_of_json(*type)) +
                      ", which only v1's workers know: here it is a fixed delay"};
  }
  if (name == "removeOnComplete" || name == "removeOnFail")
    return {name, its + ", which says nothing here: its worker's rule holds"};
  if (name == "de" || name == "debounce" || name == "deduplication")
    return {"deduplication", its + ", which 2.0 does not allow: it is not deduplicated"};
  if (name == "kl" || name == "keepLogs")
    return {"keepLogs", "its keepLogs is " + text_of_json(value) +
                            ", which is not looked at here: all of its log lines are kept"};
  if (name == "sizeLimit") return {name, its + ", which is not looked at here"};
  return {"options", "its option " + name + " has no effect here"};
}

}  // namespace

Changes changes_of(const V1Options& options) {
  Changes changes;
  for (const auto& [name, value] : options.rest.items()) {
    if (name == "repeat") continue;  // its scheduler is moved
    auto change = change_of(name, value, options.options);
    const bool known = std::any_of(changes.begin(), changes.end(), [&change](const auto& told) {
      return told.kind == change.kind;
    });
    if (!known) changes.push_back(std::move(change));
  }
  return changes;
}

Json read_object(std::string_view text) {
  // Most jobs have no parent, and a parser takes its time to say that nothing is no JSON.
  if (text.empty()) return Json::object();
  auto json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Json::object();
  return json;
}

std::optional<V1Options> read_v1_options(std::string_view text) {
  V1Options read;
  if (text.empty()) return read;
  read.all = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // Lua's encoder writes an empty object as an empty list.
  if (read.all.is_array() && read.all.empty()) read.all = Json::object();
  if (!read.all.is_object()) return std::nullopt;
  for (const auto& [name, value] : read.all.items())
    if (!take_option(name, value, read.options)) read.rest[name] = value;
  return read;
}

char v1_policy(const Json& parent, const Json& opts) {
  constexpr std::array<std::array<const char*, 3>, 4> kNames{
      {{"fpof", "failParentOnFailure", "f"},
       {"cpof", "continueParentOnFailure", "c"},
       {"idof", "ignoreDependencyOnFailure", "i"},
       {"rdof", "removeDependencyOnFailure", "r"}}};
  for (const auto* const of : {&parent, &opts})
    for (const auto& [brief, full, letter] : kNames)
      if (flag_of(*of, brief) || flag_of(*of, full)) return *letter;
  return 'f';
}

std::optional<std::int64_t> v1_number(std::string_view text) {
  if (text.empty() || text == "null" || text == "undefined" || text == "NaN") return 0;
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return saturating_int64(number);
}

}  // namespace echomq::inline v2::migrate
