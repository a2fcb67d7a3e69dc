// SPDX-License-Identifier: MIT
#include "fleet/options.h"

namespace fleet {
namespace {

using bench::Json;
using echomq::Backoff;
using std::chrono::milliseconds;

echomq::Keep keep_of(const Json& in) {
  return {in.at("count"), std::chrono::seconds(in.at("age")), in.at("bytes")};
}

Json json_of(const echomq::Keep& keep) {
  return {{"count", keep.count}, {"age", keep.age.count()}, {"bytes", keep.bytes}};
}

}  // namespace

echomq::JobOptions options_of(const Json& in) {
  echomq::JobOptions out;
  out.attempts = in.value("attempts", 1U);
  if (const auto it = in.find("backoff"); it != in.end())
    out.backoff = {it->at("type") == "fixed" ? Backoff::Kind::fixed : Backoff::Kind::exponential,
                   milliseconds(it->at("delay")), it->value("jitter", 0.0)};
  out.delay = milliseconds(in.value("delay", std::int64_t{0}));
  out.priority = in.value("priority", 0U);
  out.lifo = in.value("lifo", false);
  out.id = in.value("id", "");
  out.name = in.value("name", "job");
  if (in.contains("keep_completed")) out.keep_completed = keep_of(in.at("keep_completed"));
  if (in.contains("keep_failed")) out.keep_failed = keep_of(in.at("keep_failed"));
  if (in.contains("expires_in")) out.expires_in = milliseconds(in.at("expires_in"));
  out.traceparent = in.value("traceparent", "");
  out.tracestate = in.value("tracestate", "");
  if (const auto it = in.find("deduplication"); it != in.end()) {
    echomq::Deduplication rule{.id = it->at("id")};
    if (it->contains("ttl")) rule.ttl = milliseconds(it->at("ttl"));
    rule.extend = it->value("extend", false);
    rule.replace = it->value("replace", false);
    rule.keep_last = it->value("keep_last", false);
    out.deduplication = std::move(rule);
  }
  return out;
}

Json json_of(const echomq::JobOptions& in) {
  Json out = Json::object();
  if (in.attempts != 1) out["attempts"] = in.attempts;
  if (in.backoff.kind != Backoff::Kind::none) {
    auto& backoff = out["backoff"];
    backoff = {{"type", in.backoff.kind == Backoff::Kind::fixed ? "fixed" : "exponential"},
               {"delay", in.backoff.delay.count()}};
    if (in.backoff.jitter != 0) backoff["jitter"] = in.backoff.jitter;
  }
  if (in.delay.count() != 0) out["delay"] = in.delay.count();
  if (in.priority != 0) out["priority"] = in.priority;
  if (in.lifo) out["lifo"] = true;
  if (in.keep_completed) out["keep_completed"] = json_of(*in.keep_completed);
  if (in.keep_failed) out["keep_failed"] = json_of(*in.keep_failed);
  if (in.expires_in) out["expires_in"] = in.expires_in->count();
  if (!in.traceparent.empty()) out["traceparent"] = in.traceparent;
  if (!in.tracestate.empty()) out["tracestate"] = in.tracestate;
  if (in.deduplication) {
    auto& rule = out["deduplication"];
    rule["id"] = in.deduplication->id;
    if (in.deduplication->ttl) rule["ttl"] = in.deduplication->ttl->count();
    if (in.deduplication->extend) rule["extend"] = true;
    if (in.deduplication->replace) rule["replace"] = true;
    if (in.deduplication->keep_last) rule["keep_last"] = true;
  }
  return out;
}

}  // namespace fleet
