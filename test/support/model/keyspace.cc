// SPDX-License-Identifier: MIT
// The model as the keys of docs/protocol.md, section 3.
#include <algorithm>

#include "support/model/queue_model.h"

namespace echomq::test {
namespace {

using Fields = std::map<std::string, std::string>;

constexpr auto kWire = "echomq:2.0.0";
constexpr auto kActiveSentinel =
    "echomq:2.0.0 sentinel, which no job can be named: keeps v1 out, and this set fast";

std::string digits(std::int64_t number) { return std::to_string(number); }
std::string digits_u(std::uint64_t number) { return std::to_string(number); }
std::string letter(bool set) { return set ? "1" : "0"; }

void put_number(Fields& fields, const char* field, std::optional<std::int64_t> number) {
  if (number) fields[field] = digits(*number);
}
void put_text(Fields& fields, const char* field, const std::optional<std::string>& text) {
  if (text) fields[field] = *text;
}
void put_pair(Fields& fields, const char* first, const char* second, const ModelGates::Pair& pair) {
  if (!pair) return;
  fields[first] = digits(pair->first);
  fields[second] = digits(pair->second);
}

// A key that would be empty is not there.
void put_list(Dump& dump, const std::string& key, const std::deque<std::string>& list) {
  if (!list.empty()) dump[key] = dumped_list({list.begin(), list.end()});
}
void put_set(Dump& dump, const std::string& key, const std::set<std::string>& set) {
  if (!set.empty()) dump[key] = dumped_set({set.begin(), set.end()});
}
void put_hash(Dump& dump, const std::string& key, const Fields& fields) {
  if (!fields.empty()) dump[key] = dumped_hash(fields);
}
void put_scores(Dump& dump, const std::string& key, const Scores& scores) {
  Ids flat;
  for (const auto& [id, score] : in_order(scores)) flat.insert(flat.end(), {id, digits(score)});
  if (!flat.empty()) dump[key] = dumped_zset(flat);
}

// With their sum.
void put_sizes(Dump& dump, const std::string& key, const Scores& sizes) {
  Fields fields;
  std::int64_t all = 0;
  for (const auto& [id, size] : sizes) {
    fields[id] = digits(size);
    all += size;
  }
  if (!fields.empty()) fields[""] = digits(all);
  put_hash(dump, key, fields);
}

std::string flush_text(const ModelFlush& flush) {
  const bool all_ok = std::ranges::all_of(flush.statuses, [](const auto& s) { return s == "ok"; });
  std::string letters;
  if (flush.is_noted_in_full || !all_ok)
    for (const auto& status : flush.statuses) letters += status == "ok" ? 'k' : status.front();
  return digits_u(flush.grant) + ":" + digits_u(flush.number) + ":" + letters;
}

std::string kept_text(const JobToAdd& job) {
  return job.id + ":" + digits(job.delay) + ":" + digits_u(job.priority) + ":" + letter(job.lifo) +
         ":" + digits_u(job.name.size()) + ":" + digits_u(job.opts.size()) + ":" + job.name +
         job.opts + job.data;
}

Fields minutes_of(const ModelMetrics& metrics) {
  Fields fields;
  for (const auto& [minute, count] : metrics.minutes) fields[digits(minute)] = digits_u(count);
  put_number(fields, "from", metrics.from);
  return fields;
}

}  // namespace

std::map<std::string, std::string> fields_of(const ModelJob& job) {
  Fields fields{
      {"head", digits(job.added) + ":" + digits_u(job.name.size()) + ":" + job.name + job.opts},
      {"data", job.data}};
  if (!job.deid.empty()) fields["deid"] = job.deid;
  if (job.priority > 0) fields["priority"] = digits_u(job.priority);
  if (job.lifo) fields["lifo"] = "1";
  put_number(fields, "delay", job.delay);
  put_number(fields, "place", job.place);
  if (const auto& run = job.run) {
    const std::vector<std::string> parts{digits_u(run->claims),  digits_u(run->attempts),
                                         digits_u(run->crashes), digits(run->started),
                                         digits(run->ended),     run->token};
    for (const auto& part : parts) fields["run"] += part + ":";
    fields["run"] += run->worker;
  }
  put_text(fields, "returnvalue", job.returnvalue);
  put_text(fields, "failedReason", job.failed_reason);
  put_text(fields, "progress", job.progress);
  if (!job.edge.empty()) fields["edge"] = job.edge;
  put_text(fields, "plan", job.plan);
  put_text(fields, "failedBy", job.failed_by);
  put_text(fields, "fails", job.fails);
  return fields;
}

Dump QueueModel::keyspace() const {
  Dump dump;
  if (is_open) {
    Fields meta{{"version", kWire},
                {"min_revision", "1"},
                {"created", digits(created)},
                {"event_cap", event_cap},
                {"concurrency", kWire}};
    if (!event_trim.empty()) meta["event_trim"] = event_trim;
    if (event_seq > 0) meta["event_seq"] = digits_u(event_seq);
    if (priority_seq > 0) meta["priority_seq"] = digits_u(priority_seq);
    if (paused) meta["pause"] = "1";
    if (metrics_kept > 0) meta["metrics"] = digits(metrics_kept);
    if (limits) meta["limits"] = limits_field(*limits);
    put_hash(dump, keys.meta, meta);
    for (const auto& key : {keys.id, keys.repeat}) dump[key] = dumped_string(kWire);
    Ids leases;
    for (const auto& [id, lease] : in_order(active))
      leases.insert(leases.end(), {id, digits(lease)});
    leases.insert(leases.end(), {kActiveSentinel, "inf"});
    dump[keys.active] = dumped_zset(leases);
  }
  put_list(dump, keys.wait, wait);
  put_list(dump, keys.crashed, crashed);
  put_scores(dump, keys.prioritized, prioritized);
  put_scores(dump, keys.delayed, delayed);
  put_scores(dump, keys.completed, completed);
  put_scores(dump, keys.failed, failed);
  put_scores(dump, keys.waiting_children, waiting_children);
  put_sizes(dump, keys.sizes_completed, sizes_completed);
  put_sizes(dump, keys.sizes_failed, sizes_failed);
  put_scores(dump, keys.marker, marker);
  put_set(dump, keys.trash, trash);
  put_set(dump, keys.subkeys, subkeys);
  if (has_stream) dump[keys.events] = dumped_stream({events.begin(), events.end()});
  if (has_had_ghosts) put_hash(dump, keys.ghosts, {{"wait", digits(std::ranges::count(wait, ""))}});

  Fields lanes;
  for (const auto& [lane, flush] : producers) lanes[lane] = flush_text(flush);
  for (const auto& [lane, owners] : told_owners) lanes[lane + ".owners"] = blank_joined(owners);
  put_hash(dump, keys.producers, lanes);

  Fields owners;
  Fields kept;
  for (const auto& [id, entry] : de) {
    owners[id] = entry.owner + ":" + digits(entry.until) + ":" + letter(entry.held) + ":" +
                 (entry.kept ? entry.kept->id : "");
    if (entry.kept) kept[id] = kept_text(*entry.kept);
  }
  put_hash(dump, keys.de, owners);
  put_hash(dump, keys.de_next, kept);
  put_scores(dump, keys.de_due, de_due);

  Fields limiter;
  put_pair(limiter, "held", "hold", gates.hold);
  put_pair(limiter, "start", "count", gates.window);
  put_pair(limiter, "at", "level", gates.bucket);
  put_number(limiter, "armed", gates.armed);
  put_hash(dump, keys.limiter, limiter);
  put_hash(dump, keys.metrics_completed, minutes_of(ended_completed));
  put_hash(dump, keys.metrics_failed, minutes_of(ended_failed));

  for (const auto& [id, job] : jobs) put_hash(dump, job_key(name_, id), fields_of(job));
  Scores ticks;
  Ids without;
  for (const auto& [id, scheduler] : schedulers) {
    if (scheduler.next)
      ticks[id] = *scheduler.next;
    else
      without.insert(without.end(), {id, "inf"});
    put_hash(dump, named_key(name_, "schedule", id), fields_of(scheduler));
  }
  Ids in_set;
  for (const auto& [id, tick] : in_order(ticks)) in_set.insert(in_set.end(), {id, digits(tick)});
  in_set.insert(in_set.end(), without.begin(), without.end());
  if (!in_set.empty()) dump[keys.schedules] = dumped_zset(in_set);
  put_hash(dump, keys.outbox, outbox);
  for (const auto& [id, entries] : plans) put_list(dump, named_key(name_, "flow", id), entries);
  for (const auto& [id, edges] : children) {
    Fields pending;
    for (const auto& [ref, epoch] : edges.pending) pending[ref] = digits_u(epoch);
    put_hash(dump, job_key(name_, id, Sub::dependencies), pending);
    put_hash(dump, job_key(name_, id, Sub::processed), edges.processed);
    put_hash(dump, job_key(name_, id, Sub::failed), edges.ignored);
    put_hash(dump, job_key(name_, id, Sub::unsuccessful), edges.unsuccessful);
  }
  for (const auto& [id, lines] : logs) put_list(dump, job_key(name_, id, Sub::logs), lines);

  if (grants > 0) {
    dump[reserve_key(Reserve::version)] = dumped_string(kWire);
    Fields held{{"grants", digits_u(grants)}};
    for (const auto& [number, node] : nodes)
      if (node.grant > 0)
        held[digits_u(number)] = digits(node.until) + " " + digits_u(node.grant) + " " + node.owner;
    put_hash(dump, reserve_key(Reserve::nodes), held);
  }
  return dump;
}

void QueueModel::adopt_stream(std::size_t length) {
  if (event_trim != "=" && length < events.size() && length >= std::stoull(event_cap))
    while (events.size() > length) events.pop_front();
}

}  // namespace echomq::test
