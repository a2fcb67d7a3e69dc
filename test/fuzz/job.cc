// SPDX-License-Identifier: MIT
// Jobs, as they are stored and as they are added. The first byte of an input chooses:
//
//   o  JSON: the options of a stored job
//   a  lines: the options of a new job, in the order of new_options()
//   s  (or any other) lines: the elements of a server's answer. "(nil)", "(error) ..." and
//      "(integer) 1" stand for what redis-cli shows so, any other line is a string.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/number.h"
#include "echomq/keyspace.h"
#include "fuzz/errors.h"
#include "fuzz/lines.h"
#include "fuzz/target.h"
#include "job/encode.h"
#include "job/record.h"

namespace echomq::fuzz {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kDataLimit = 100;

// What travels in the JSON; the other options have fields of their own.
bool same_stored_options(const JobOptions& a, const JobOptions& b) {
  return a.attempts == b.attempts && a.backoff.kind == b.backoff.kind &&
         a.backoff.delay == b.backoff.delay && a.backoff.jitter == b.backoff.jitter &&
         a.expires_in == b.expires_in && a.keep_completed == b.keep_completed &&
         a.keep_failed == b.keep_failed;
}

// ---- Stored options ----

// How long a retry waits, for the failures and draws at the ends of their ranges.
void require_delays_in_range(const Backoff& backoff) {
  for (const unsigned failures : {0U, 1U, 2U, 63U, 64U, kMaxAttempts}) {
    const auto longest = job::backoff_delay(backoff, failures, 0.0);
    const auto shortest = job::backoff_delay(backoff, failures, std::nextafter(1.0, 0.0));
    require(shortest.count() >= 0 && shortest <= longest && longest <= kMaxDelay,
            "a retry waits from 0 to ten years, and no longer by its jitter");
  }
}

// Read options are as good as given ones, whoever wrote them: what a worker computes from them has
// no further checks.
void require_valid_options(const JobOptions& options) {
  const auto encoded = job::encode_job("", options, kDataLimit);
  require(encoded.ok(), "options that were read are options that may be given",
          encoded ? "" : std::string_view(encoded.error().detail));
  require(same_stored_options(job::decode_opts(encoded->opts), options),
          "options that were read stay the same when written and read again", encoded->opts);
  require_delays_in_range(options.backoff);
  for (const auto& keep : {options.keep_completed, options.keep_failed})
    if (keep) require(milliseconds(keep->age).count() >= 0, "an age has its milliseconds");
}

// ---- Stored jobs ----

wire::Reply element(std::string_view line) {
  using Kind = wire::Reply::Kind;
  wire::Reply reply;
  if (line == "(nil)") return reply;
  if (line.starts_with("(integer) ")) {
    reply.kind = Kind::integer;
    reply.integer = to_number<std::int64_t>(line.substr(10));
  } else if (line.starts_with("(error) ")) {
    reply.kind = Kind::error;
    reply.text = line.substr(8);
  } else {
    reply.kind = Kind::text;
    reply.text = line;
  }
  return reply;
}

void check_loaded(const wire::Reply& reply) {
  const auto loaded = job::read_loaded("42", reply);
  const bool whole = reply.items.size() == job::kLoadFields.size();
  require(loaded.has_value() == (whole && !reply.items[0].is_null()),
          "a job is loaded when its hash was there");
  if (!loaded) return;
  require(loaded->id == "42" && loaded->data == reply.items[1].text,
          "the data is that of the answer");
  const auto head = job::read_head(reply.items[0].text);
  require(loaded->name == (head ? head->name : std::string_view()),
          "the name is that of the head, and none where it is odd", loaded->name);
  require_valid_options(loaded->options);
}

void check_info(const wire::Reply& reply) {
  const auto info = job::read_info("mail", "42", reply);
  require(info.has_value() == (reply.items.size() >= 2), "a job is read when it has a state");
  if (!info) return;
  require(info->queue == "mail" && info->id == "42", "a job is the one that was asked for");
  require(name(info->state) == reply.items[0].text || info->state == JobState::waiting,
          "a job is in the state of the answer", name(info->state));
  require(info->state == JobState::delayed || info->due_ms == 0, "only a delayed job is due");
  // Delay, priority and lifo are fields of their own, shown as they stand.
  JobOptions options = info->options;
  options.delay = milliseconds(0);
  options.priority = 0;
  options.lifo = false;
  require_valid_options(options);
}

void check_stored(std::string_view input) {
  wire::Reply reply;
  reply.kind = wire::Reply::Kind::array;
  for (Lines lines(input); !lines.empty();) reply.items.push_back(element(lines.next()));
  check_loaded(reply);
  check_info(reply);
}

// ---- New jobs ----

std::optional<Keep> new_keep(Lines& lines) {
  const auto count = lines.next();
  const auto age = seconds(lines.number<std::int64_t>());
  if (count.empty()) return std::nullopt;
  return Keep{to_number<std::int64_t>(count), age};
}

JobOptions new_options(Lines& lines) {
  JobOptions options;
  options.id = lines.next();
  options.name = lines.next();
  options.attempts = lines.number<unsigned>();
  options.delay = milliseconds(lines.number<std::int64_t>());
  options.priority = lines.number<unsigned>();
  options.lifo = lines.next() == "lifo";
  const auto kind = lines.next();
  options.backoff.kind = kind == "fixed"         ? Backoff::Kind::fixed
                         : kind == "exponential" ? Backoff::Kind::exponential
                                                 : Backoff::Kind::none;
  options.backoff.delay = milliseconds(lines.number<std::int64_t>());
  options.backoff.jitter = lines.number<double>();
  options.keep_completed = new_keep(lines);
  options.keep_failed = new_keep(lines);
  if (const auto expires = lines.number<std::int64_t>(); expires != 0)
    options.expires_in = milliseconds(expires);
  if (options.keep_failed) options.keep_failed->bytes = lines.number<std::int64_t>();
  return options;
}

// nlohmann/json knows UTF-8 too: what it would replace is what it takes for none.
bool json_takes_for_utf8(const std::string& text) {
  using Handler = nlohmann::json::error_handler_t;
  const nlohmann::json json(text);
  return json.dump(-1, ' ', false, Handler::replace) == json.dump(-1, ' ', false, Handler::ignore);
}

// What echomq/options.h says of each option.
bool may_be_given(const JobOptions& options, const std::string& data) {
  const auto in_range = [](auto value, auto least, auto most) {
    return value >= least && value <= most;
  };
  const auto& [kind, delay, jitter] = options.backoff;
  const bool backoff = in_range(delay, milliseconds(0), kMaxDelay) && in_range(jitter, 0.0, 1.0) &&
                       (kind != Backoff::Kind::none || (delay.count() == 0 && jitter == 0.0));
  const auto keep = [&](const std::optional<Keep>& rule) {
    return !rule || (in_range(rule->age, seconds(0), kMaxKeepAge) &&
                     in_range(rule->bytes, std::int64_t{0}, kMaxKeepBytes));
  };
  return in_range(options.attempts, 1U, kMaxAttempts) &&
         in_range(options.delay, milliseconds(0), kMaxDelay) &&
         (!options.expires_in || (in_range(*options.expires_in, milliseconds(1), kMaxDelay) &&
                                  *options.expires_in > options.delay)) &&
         options.priority <= kMaxPriority && !(options.lifo && options.priority != 0) &&
         options.name.size() <= 255 && job::is_utf8(options.name) && backoff &&
         keep(options.keep_completed) && keep(options.keep_failed) &&
         (options.id.empty() || check_job_id(options.id).ok()) && data.size() <= kDataLimit;
}

void check_new(std::string_view input) {
  Lines lines(input);
  const std::string data(lines.next());
  const auto options = new_options(lines);
  require(job::is_utf8(options.name) == json_takes_for_utf8(options.name),
          "UTF-8 is what RFC 3629 says", options.name);

  const auto encoded = job::encode_job(data, options, kDataLimit);
  require(encoded.ok() == may_be_given(options, data), "exactly the options in range are taken",
          encoded ? std::string_view(encoded->opts) : encoded.error().detail);
  if (!encoded) {
    require_loggable(encoded.error());
    return;
  }
  require(encoded->data == data && encoded->id == options.id && encoded->name == options.name &&
              encoded->delay_ms == options.delay.count() && encoded->priority == options.priority &&
              encoded->lifo == options.lifo,
          "an encoded job is the one that was given");
  require(encoded->opts.empty() || nlohmann::json::accept(encoded->opts),
          "encoded options are JSON", encoded->opts);
  const auto decoded = job::decode_opts(encoded->opts);
  require(same_stored_options(decoded, options), "options survive their JSON", encoded->opts);
  require_valid_options(decoded);
}

}  // namespace

void job(std::string_view input) {
  if (input.empty()) return;
  const auto rest = input.substr(1);
  switch (input.front()) {
    case 'o': return require_valid_options(job::decode_opts(rest));
    case 'a': return check_new(rest);
    default: return check_stored(rest);
  }
}

}  // namespace echomq::fuzz
