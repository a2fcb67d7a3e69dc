// SPDX-License-Identifier: MIT
#include "job_words.h"

#include <chrono>
#include <tuple>

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
  if (expires) {
    const auto time = duration("--expires", *expires, std::chrono::milliseconds(1));
    if (!time) return time.error();
    options.expires_in = *time;
  }
  const auto rank = whole_number("--priority", priority, 0, echomq::kMaxPriority);
  if (!rank) return rank.error();
  options.priority = static_cast<unsigned>(*rank);
  const auto tries = whole_number("--attempts", attempts, 1, echomq::kMaxAttempts);
  if (!tries) return tries.error();
  options.attempts = static_cast<unsigned>(*tries);
  const auto wait = emq::backoff("--backoff", backoff);
  if (!wait) return wait.error();
  options.backoff = *wait;
  for (const auto& [option, text, rule] :
       {std::tuple{"--keep-completed", &keep_completed, &options.keep_completed},
        std::tuple{"--keep-failed", &keep_failed, &options.keep_failed}}) {
    if (!*text) continue;
    const auto parsed = keep(option, **text);
    if (!parsed) return parsed.error();
    *rule = *parsed;
  }
  return options;
}

}  // namespace emq
