// SPDX-License-Identifier: MIT
#include "option_lines.h"

#include <fmt/core.h>

#include "moment.h"
#include "output.h"

namespace emq {
namespace {

using echomq::Backoff;
using echomq::Keep;

std::string describe(const Backoff& backoff) {
  if (backoff.kind == Backoff::Kind::none) return "none";
  auto text =
      fmt::format("{}, {} ms", backoff.kind == Backoff::Kind::fixed ? "fixed" : "exponential",
                  backoff.delay.count());
  if (backoff.jitter > 0) text += fmt::format(", jitter {}", backoff.jitter);
  return text;
}

std::string describe(const Keep& keep) {
  const auto count = keep.count < 0 ? "any number" : grouped(keep.count);
  auto text = keep.age.count() == 0 ? count : count + ", for " + length(keep.age);
  if (keep.bytes != 0) text += ", " + grouped(keep.bytes) + " bytes";
  return text;
}

std::string describe(const echomq::Deduplication& rule) {
  auto text = rule.id;
  if (rule.ttl) text += ", for " + length(*rule.ttl);
  if (rule.extend) text += ", extended";
  if (rule.replace) text += ", replaced while delayed";
  if (rule.keep_last) text += ", the last one is kept";
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> option_lines(const echomq::JobOptions& options) {
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("backoff", describe(options.backoff));
  lines.emplace_back("priority", options.lifo ? std::string("front of the line (lifo)")
                                              : std::to_string(options.priority));
  if (options.delay.count() != 0) lines.emplace_back("delay", length(options.delay));
  if (options.expires_in) lines.emplace_back("expires in", length(*options.expires_in));
  if (options.keep_completed)
    lines.emplace_back("keep completed", describe(*options.keep_completed));
  if (options.keep_failed) lines.emplace_back("keep failed", describe(*options.keep_failed));
  if (options.deduplication) lines.emplace_back("deduplication", describe(*options.deduplication));
  if (!options.traceparent.empty()) lines.emplace_back("traceparent", options.traceparent);
  if (!options.tracestate.empty()) lines.emplace_back("tracestate", options.tracestate);
  return lines;
}

}  // namespace emq
