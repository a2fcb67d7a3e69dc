// SPDX-License-Identifier: MIT
// What a walk reads besides jobs: schedulers, deduplication ids, metrics.
#include <algorithm>
#include <utility>

#include "base/number.h"
#include "echomq/keyspace.h"
#include "migrate/v1_scheduler.h"
#include "migrate/v1_settings.h"
#include "migrate/walk.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::migrate {
namespace {

constexpr std::int64_t kPageOfParts = 200;
constexpr std::int64_t kHour = 3'600'000;

Part part_of(std::string key, std::string_view type, Fields entries, bool first) {
  return {.key = std::move(key), .type = type, .first = first, .entries = std::move(entries)};
}

}  // namespace

Result<void> Walk::parts(std::int64_t at_ms) {
  if (auto done = schedulers(); !done) return done;
  if (kinds_.owners)
    if (auto done = deduplication(at_ms); !done) return done;
  return metrics();
}

Result<void> Walk::schedulers() {
  // Where the tombstones stand it has another name.
  const auto type = source_.ask({"TYPE", v1_("repeat")});
  if (!type) return type.error();
  const auto repeats = v1_(type->text == "string" ? kKeptRepeat : "repeat");
  for (std::int64_t from = 0;; from += kPageOfParts) {
    const auto page = source_.ask({"ZRANGE", repeats, std::to_string(from),
                                   std::to_string(from + kPageOfParts - 1), "WITHSCORES"});
    if (!page) return page.error();
    const auto listed = wire::scored(*page);
    for (const auto& [member, next] : listed)
      if (auto done = scheduler(member, next); !done) return done;
    if (listed.size() < static_cast<std::size_t>(kPageOfParts)) break;
  }
  tell_changes(changed_schedulers_);
  return {};
}

Result<void> Walk::scheduler(const std::string& member, std::int64_t next) {
  const auto stored = source_.ask({"HGETALL", v1_("repeat:" + member)});
  if (!stored) return stored.error();
  const auto hash = read_hash(*stored);
  const auto tick = ":" + std::to_string(next);
  auto made_by = is_repeatable_key(member, hash) ? repeatable_id(member) : member;
  auto job = source_.ask({"HGETALL", v1_("repeat:" + made_by + tick)});
  if (!job) return job.error();
  if (job->items.empty() && is_repeatable_key(member, hash)) {
    auto own = own_id(member, tick);
    if (!own) return own.error();
    if (!own->empty()) {
      made_by = *std::move(own);
      job = source_.ask({"HGETALL", v1_("repeat:" + made_by + tick)});
      if (!job) return job.error();
    }
  }
  auto moved = map_scheduler_of(member, made_by, next, hash, read_hash(*job));
  if (!moved) {
    sink_.tell(member, true, "a scheduler that is not understood: " + moved.error().detail);
    return {};
  }
  changed_schedulers_.add(member, moved->changes);
  if (auto done = sink_.take(part_of(named_key(queue_.to, "schedule", moved->id), "hash",
                                     std::move(moved->fields), true));
      !done)
    return done;
  return sink_.take(part_of(key(queue_.to, Structure::schedules), "zset",
                            {{moved->id, std::to_string(next)}}, false));
}

// Where a repeatable job was given an id of its own, the job of its next tick tells it. Empty:
// there is no such job.
Result<std::string> Walk::own_id(const std::string& member, const std::string& tick) {
  const auto base = v1_("repeat:");
  std::string at = "0";
  do {
    const auto page = source_.page(
        {"SCAN", at, "MATCH", v1_.pattern("repeat:") + tick, "COUNT", "1000", "TYPE", "hash"}, at);
    if (!page) return page.error();
    for (const auto& found : *page) {
      const auto made_by = source_.ask({"HGET", found.text, "rjk"});
      if (!made_by) return made_by.error();
      if (made_by->text == member)
        return found.text.substr(base.size(), found.text.size() - base.size() - tick.size());
    }
  } while (at != "0");
  return std::string();
}

// Who owns an id may be gone while the id is still held, so only its key tells.
Result<void> Walk::deduplication(std::int64_t at_ms) {
  const auto base = v1_("de:");
  std::string at = "0";
  do {
    // A job may be called so too.
    const auto page = source_.page(
        {"SCAN", at, "MATCH", v1_.pattern("de:"), "COUNT", "1000", "TYPE", "string"}, at);
    if (!page) return page.error();
    std::vector<std::string> keys;
    for (const auto& found : *page) keys.push_back(found.text);
    Commands looks;
    for (const auto& key : keys) {
      wire::append_command(looks.emplace_back(), {"GET", key});
      wire::append_command(looks.emplace_back(), {"PEXPIRETIME", key});
    }
    const auto seen = source_.ask_all(std::move(looks));
    if (!seen) return seen.error();
    Commands owners;
    for (std::size_t i = 0; i < keys.size(); ++i)
      wire::append_command(owners.emplace_back(),
                           {"HMGET", v1_((*seen)[2 * i].text), "name", "finishedOn"});
    const auto jobs = source_.ask_all(std::move(owners));
    if (!jobs) return jobs.error();
    Fields entries;
    Fields due;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto& owner = (*seen)[2 * i].text;
      if (owner.empty()) continue;  // it has run out since
      const auto& job = (*jobs)[i].items;
      const bool over = job.size() < 2 || job[0].is_null() || !job[1].is_null();
      const auto until = std::max<std::int64_t>((*seen)[2 * i + 1].integer, 0);
      const auto id = keys[i].substr(base.size());
      // One that holds as long as its owner holds nothing any more.
      if (until == 0 && over) continue;
      entries.emplace_back(id, map_owner(owner, until, over));
      due.emplace_back(id, std::to_string(until > 0 ? until : at_ms + kHour));
    }
    if (auto done = in_parts(key(queue_.to, Structure::de), "hash", entries); !done) return done;
    if (auto done = in_parts(key(queue_.to, Structure::de_due), "zset", due); !done) return done;
  } while (at != "0");
  return {};
}

Result<void> Walk::in_parts(const std::string& to, std::string_view type, const Fields& entries) {
  for (std::size_t from = 0; from < entries.size(); from += kPageOfParts) {
    const auto end = std::min(from + kPageOfParts, entries.size());
    Fields some(entries.begin() + static_cast<std::ptrdiff_t>(from),
                entries.begin() + static_cast<std::ptrdiff_t>(end));
    if (auto done = sink_.take(part_of(to, type, std::move(some), false)); !done) return done;
  }
  return {};
}

Result<void> Walk::metrics() {
  for (const std::string what : {"completed", "failed"}) {
    const auto last = source_.ask({"HGET", v1_("metrics:" + what), "prevTS"});
    if (!last) return last.error();
    // At most a few weeks of minutes, a few bytes each.
    const auto list = source_.ask({"LRANGE", v1_("metrics:" + what + ":data"), "0", "100000"});
    if (!list) return list.error();
    std::vector<std::string> points;
    for (const auto& point : list->items) points.push_back(point.text);
    auto fields = map_metrics(to_number<std::int64_t>(last->text), points);
    for (std::size_t from = 0; from < fields.size(); from += kPageOfParts) {
      const auto end = std::min(from + kPageOfParts, fields.size());
      Fields some(fields.begin() + static_cast<std::ptrdiff_t>(from),
                  fields.begin() + static_cast<std::ptrdiff_t>(end));
      if (auto done = sink_.take(
              part_of(named_key(queue_.to, "metrics", what), "hash", std::move(some), from == 0));
          !done)
        return done;
    }
  }
  return {};
}

}  // namespace echomq::inline v2::migrate
