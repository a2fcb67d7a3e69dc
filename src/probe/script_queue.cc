// SPDX-License-Identifier: MIT
#include "probe/script_queue.h"

#include <utility>

#include "job/ends.h"
#include "job/shapes.h"
#include "probe/observed.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::probe {
namespace {

std::string in_one(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

// One `ok` for all items, as a status for each.
Reply spread(Reply reply, std::size_t count) {
  if (reply.text != "ok") return reply;
  Reply all{.kind = Reply::Kind::array};
  all.items.assign(count, reply);
  return all;
}
Reply spread_first(Reply reply, std::size_t count) {
  if (!reply.items.empty()) reply.items[0] = spread(std::move(reply.items[0]), count);
  return reply;
}

std::vector<Seen> pairs(const Reply& reply) {
  const auto flat = texts(reply);
  std::vector<Seen> all;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2) all.push_back({flat[i], flat[i + 1]});
  return all;
}

}  // namespace

Reply send_call(Link& redis, const ScriptCall& call, Journal* journal, Observed* observed) {
  if (journal != nullptr) journal->push_back(call.encode(/*by_source=*/true));
  redis.send(call.encode(/*by_source=*/false));
  auto reply = redis.receive();
  if (reply.is_error() && reply.text.starts_with("NOSCRIPT")) {
    redis.send(call.encode(/*by_source=*/true));
    reply = redis.receive();
  }
  observed->note(call.script(), reply);
  return reply;
}

void replay(Link& redis, const Journal& journal) {
  for (const auto& call : journal) {
    redis.send(call);
    redis.receive();
  }
}

Reply ScriptQueue::call(const ScriptCall& call) {
  if (before_call) before_call();
  for (auto& key : call.keys()) declared.insert(std::move(key));
  auto reply = send_call(redis_, call, journal, observed);
  if (after_call) after_call(call.script());
  return reply;
}

void ScriptQueue::clear() {
  constexpr std::size_t kAtOnce = 512;
  const std::vector<std::string> all(declared.begin(), declared.end());
  for (std::size_t from = 0; from < all.size(); from += kAtOnce) {
    std::vector<std::string> words{"UNLINK"};
    for (auto i = from; i < all.size() && i < from + kAtOnce; ++i) words.push_back(all[i]);
    redis_(words);
  }
}

Reply ScriptQueue::open() {
  return call(ScriptCall::of<scripts::QueueOpen>(
      keys, {.revision = revision, .now = now, .event_cap = 10'000}));
}

Reply ScriptQueue::counts() {
  return call(ScriptCall::of<scripts::QueueCounts>(keys, {.revision = revision}));
}

Reply ScriptQueue::read(const std::string& id) {
  const auto hash = job(id);
  return call(ScriptCall::of<scripts::JobRead>({.meta = keys.meta,
                                                .active = keys.active,
                                                .delayed = keys.delayed,
                                                .prioritized = keys.prioritized,
                                                .completed = keys.completed,
                                                .failed = keys.failed,
                                                .waiting_children = keys.waiting_children,
                                                .trash = keys.trash,
                                                .job = hash},
                                               {.revision = revision, .id = id}));
}

Reply ScriptQueue::add(const std::vector<JobToAdd>& jobs, const Flush& flush) {
  using Script = scripts::JobAdd;
  if (!flush.number) ++flush_;
  std::vector<job::EncodedJob> encoded;
  encoded.reserve(jobs.size());
  for (const auto& item : jobs)
    encoded.push_back({item.custom ? item.id : "", item.name, item.data, item.opts, item.delay,
                       item.priority, item.lifo});
  job::Shapes shapes;
  for (const auto& item : encoded) shapes.put(item);
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .lane = flush.lane,
                                           .grant = flush.grant,
                                           .flush = flush.number.value_or(flush_),
                                           .count = jobs.size(),
                                           .shapes = shapes.text()});
  for (const auto& item : jobs) {
    out.put_keys(Script::ItemKeys{.job = job(item.id)});
    if (item.custom) out.put_keys(SubKeys(name_, item.id).as<Script::MoreKeys>());
    out.put_args(Script::ItemArgs{.id = item.id, .data = item.data});
  }
  return spread(call(out), jobs.size());
}

Claimed ScriptQueue::claim(std::size_t count, const ClaimOptions& options) {
  Claimed claimed;
  if (!options.nonce) ++nonce_;
  claimed.lease = {Lease::deadline_for(now, options.lease_ms), options.node,
                   options.nonce.value_or(nonce_)};
  claimed.reply =
      call(ScriptCall::of<scripts::JobClaim>(keys, {.revision = revision,
                                                    .score = claimed.lease.score(),
                                                    .count = count,
                                                    .take_crashed = options.take_crashed,
                                                    .now = now}));
  if (claimed.reply.items.size() > 6)
    for (auto& id : wire::ids_of(claimed.reply.items[6]))
      claimed.runs.push_back({std::move(id), claimed.lease.token(), claimed.lease.score()});
  return claimed;
}

Reply ScriptQueue::extend(const std::vector<JobRun>& runs, std::int64_t lease_ms) {
  auto out = ScriptCall::of<scripts::JobExtend>(
      keys,
      {.revision = revision, .deadline = Lease::deadline_for(now, lease_ms), .count = runs.size()});
  for (const auto& run : runs)
    out.put_args(scripts::JobExtend::ItemArgs{.id = run.id, .token = run.token});
  return call(out);
}

Reply ScriptQueue::finish(const std::vector<FinishItem>& items, const OldestSeen& how) {
  using Script = scripts::JobFinish;
  const auto& first = items.front();
  const auto& keep = first.completed ? keep_completed : keep_failed;
  job::Ends ends;
  for (const auto& item : items)
    ends.put({.lease = (item.run.lease & ~Lease::kTokenMask) | item.run.token,
              .claims_ended = item.ats,
              .attempts_made = item.atm,
              .crashes = item.stc,
              .started_ms = now,
              .value = item.value});
  const auto told = how.ends.value_or(ends.text());
  auto out = ScriptCall::of<Script>(
      {.meta = keys.meta,
       .active = keys.active,
       .finished = first.completed ? keys.completed : keys.failed,
       .trash = keys.trash,
       .subkeys = keys.subkeys,
       .events = keys.events,
       .metrics = first.completed ? keys.metrics_completed : keys.metrics_failed,
       .marker = keys.marker,
       .sizes = first.completed ? keys.sizes_completed : keys.sizes_failed,
       .outbox = keys.outbox},
      {.revision = revision,
       .now = now,
       .count = items.size(),
       .outcome = first.completed ? "completed" : "failed",
       .by = "worker-1",
       .drop = first.drop,
       .keep = keep.count,
       .age = keep.age_ms,
       .bytes = keep.bytes,
       .ends = told,
       .oldest = in_one(how.oldest),
       .peek = how.peek,
       .parents = how.parents});
  for (const auto& item : items) {
    if (item.completed != first.completed || item.drop != first.drop)
      return {.kind = Reply::Kind::error, .text = "the jobs of one finish end alike"};
    out.put_keys(Script::ItemKeys{.job = job(item.run.id)});
    out.put_args(Script::ItemArgs{.id = item.run.id});
  }
  for (const auto& id : how.oldest) out.put_keys(Script::ItemKeys{.job = job(id)});
  return spread_first(call(out), items.size());
}

Reply ScriptQueue::retry(const std::vector<Retry>& items) {
  using Script = scripts::JobRetry;
  auto out =
      ScriptCall::of<Script>(keys, {.revision = revision, .now = now, .count = items.size()});
  for (const auto& item : items) {
    out.put_keys(Script::ItemKeys{.job = job(item.run.id)});
    out.put_args(Script::ItemArgs{.id = item.run.id,
                                  .token = item.run.token,
                                  .delay = item.delay,
                                  .reason = item.reason,
                                  .started = now,
                                  .ats = item.ats,
                                  .atm = item.atm,
                                  .by = "worker-1"});
  }
  return call(out);
}

Reply ScriptQueue::release(const std::vector<Release>& items, std::int64_t hold) {
  using Script = scripts::JobRelease;
  auto out = ScriptCall::of<Script>(
      keys, {.revision = revision, .now = now, .count = items.size(), .hold = hold});
  for (const auto& item : items) {
    out.put_keys(Script::ItemKeys{.job = job(item.run.id)});
    out.put_args(Script::ItemArgs{.id = item.run.id, .token = item.run.token, .ats = item.ats});
  }
  return call(out);
}

Reply ScriptQueue::progress(const std::vector<Progress>& items) {
  using Script = scripts::JobProgress;
  auto out =
      ScriptCall::of<Script>(keys, {.revision = revision, .now = now, .count = items.size()});
  for (const auto& item : items) {
    out.put_keys(Script::ItemKeys{.job = job(item.run.id)});
    out.put_args(Script::ItemArgs{.id = item.run.id, .token = item.run.token, .value = item.value});
  }
  return call(out);
}

Reply ScriptQueue::promote(const std::vector<Seen>& items) {
  using Script = scripts::JobPromote;
  auto out =
      ScriptCall::of<Script>(keys, {.revision = revision, .now = now, .count = items.size()});
  for (const auto& item : items) {
    out.put_keys(Script::ItemKeys{.job = job(item.id)});
    out.put_args(Script::ItemArgs{.id = item.id, .due = item.score});
  }
  return call(out);
}

Reply ScriptQueue::recover(const std::vector<Seen>& items, unsigned max_crashes) {
  using Script = scripts::JobRecover;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .count = items.size(),
                                           .max_crashes = max_crashes,
                                           .keep_failed = keep_failed.count,
                                           .age_failed = keep_failed.age_ms,
                                           .bytes_failed = keep_failed.bytes});
  for (const auto& item : items) {
    out.put_keys(Script::ItemKeys{.job = job(item.id)});
    out.put_args(Script::ItemArgs{.id = item.id, .lease = item.score});
  }
  return call(out);
}

Reply ScriptQueue::evict(const std::vector<std::string>& ids,
                         const std::set<std::string>& with_subkeys) {
  using Script = scripts::JobEvict;
  std::string letters;
  if (!with_subkeys.empty())
    for (const auto& id : ids) letters += with_subkeys.contains(id) ? '1' : '0';
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .count = ids.size(),
                                           .keep_completed = keep_completed.count,
                                           .age_completed = keep_completed.age_ms,
                                           .keep_failed = keep_failed.count,
                                           .age_failed = keep_failed.age_ms,
                                           .more = letters});
  for (const auto& id : ids) {
    const bool more = with_subkeys.contains(id);
    out.put_keys(Script::ItemKeys{.job = job(id)});
    if (more) out.put_keys(SubKeys(name_, id).as<Script::MoreKeys>());
    out.put_args(Script::ItemArgs{.id = id});
  }
  return spread_first(call(out), ids.size());
}

Reply ScriptQueue::emit(const std::string& event, const std::string& payload) {
  return call(ScriptCall::of<scripts::QueueEmit>(
      keys, {.revision = revision, .now = now, .name = event, .payload = payload}));
}

Reply ScriptQueue::trim(std::uint64_t keep, const Trim& how) {
  return call(ScriptCall::of<scripts::QueueTrim>(
      keys,
      {.revision = revision, .keep = keep, .most = how.most, .cap = how.cap, .trim = how.trim}));
}

std::vector<Seen> ScriptQueue::peek_due(std::size_t limit) {
  return pairs(redis_({"ZRANGEBYSCORE", keys.delayed, "-inf", std::to_string(now), "WITHSCORES",
                       "LIMIT", "0", std::to_string(limit)}));
}

std::vector<Seen> ScriptQueue::peek_expired(std::size_t limit) {
  return pairs(
      redis_({"ZRANGEBYSCORE", keys.active, "-inf", "(" + std::to_string(Lease::expired_below(now)),
              "WITHSCORES", "LIMIT", "0", std::to_string(limit)}));
}

std::vector<std::string> ScriptQueue::peek_trash(std::size_t limit) {
  const auto page = redis_({"SSCAN", keys.trash, "0", "COUNT", "1000"});
  if (page.items.size() != 2) return {};
  auto ids = texts(page.items[1]);
  if (ids.size() > limit) ids.resize(limit);
  return ids;
}

std::string ScriptQueue::field(const std::string& id, const std::string& name) {
  return show(redis_({"HGET", job(id), name}));
}

std::string ScriptQueue::run(const std::string& id) { return field(id, "run"); }

std::string ScriptQueue::score(const std::string& key, const std::string& id) {
  return show(redis_({"ZSCORE", key, id}));
}

std::int64_t ScriptQueue::active() {
  return redis_({"ZCOUNT", keys.active, "-inf", "(inf"}).integer;
}

Reply lease_node(Link& redis, const NodeRequest& request, Journal* journal, Observed* observed) {
  using Script = scripts::NodeLease;
  auto out = ScriptCall::of<Script>({.version = request.version_key, .nodes = request.nodes_key},
                                    {.revision = request.revision,
                                     .now = request.now,
                                     .until = request.until,
                                     .owner = request.owner,
                                     .keep = request.keep,
                                     .count = request.nodes.size()});
  for (const auto node : request.nodes) out.put_args(Script::ItemArgs{.node = node});
  return send_call(redis, out, journal, observed);
}

std::string Claimed::ids() const {
  std::vector<std::string> all;
  for (const auto& run : runs) all.push_back(run.id);
  return in_one(all);
}

std::string statuses(const Reply& reply) {
  if (reply.is_error()) return reply.text;
  const bool parts = !reply.items.empty() && reply.items[0].kind == Reply::Kind::array;
  return in_one(texts(parts ? reply.items[0] : reply));
}

std::string second(const Reply& reply) {
  if (reply.items.size() < 2) return "(none)";
  const auto& part = reply.items[1];
  return part.kind == Reply::Kind::array ? in_one(texts(part)) : show(part);
}

}  // namespace echomq::inline v2::probe
