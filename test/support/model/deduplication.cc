// SPDX-License-Identifier: MIT
// Who owns a deduplication id, and what is kept for the end of its owner.
#include <algorithm>

#include "support/model/queue_model.h"

namespace echomq::test {
namespace {

bool asks_for(const JobToAdd& job, char way) { return job.how.find(way) != std::string::npos; }

}  // namespace

ModelOwner* QueueModel::owner_of(const std::string& id) {
  const auto found = de.find(id);
  if (found == de.end()) return nullptr;
  auto& entry = found->second;
  if (entry.until != 0 && now >= entry.until) return nullptr;
  if (entry.held) return &entry;
  const auto* const job = find(entry.owner);
  if (job == nullptr || job->deid != id) return nullptr;
  if (entry.until != 0) return &entry;
  const bool is_over = completed.contains(entry.owner) || failed.contains(entry.owner) ||
                       trash.contains(entry.owner);
  return is_over ? nullptr : &entry;
}

// When somebody has to look at it: at its end, or a while after this look.
void QueueModel::look_again(const std::string& id) {
  const auto& entry = de.at(id);
  de_due[id] = entry.until != 0 ? entry.until : now + (entry.kept ? 30'000 : 3'600'000);
}

std::string QueueModel::add_deduplicated(const std::vector<JobToAdd>& items, const Flush& flush) {
  const auto told_of = [this, &flush](const Ids& statuses) {
    Ids owners;
    std::size_t next = 0;
    for (const auto& status : statuses)
      owners.push_back(
          status == "owned" || status == "moved" ? told_owners.at(flush.lane).at(next++) : "");
    return bracketed({bracketed(statuses), bracketed(owners)});
  };
  if (const auto before = said_before(flush, items.size()))
    return before->front() == "EMQARG" ? before->front() : told_of(*before);

  ModelFlush applied{.grant = flush.grant, .number = *flush.number, .is_noted_in_full = true};
  Ids added;
  Ids owned;
  Ids replaced;
  Ids told;
  std::set<std::string> met;  // ids whose owner this call has looked at already
  auto room = room_left();
  for (const auto& job : items) {
    auto& status = applied.statuses.emplace_back("ok");
    ModelOwner* owner = nullptr;
    if (!job.de.empty()) {
      // Only the owner that the caller named can be looked at. One that is held needs no look.
      const auto entry = de.find(job.de);
      const bool lasts =
          entry != de.end() && (entry->second.until == 0 || now < entry->second.until);
      if (!met.contains(job.de) && lasts && !entry->second.held &&
          entry->second.owner != job.seen) {
        status = "moved";
        told.push_back(entry->second.owner);
        continue;
      }
      met.insert(job.de);
      owner = owner_of(job.de);
    }
    const bool replaces =
        owner != nullptr && asks_for(job, 'r') && !owner->held && delayed.contains(owner->owner);
    if (owner != nullptr && !replaces) {
      status = "owned";
      told.push_back(owner->owner);
      owned.push_back(owner->owner);
      const bool is_running = !owner->held && active.contains(owner->owner);
      if (asks_for(job, 'k') && (is_running || owner->kept)) {
        owner->kept = job;
        owner->until = 0;
      } else if (asks_for(job, 'e') && owner->until != 0) {
        owner->until = now + job.ttl;
      }
      look_again(job.de);
      continue;
    }
    const bool takes_its_id = replaces && job.custom && owner->owner == job.id;
    // A minted id that was taken when the call began is a collision, whatever became of its job.
    const bool was_taken = !job.custom && std::ranges::find(replaced, job.id) != replaced.end();
    if (!takes_its_id && (was_taken || is_taken(job))) {
      status = job.custom ? "dup" : "state";
      continue;
    }
    if (!replaces && room && (*room)-- <= 0) {
      status = "full";
      continue;
    }
    auto until = job.ttl > 0 ? now + job.ttl : 0;
    if (replaces) {
      const auto old = owner->owner;
      if (owner->until == 0 || !asks_for(job, 'e')) until = owner->until;
      delayed.erase(old);
      // One with sub-keys that are not declared is left to the trash for that.
      if (!takes_its_id && subkeys.contains(old))
        trash.insert(old);
      else
        forget(old);
      replaced.push_back(old);
    }
    store(job);
    added.push_back(job.id);
    if (job.de.empty()) continue;
    de[job.de] = {.owner = job.id, .until = until};
    look_again(job.de);
  }
  // One that was replaced in this very call never waits; its id may have been added again.
  Ids waiting;
  Ids later;
  for (auto id = added.begin(); id != added.end(); ++id) {
    if (!jobs.contains(*id) || std::find(id + 1, added.end(), *id) != added.end()) continue;
    waiting.push_back(*id);
    if (delayed.contains(*id)) later.push_back(*id);
  }
  line_up(waiting);
  tell({{"added", added}, {"delayed", later}});
  tell({{"deduplicated", owned}, {"replaced", replaced}});
  producers[flush.lane] = applied;
  told_owners[flush.lane] = told;
  return told_of(applied.statuses);
}

std::string QueueModel::end_deduplication(const std::vector<OwnedSeen>& ids, bool force) {
  Ids statuses;
  Ids told;
  Ids added;
  Ids later;
  std::set<std::string> met;
  for (const auto& seen : ids) {
    const auto found = de.find(seen.de);
    const auto says = [&](const std::string& status, const std::string& owner = "",
                          const std::string& kept = "") {
      statuses.push_back(status);
      told.insert(told.end(), {owner, kept});
    };
    if (!met.insert(seen.de).second || found == de.end()) {
      says("gone");
      continue;
    }
    const auto entry = found->second;
    const auto kept = entry.kept ? entry.kept->id : "";
    if (entry.owner != seen.owner || kept != seen.kept) {
      says("moved", entry.owner, kept);
      continue;
    }
    if (!force && owner_of(seen.de) != nullptr) {
      look_again(seen.de);
      says("lock");
      continue;
    }
    de.erase(found);
    de_due.erase(seen.de);
    if (!entry.kept) {
      says("ok");
      continue;
    }
    // What is left of an owner that is over makes way for the kept job of the same id.
    const bool has_ended = completed.contains(kept) || failed.contains(kept);
    if (kept == entry.owner && has_ended) {
      leave_finished(kept);
      forget(kept);
    }
    auto job = *entry.kept;
    job.custom = true;
    if (is_taken(job)) {
      says("dup");
      continue;
    }
    says("ok");
    store(job);
    added.push_back(kept);
    if (job.delay > 0) later.push_back(kept);
    de[seen.de] = {.owner = kept};
    look_again(seen.de);
  }
  line_up(added);
  tell({{"added", added}, {"delayed", later}});
  return bracketed({bracketed(statuses), bracketed(told)});
}

std::string QueueModel::hold_deduplication(const std::vector<OwnedSeen>& ids) {
  int changed = 0;
  for (const auto& seen : ids) {
    const auto found = de.find(seen.de);
    if (found == de.end()) continue;
    auto& entry = found->second;
    if (entry.owner != seen.owner || entry.until == 0 || entry.held) continue;
    entry.held = true;
    ++changed;
  }
  return std::to_string(changed);
}

std::string QueueModel::read_deduplication(const std::string& id, const std::string& seen) {
  const std::string nobody = bracketed({"[gone]", "", "0", ""});
  const auto found = de.find(id);
  if (found == de.end()) return nobody;
  const auto& entry = found->second;
  if (entry.until != 0 && now >= entry.until) return nobody;
  const bool has_moved = !entry.held && entry.owner != seen;
  if (!has_moved && owner_of(id) == nullptr) return nobody;
  return bracketed({has_moved ? "[moved]" : "[ok]", entry.owner, std::to_string(entry.until),
                    entry.kept ? entry.kept->id : ""});
}

}  // namespace echomq::test
