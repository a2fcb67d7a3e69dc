// SPDX-License-Identifier: MIT
#include "job_words.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "argument.h"

namespace emq {

void JobWords::declare(CLI::App& verb) {
  verb.add_option("--expires", expires,
                  "Fails unworked when no worker took it by then; more than --delay")
      ->type_name("TIME");
  verb.add_option("--priority", priority, "0 goes first, then 1, 2 ... 2097151")->type_name("N");
  verb.add_option("--attempts", attempts, "How often it may be tried")
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("--backoff", backoff,
                  "Wait between attempts: fixed:TIME or exponential:TIME, then ,JITTER (0 to 1)")
      ->type_name("RULE")
      ->capture_default_str();
  verb.add_flag("--lifo", lifo, "To the front of the line; excludes --priority");
  verb.add_option("--keep-completed", keep_completed,
                  "How many completed jobs stay, how long, and how much: all, none, 1000, 24h, "
                  "64MiB, 1000,24h. "
                  "Default: the worker's rule")
      ->type_name("RULE");
  verb.add_option("--keep-failed", keep_failed, "The same for failed jobs")->type_name("RULE");
  verb.add_option("--traceparent", traceparent,
                  "The trace that it belongs to, as W3C Trace Context writes it; handlers read it")
      ->type_name("TRACE");
}

echomq::Result<echomq::JobOptions> JobWords::read() const {
  echomq::JobOptions options;
  options.lifo = lifo;
  options.traceparent = traceparent;
  for (const auto& [option, text] :
       {std::pair{"--expires", expires}, std::pair{"--priority", std::optional(priority)},
        std::pair{"--attempts", std::optional(attempts)},
        std::pair{"--backoff", std::optional(backoff)},
        std::pair{"--keep-completed", keep_completed}, std::pair{"--keep-failed", keep_failed}}) {
    if (!text) continue;
    if (const auto set = set_job_option(option, *text, options); !set) return set.error();
  }
  return options;
}

echomq::Result<bool> set_job_option(const std::string& option, const std::string& text,
                                    echomq::JobOptions& options) {
  using std::chrono::milliseconds;
  auto key = option.substr(option.starts_with("--") ? 2 : 0);
  std::replace(key.begin(), key.end(), '-', '_');
  if (key == "attempts") {
    const auto tries = whole_number(option, text, 1, echomq::kMaxAttempts);
    if (!tries) return tries.error();
    options.attempts = static_cast<unsigned>(*tries);
  } else if (key == "backoff") {
    const auto rule = backoff(option, text);
    if (!rule) return rule.error();
    options.backoff = *rule;
  } else if (key == "delay") {
    const auto time = duration(option, text);
    if (!time) return time.error();
    options.delay = *time;
  } else if (key == "expires") {
    const auto time = duration(option, text, milliseconds(1));
    if (!time) return time.error();
    options.expires_in = *time;
  } else if (key == "keep_completed" || key == "keep_failed") {
    const auto rule = keep(option, text);
    if (!rule) return rule.error();
    (key == "keep_completed" ? options.keep_completed : options.keep_failed) = *rule;
  } else if (key == "priority") {
    const auto rank = whole_number(option, text, 0, echomq::kMaxPriority);
    if (!rank) return rank.error();
    options.priority = static_cast<unsigned>(*rank);
  } else {
    return false;
  }
  return true;
}

}  // namespace emq
