// SPDX-License-Identifier: MIT
// emq limit: shows the limits that hold for all workers and producers of a queue, and sets or ends
// them.
#include <memory>
#include <optional>
#include <string>

#include "argument.h"
#include "echomq/keyspace.h"
#include "echomq/limits.h"
#include "echomq/queue.h"
#include "moment.h"
#include "session.h"

namespace emq {
namespace {

using echomq::Error;
using echomq::Limits;
using echomq::QueueGate;
using echomq::RateLimit;
using echomq::Result;
using std::chrono::milliseconds;

constexpr std::string_view kNone = "none";

struct LimitOptions {
  std::string queue;
  std::optional<std::string> concurrency;
  std::optional<std::string> rate;
  std::optional<std::string> burst;
  std::optional<std::string> hold;
  std::optional<std::string> max_length;
};

// What is to be done; an inner nullopt ends that limit.
struct LimitChanges {
  std::optional<std::optional<unsigned>> concurrency;
  std::optional<std::optional<RateLimit>> rate;
  std::optional<std::optional<milliseconds>> hold;
  std::optional<std::optional<std::int64_t>> max_length;
};

Result<milliseconds> limit_time(std::string_view option, const std::string& text) {
  auto time = duration(option, text, milliseconds(1));
  if (time && *time > echomq::kMaxLimitTime) return bad_value(option, text, "at most 30d");
  return time;
}

// "100/1m"
Result<RateLimit> parsed_rate(const std::string& text, const std::optional<std::string>& burst) {
  const auto bar = text.find('/');
  if (bar == std::string::npos)
    return bad_value("--rate", text, "none, or MAX/TIME such as 100/1m");
  const auto max = whole_number("--rate", text.substr(0, bar), 1, echomq::kMaxRate);
  if (!max) return max.error();
  const auto time = limit_time("--rate", text.substr(bar + 1));
  if (!time) return time.error();
  RateLimit rate = RateLimit::window(static_cast<unsigned>(*max), *time);
  if (burst) {
    const auto at_once = whole_number("--burst", *burst, 1, *max);
    if (!at_once) return at_once.error();
    rate.burst = static_cast<unsigned>(*at_once);
  }
  return rate;
}

// A number, or none.
template <class N>
std::optional<Error> take_number(std::string_view option, const std::optional<std::string>& text,
                                 N most, std::optional<std::optional<N>>& change) {
  if (!text) return std::nullopt;
  change.emplace();
  if (*text == kNone) return std::nullopt;
  const auto value = whole_number(option, *text, 1, static_cast<std::uint64_t>(most));
  if (!value) return value.error();
  *change = static_cast<N>(*value);
  return std::nullopt;
}

Result<LimitChanges> changes_of(const LimitOptions& typed) {
  LimitChanges changes;
  if (auto bad = take_number("--concurrency", typed.concurrency, echomq::kMaxQueueConcurrency,
                             changes.concurrency))
    return *bad;
  if (auto bad = take_number("--max-length", typed.max_length, echomq::kMaxQueueLength,
                             changes.max_length))
    return *bad;
  if (typed.burst && (!typed.rate || *typed.rate == kNone))
    return bad_value("--burst", *typed.burst, "--rate MAX/TIME beside it");
  if (typed.rate) {
    changes.rate.emplace();
    if (*typed.rate != kNone) {
      const auto rate = parsed_rate(*typed.rate, typed.burst);
      if (!rate) return rate.error();
      *changes.rate = *rate;
    }
  }
  if (typed.hold) {
    changes.hold.emplace();
    if (*typed.hold != kNone) {
      const auto time = limit_time("--hold", *typed.hold);
      if (!time) return time.error();
      *changes.hold = *time;
    }
  }
  return changes;
}

std::optional<Error> apply(const LimitChanges& changes, echomq::Queue<>& queue) {
  if (changes.concurrency) {
    const auto done = *changes.concurrency ? queue.set_concurrency(**changes.concurrency)
                                           : queue.clear_concurrency();
    if (!done) return done.error();
  }
  if (changes.rate) {
    const auto done =
        *changes.rate ? queue.set_rate_limit(**changes.rate) : queue.clear_rate_limit();
    if (!done) return done.error();
  }
  if (changes.max_length) {
    const auto done =
        *changes.max_length ? queue.set_max_length(**changes.max_length) : queue.clear_max_length();
    if (!done) return done.error();
  }
  if (changes.hold && *changes.hold) {
    if (const auto until = queue.rate_limit(**changes.hold); !until) return until.error();
  } else if (changes.hold) {
    if (const auto done = queue.release_rate_limit(); !done) return done.error();
  }
  return std::nullopt;
}

std::string words_of(const RateLimit& rate) {
  auto text = fmt::format("{} in {}", grouped(rate.max), length(rate.duration));
  if (rate.burst > 0) text += fmt::format(", evenly, {} at once", grouped(rate.burst));
  return text;
}

void show_text(const Limits& limits, std::int64_t now_ms) {
  const auto moment = [now_ms](std::int64_t at) { return utc(at) + ", " + relative(at, now_ms); };
  print("concurrency  {}\n", limits.concurrency ? grouped(*limits.concurrency) : "none");
  print("rate         {}\n", limits.rate ? words_of(*limits.rate) : "none");
  print("length       {}\n", limits.max_length ? grouped(*limits.max_length) : "none");
  print("hold         {}\n",
        limits.held_until_ms ? "until " + moment(limits.held_until_ms) : "none");
  const auto opens = limits.opens_ms ? ", opens " + moment(limits.opens_ms) : std::string();
  const bool open = limits.gate == QueueGate::open;
  print("gate         {}{}\n",
        paint(open ? Style::plain : Style::yellow,
              open ? "open" : fmt::format("closed: {}", name(limits.gate)), stdout),
        opens);
}

Json limits_json(const std::string& queue, const Limits& limits) {
  Json out{{"queue", queue},        {"concurrency", nullptr},   {"rate", nullptr},
           {"max_length", nullptr}, {"held_until_ms", nullptr}, {"gate", name(limits.gate)},
           {"opens_ms", nullptr}};
  if (limits.concurrency) out["concurrency"] = *limits.concurrency;
  if (limits.rate)
    out["rate"] = {{"max", limits.rate->max},
                   {"duration_ms", limits.rate->duration.count()},
                   {"burst", limits.rate->burst}};
  if (limits.max_length) out["max_length"] = *limits.max_length;
  if (limits.held_until_ms != 0) out["held_until_ms"] = limits.held_until_ms;
  if (limits.opens_ms != 0) out["opens_ms"] = limits.opens_ms;
  return out;
}

Exit limit(const LimitOptions& typed, const Session& session) {
  if (const auto bare = echomq::queue_name(typed.queue); !bare) return session.fail(bare.error());
  const auto changes = changes_of(typed);
  if (!changes) return session.fail(changes.error());
  auto client = session.connect();
  if (!client) return session.fail(client.error());
  echomq::Queue<> queue{*client, typed.queue};
  if (const auto problem = apply(*changes, queue)) return session.fail(*problem);
  const auto limits = queue.limits();
  if (!limits) return session.fail(limits.error());
  if (session.json)
    print_json(limits_json(queue.name(), *limits));
  else
    show_text(*limits, client->server_time_ms());
  return Exit::ok;
}

}  // namespace

void declare_limit(CLI::App& app, Session& session) {
  auto* verb = session.declare(
      app, "limit", "Show, set or end what limits all workers and producers of a queue together",
      "  emq limit mail\n"
      "  emq limit mail --concurrency 10 --rate 100/1m\n"
      "  emq limit mail --rate 600/1m --burst 5     # every 100 ms, 5 at once after a pause\n"
      "  emq limit mail --rate none --hold none\n"
      "  emq limit mail --max-length 100000         # adds beyond it are refused as queue_full\n"
      "A limit holds until it is set again or ended, whatever options the workers have. Without "
      "options it is shown. A job counts for the rate when a worker takes it, also when it is "
      "given "
      "back unworked.\n");
  auto typed = std::make_shared<LimitOptions>();
  verb->add_option("QUEUE", typed->queue, "The queue")->required();
  verb->add_option("--concurrency", typed->concurrency,
                   "At most so many jobs run at the same time: 1 to 1000000, or none")
      ->type_name("N");
  verb->add_option("--rate", typed->rate,
                   "At most so many jobs start in that time: 100/1m, or none")
      ->type_name("MAX/TIME");
  verb->add_option("--burst", typed->burst,
                   "With --rate: evenly spaced, so many at once after an idle time, 1 to MAX")
      ->type_name("N");
  verb->add_option("--max-length", typed->max_length,
                   "At most so many jobs wait or are delayed: 1 to 1000000000, or none")
      ->type_name("N");
  verb->add_option("--hold", typed->hold, "No job starts for so long, at most 30d; none ends it")
      ->type_name("TIME");
  session.declare_server(*verb);
  session.declare_json(*verb,
                       R"(Print {"queue","concurrency","rate":{..},"max_length","gate",..})");
  verb->callback(
      [typed, &session] { session.run = [typed, &session] { return limit(*typed, session); }; });
}

}  // namespace emq
