// SPDX-License-Identifier: MIT
#include "job/encode.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bad_option.h"
#include "base/number.h"
#include "echomq/keyspace.h"

namespace echomq::inline v2::job {
namespace {

constexpr std::size_t kMaxName = 255;

std::string number(double value) {
  std::array<char, 32> out{};
  const auto end = std::to_chars(out.data(), out.data() + out.size(), value).ptr;
  return {out.data(), end};
}

Result<void> check_backoff(const Backoff& backoff) {
  if (backoff.delay.count() < 0 || backoff.delay > kMaxDelay)
    return bad_option("backoff.delay", std::to_string(backoff.delay.count()),
                      "milliseconds, 0 to ten years");
  if (!(backoff.jitter >= 0.0 && backoff.jitter <= 1.0))
    return bad_option("backoff.jitter", number(backoff.jitter), "a share from 0 to 1");
  if (backoff.kind == Backoff::Kind::none && backoff.delay.count() != 0)
    return bad_option("backoff.delay", std::to_string(backoff.delay.count()),
                      "0 where backoff.kind is none; use Backoff::fixed or Backoff::exponential");
  if (backoff.kind == Backoff::Kind::none && backoff.jitter != 0.0)
    return bad_option("backoff.jitter", number(backoff.jitter), "0 where backoff.kind is none");
  return {};
}

Result<void> check_durability(const Durability& durability) {
  constexpr unsigned kMaxReplicas = 1'000;
  constexpr std::chrono::milliseconds kMaxWait = std::chrono::minutes(10);
  const bool replicated = durability.kind == Durability::Kind::replicated;
  if (replicated && (durability.replicas < 1 || durability.replicas > kMaxReplicas))
    return bad_option("durability.replicas", std::to_string(durability.replicas), "1 to 1000");
  if (!replicated && durability.replicas != 0)
    return bad_option("durability.replicas", std::to_string(durability.replicas),
                      "0 where durability.kind is not replicated; use Durability::replicated");
  if (durability.timeout < std::chrono::milliseconds(1) || durability.timeout > kMaxWait)
    return bad_option("durability.timeout", std::to_string(durability.timeout.count()),
                      "milliseconds, 1 to 600000 (ten minutes)");
  return {};
}

// W3C Trace Context, section 3.2: fields of fixed length in lower-case hexadecimal digits, of which
// neither id may be all zeros.
bool is_traceparent(std::string_view text) {
  constexpr std::array<std::size_t, 4> kDigits{2, 32, 16, 2};
  if (text.size() != 55 || !text.starts_with("00-")) return false;
  for (const auto digits : kDigits) {
    const auto field = text.substr(0, digits);
    text.remove_prefix(digits);
    if (field.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
    if (digits > 2 && field.find_first_not_of('0') == std::string_view::npos) return false;
    if (text.empty()) continue;
    if (text.front() != '-') return false;
    text.remove_prefix(1);
  }
  return true;
}

Result<void> check_trace(const JobOptions& options) {
  constexpr std::size_t kMaxTracestate = 512;
  if (!options.traceparent.empty() && !is_traceparent(options.traceparent))
    return bad_option("traceparent", options.traceparent,
                      "00-<32 hex>-<16 hex>-<2 hex> in lower case, no id all zeros");
  if (options.tracestate.empty()) return {};
  if (options.traceparent.empty())
    return bad_option("tracestate", options.tracestate, "none where traceparent is not given");
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (options.tracestate.size() > kMaxTracestate ||
      !std::all_of(options.tracestate.begin(), options.tracestate.end(), printable))
    return bad_option("tracestate", std::to_string(options.tracestate.size()) + " bytes long",
                      "at most 512 printable ASCII characters");
  return {};
}

Result<void> check_deduplication(const Deduplication& rule) {
  if (auto ok = check_deduplication_id(rule.id); !ok) return ok;
  const auto ttl = rule.ttl ? std::to_string(rule.ttl->count()) : std::string("none");
  if (rule.ttl && (rule.ttl->count() < 1 || *rule.ttl > kMaxDelay))
    return bad_option("deduplication.ttl", ttl, "milliseconds, 1 to ten years");
  if (rule.extend && !rule.ttl)
    return bad_option("deduplication.extend", "true without a ttl", "a ttl that begins anew");
  if (rule.keep_last && rule.replace)
    return bad_option("deduplication.keep_last", "true with replace", "one of the two");
  if (rule.keep_last && rule.ttl)
    return bad_option("deduplication.keep_last", "true with a ttl of " + ttl,
                      "no ttl: the id is owned until the owner is over");
  return {};
}

Result<void> check(const JobOptions& options) {
  if (options.attempts < 1 || options.attempts > kMaxAttempts)
    return bad_option("attempts", std::to_string(options.attempts),
                      "1 to " + std::to_string(kMaxAttempts));
  if (options.delay.count() < 0 || options.delay > kMaxDelay)
    return bad_option("delay", std::to_string(options.delay.count()),
                      "milliseconds, 0 to ten years");
  if (options.expires_in) {
    const auto expires = std::to_string(options.expires_in->count());
    if (options.expires_in->count() < 1 || *options.expires_in > kMaxDelay)
      return bad_option("expires_in", expires, "milliseconds, 1 to ten years");
    if (*options.expires_in <= options.delay)
      return bad_option("expires_in", expires,
                        "more than delay, which is " + std::to_string(options.delay.count()) +
                            ": it would never run");
  }
  if (options.priority > kMaxPriority)
    return bad_option("priority", std::to_string(options.priority),
                      "0 to " + std::to_string(kMaxPriority));
  if (options.lifo && options.priority != 0)
    return bad_option(
        "lifo", "true with priority " + std::to_string(options.priority),
        "either lifo or a priority: among equal priorities the first one in goes first");
  if (options.name.size() > kMaxName)
    return bad_option("name", std::to_string(options.name.size()) + " bytes long",
                      "at most 255 bytes");
  if (!is_utf8(options.name))
    return Error{ErrorCode::encoding, "the job's name is not UTF-8", {{"option", "name"}}};
  if (auto ok = check_backoff(options.backoff); !ok) return ok;
  if (options.keep_completed)
    if (auto ok = check_keep("keep_completed", *options.keep_completed); !ok) return ok;
  if (options.keep_failed)
    if (auto ok = check_keep("keep_failed", *options.keep_failed); !ok) return ok;
  if (auto ok = check_durability(options.durability); !ok) return ok;
  if (auto ok = check_trace(options); !ok) return ok;
  if (options.deduplication)
    if (auto ok = check_deduplication(*options.deduplication); !ok) return ok;
  if (!options.id.empty()) return check_job_id(options.id);
  return {};
}

// Printable ASCII in quotes.
std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Written by hand: it is numbers, fixed words and printable ASCII, and on the hot path.
std::string encode_opts(const JobOptions& options) {
  std::string out = "{";
  const auto put = [&out](std::string_view key, const std::string& value) {
    if (out.size() > 1) out += ',';
    out.append("\"").append(key).append("\":").append(value);
  };
  const auto keep = [&put](std::string_view key, const std::optional<Keep>& rule) {
    if (!rule) return;
    put(key, "{\"count\":" + std::to_string(rule->count) +
                 ",\"age\":" + std::to_string(rule->age.count()) +
                 (rule->bytes == 0 ? "" : ",\"bytes\":" + std::to_string(rule->bytes)) + "}");
  };
  if (options.attempts != 1) put("attempts", std::to_string(options.attempts));
  if (options.backoff.kind != Backoff::Kind::none) {
    std::string backoff = options.backoff.kind == Backoff::Kind::fixed ? R"({"type":"fixed")"
                                                                       : R"({"type":"exponential")";
    backoff += ",\"delay\":" + std::to_string(options.backoff.delay.count());
    if (options.backoff.jitter != 0.0) backoff += ",\"jitter\":" + number(options.backoff.jitter);
    put("backoff", backoff + "}");
  }
  keep("removeOnComplete", options.keep_completed);
  keep("removeOnFail", options.keep_failed);
  if (options.expires_in) put("expire", std::to_string(options.expires_in->count()));
  if (!options.traceparent.empty()) put("traceparent", json_text(options.traceparent));
  if (!options.tracestate.empty()) put("tracestate", json_text(options.tracestate));
  if (options.deduplication) {
    const auto& rule = *options.deduplication;
    auto text = "{\"id\":" + nlohmann::json(rule.id).dump();
    if (rule.ttl) text += ",\"ttl\":" + std::to_string(rule.ttl->count());
    if (rule.extend) text += ",\"extend\":true";
    if (rule.replace) text += ",\"replace\":true";
    if (rule.keep_last) text += ",\"keepLastIfActive\":true";
    put("de", text + "}");
  }
  return out.size() > 1 ? out + "}" : std::string();
}

// The nearest one that fits: JSON can write any number.
std::int64_t whole(const nlohmann::json& number) {
  constexpr auto kGreatest = std::numeric_limits<std::int64_t>::max();
  if (number.is_number_float()) return saturating_int64(number.get<double>());
  if (number.is_number_unsigned() && number.get<std::uint64_t>() > std::uint64_t{kGreatest})
    return kGreatest;
  return number.get<std::int64_t>();
}

std::int64_t whole(const nlohmann::json& json, const char* key, std::int64_t otherwise) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number() ? whole(*it) : otherwise;
}

std::string text_of(const nlohmann::json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::chrono::milliseconds stored_delay(std::int64_t ms) {
  return std::chrono::milliseconds(std::clamp<std::int64_t>(ms, 0, kMaxDelay.count()));
}

std::chrono::seconds stored_age(std::int64_t s) {
  return std::chrono::seconds(std::clamp<std::int64_t>(s, 0, kMaxKeepAge.count()));
}

// v1 also writes true (keep nothing), false (keep all) and a bare count.
std::optional<Keep> decode_keep(const nlohmann::json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) return std::nullopt;
  if (it->is_boolean()) return it->get<bool>() ? Keep::none() : Keep::all();
  if (it->is_number()) return Keep{whole(*it), std::chrono::seconds(0)};
  if (it->is_object())
    return Keep{whole(*it, "count", -1), stored_age(whole(*it, "age", 0)),
                std::clamp<std::int64_t>(whole(*it, "bytes", 0), 0, kMaxKeepBytes)};
  return std::nullopt;
}

std::optional<Deduplication> decode_deduplication(const nlohmann::json& json) {
  const auto it = json.find("de");
  if (it == json.end() || !it->is_object()) return std::nullopt;
  const auto id = it->find("id");
  if (id == it->end() || !id->is_string()) return std::nullopt;
  const auto flag = [&it](const char* key) {
    const auto set = it->find(key);
    return set != it->end() && set->is_boolean() && set->get<bool>();
  };
  Deduplication rule{.id = id->get<std::string>()};
  if (const auto ttl = whole(*it, "ttl", 0); ttl > 0) rule.ttl = stored_delay(ttl);
  rule.extend = flag("extend");
  rule.replace = flag("replace");
  rule.keep_last = flag("keepLastIfActive");
  return rule;
}

}  // namespace

Result<void> check_keep(const std::string& option, const Keep& keep) {
  if (keep.age.count() < 0 || keep.age > kMaxKeepAge)
    return bad_option(option + ".age", std::to_string(keep.age.count()),
                      "seconds, 0 (no limit) to a hundred years");
  if (keep.bytes < 0 || keep.bytes > kMaxKeepBytes)
    return bad_option(option + ".bytes", std::to_string(keep.bytes), "0 (no limit) to 2^40");
  return {};
}

Result<void> check_deduplication_id(std::string_view id) {
  constexpr std::string_view kExpected = "1 to 255 bytes of UTF-8";
  if (id.empty()) return bad_option("deduplication.id", "empty", kExpected);
  if (id.size() > kMaxDeduplicationId)
    return bad_option("deduplication.id", std::to_string(id.size()) + " bytes long", kExpected);
  if (!is_utf8(id))
    return Error{
        ErrorCode::encoding, "the deduplication id is not UTF-8", {{"option", "deduplication.id"}}};
  return {};
}

Result<void> check_job(std::string_view data, const JobOptions& options, std::size_t data_limit) {
  if (auto ok = check(options); !ok) return ok;
  if (data.size() > data_limit)
    return Error{
        ErrorCode::too_large,
        "the job's data is " + std::to_string(data.size()) + " bytes long; the limit is " +
            std::to_string(data_limit) + " (ClientOptions::data_limit, at most 64 MiB)",
        {{"value", std::to_string(data.size())}, {"expected", std::to_string(data_limit)}}};
  return {};
}

EncodedJob encode_checked(std::string data, const JobOptions& options) {
  return {options.id,           options.name,          std::move(data),
          encode_opts(options), options.delay.count(), options.priority,
          options.lifo,         options.deduplication};
}

Result<EncodedJob> encode_job(std::string data, const JobOptions& options, std::size_t data_limit) {
  if (auto ok = check_job(data, options, data_limit); !ok) return ok.error();
  return encode_checked(std::move(data), options);
}

JobOptions decode_opts(std::string_view text) { return decode_stored(text).options; }

std::string with_parent(std::string opts, const std::string& parent) {
  if (opts.empty())
    opts = "{";
  else
    opts.back() = ',';
  return opts + "\"parent\":\"" + parent + "\"}";
}

StoredOptions decode_stored(std::string_view text) {
  StoredOptions stored;
  if (text.empty() || text == "{}") return stored;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return stored;
  auto& options = stored.options;
  options.attempts =
      static_cast<unsigned>(std::clamp<std::int64_t>(whole(json, "attempts", 1), 1, kMaxAttempts));
  if (const auto it = json.find("backoff"); it != json.end() && it->is_object()) {
    const auto type = it->find("type");
    const bool grows = type != it->end() && *type == "exponential";
    options.backoff = {grows ? Backoff::Kind::exponential : Backoff::Kind::fixed,
                       stored_delay(whole(*it, "delay", 0)), 0.0};
    if (const auto jitter = it->find("jitter"); jitter != it->end() && jitter->is_number())
      options.backoff.jitter = std::clamp(jitter->get<double>(), 0.0, 1.0);
  } else if (it != json.end() && it->is_number()) {
    options.backoff = Backoff::fixed(stored_delay(whole(*it)));
  }
  if (const auto expire = whole(json, "expire", 0); expire > 0)
    options.expires_in = stored_delay(expire);
  options.deduplication = decode_deduplication(json);
  options.keep_completed = decode_keep(json, "removeOnComplete");
  options.keep_failed = decode_keep(json, "removeOnFail");
  options.traceparent = text_of(json, "traceparent");
  options.tracestate = text_of(json, "tracestate");
  stored.parent = text_of(json, "parent");
  return stored;
}

std::chrono::milliseconds backoff_delay(const Backoff& backoff, unsigned failures, double draw) {
  if (backoff.kind == Backoff::Kind::none) return std::chrono::milliseconds(0);
  auto delay = static_cast<double>(backoff.delay.count());
  if (backoff.kind == Backoff::Kind::exponential && failures > 1)
    delay *= std::exp2(std::min(failures - 1, 62U));
  delay = std::min(delay, static_cast<double>(kMaxDelay.count()));
  delay *= 1.0 - backoff.jitter * draw;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::llround(delay)));
}

bool is_utf8(std::string_view text) noexcept {
  const auto byte = [&text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xC0U) != 0x80U) return false;
    if (length == 3) {
      const unsigned second = byte(i + 1);
      if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return false;
    }
    if (length == 4) {
      const unsigned second = byte(i + 1);
      if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace echomq::inline v2::job
