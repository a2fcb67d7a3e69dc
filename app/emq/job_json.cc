// SPDX-License-Identifier: MIT
#include "job_json.h"

#include <optional>

#include "echomq/id.h"

namespace emq {
namespace {

using echomq::Backoff;
using echomq::JobInfo;
using echomq::Keep;

Json keep_json(const std::optional<Keep>& keep) {
  if (!keep) return nullptr;
  return {{"count", keep->count}, {"age_s", keep->age.count()}, {"bytes", keep->bytes}};
}

Json deduplication_json(const std::optional<echomq::Deduplication>& rule) {
  if (!rule) return nullptr;
  return {{"id", rule->id},
          {"ttl_ms", rule->ttl ? Json(rule->ttl->count()) : Json(nullptr)},
          {"extend", rule->extend},
          {"replace", rule->replace},
          {"keep_last", rule->keep_last}};
}

}  // namespace

Json options_json(const echomq::JobOptions& options) {
  Json backoff = nullptr;
  if (options.backoff.kind != Backoff::Kind::none)
    backoff = {{"type", options.backoff.kind == Backoff::Kind::fixed ? "fixed" : "exponential"},
               {"delay_ms", options.backoff.delay.count()},
               {"jitter", options.backoff.jitter}};
  return {{"attempts", options.attempts},
          {"backoff", backoff},
          {"delay_ms", options.delay.count()},
          {"expires_in_ms", options.expires_in ? Json(options.expires_in->count()) : Json(nullptr)},
          {"priority", options.priority},
          {"lifo", options.lifo},
          {"keep_completed", keep_json(options.keep_completed)},
          {"keep_failed", keep_json(options.keep_failed)},
          {"traceparent", options.traceparent},
          {"tracestate", options.tracestate},
          {"deduplication", deduplication_json(options.deduplication)}};
}

Json to_json(const JobInfo& job) {
  Json out{{"queue", job.queue}, {"id", job.id}};
  if (const auto branded = echomq::brand_id(job.id)) out["branded"] = *branded;
  put_bytes(out, "name", job.name);
  out["state"] = name(job.state);
  put_bytes(out, "data", job.data);
  out["options"] = options_json(job.options);
  out["attempts_made"] = job.attempts_made;
  out["attempts_started"] = job.attempts_started;
  out["crashes"] = job.crashes;
  out["added_ms"] = time_json(job.added_ms);
  out["due_ms"] = time_json(job.due_ms);
  out["processed_ms"] = time_json(job.processed_ms);
  out["finished_ms"] = time_json(job.finished_ms);
  put_bytes(out, "worker", job.worker);
  put_bytes(out, "progress", job.progress);
  out["result"] = nullptr;
  if (job.result) put_bytes(out, "result", *job.result);
  put_bytes(out, "failed_reason", job.failed_reason);
  out["parent"] = nullptr;
  if (!job.parent.empty()) out["parent"] = {{"queue", job.parent_queue}, {"id", job.parent}};
  return out;
}

}  // namespace emq
