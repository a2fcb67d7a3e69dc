// SPDX-License-Identifier: MIT
// The calls of ScriptQueue that concern deduplication.
#include "echomq/id.h"
#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

OwnedSeen ScriptQueue::owned(const std::string& de) {
  const auto reply = redis_({"HGET", keys.de, de});
  const auto text = reply.is_error() ? std::string() : reply.text;
  return {de, text.substr(0, text.find(':')), text.substr(text.rfind(':') + 1)};
}

Reply ScriptQueue::add_deduplicated(const std::vector<JobToAdd>& jobs, const Flush& flush) {
  using Script = scripts::JobAddDeduplicated;
  if (!flush.number) ++flush_;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision,
                                           .now = now,
                                           .lane = flush.lane,
                                           .grant = flush.grant,
                                           .flush = flush.number.value_or(flush_),
                                           .count = jobs.size()});
  for (const auto& item : jobs) {
    const auto seen = item.seen         ? *item.seen
                      : item.de.empty() ? std::string()
                                        : owned(item.de).owner;
    out.put_keys(
        Script::ItemKeys{.job = job(item.id), .owner = job(seen.empty() ? item.id : seen)});
    if (item.custom) out.put_keys(SubKeys(name_, item.id).as<Script::MoreKeys>());
    out.put_args(Script::ItemArgs{.id = item.id,
                                  .custom = item.custom,
                                  .data = item.data,
                                  .name = item.name,
                                  .opts = item.opts,
                                  .delay = item.delay,
                                  .priority = item.priority,
                                  .lifo = item.lifo,
                                  .de = item.de,
                                  .how = item.how,
                                  .ttl = item.ttl,
                                  .seen = seen});
  }
  return call(out);
}

Reply ScriptQueue::end_deduplication(const std::vector<OwnedSeen>& ids, bool force) {
  using Script = scripts::DeduplicationEnd;
  auto out = ScriptCall::of<Script>(
      keys, {.revision = revision, .now = now, .count = ids.size(), .force = force});
  for (const auto& id : ids) {
    const auto& next = id.kept.empty() ? id.owner : id.kept;
    const bool custom = !id.kept.empty() && !is_minted_id(id.kept);
    out.put_keys(Script::ItemKeys{.owner = job(id.owner), .job = job(next)});
    if (custom) out.put_keys(SubKeys(name_, next).as<Script::MoreKeys>());
    out.put_args(
        Script::ItemArgs{.de = id.de, .owner = id.owner, .kept = id.kept, .custom = custom});
  }
  return call(out);
}

Reply ScriptQueue::hold_deduplication(const std::vector<OwnedSeen>& ids) {
  using Script = scripts::DeduplicationHold;
  auto out = ScriptCall::of<Script>(keys, {.revision = revision, .count = ids.size()});
  for (const auto& id : ids) out.put_args(Script::ItemArgs{.de = id.de, .owner = id.owner});
  return call(out);
}

Reply ScriptQueue::read_deduplication(const std::string& de, const std::string& seen) {
  const auto owner = job(seen.empty() ? "none" : seen);
  return call(ScriptCall::of<scripts::DeduplicationRead>(
      {.meta = keys.meta,
       .completed = keys.completed,
       .failed = keys.failed,
       .trash = keys.trash,
       .de = keys.de,
       .owner = owner},
      {.revision = revision, .now = now, .de = de, .seen = seen}));
}

}  // namespace echomq::inline v2::probe
