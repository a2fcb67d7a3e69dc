// SPDX-License-Identifier: MIT
#include "migrate/walk.h"

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "base/parts.h"
#include "base/text.h"
#include "job/record.h"
#include "queue/add_batcher.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::migrate {
namespace {

// Scores of v1: a time in `delayed` has 12 bits for an order behind it, a priority 32.
constexpr std::int64_t kDelayedUnit = 4'096;
constexpr std::int64_t kPriorityUnit = std::int64_t{1} << 32;

std::int64_t score_of(const Stage& stage, std::int64_t v1_score, std::int64_t place,
                      const std::string& id, const Cursor& last) {
  if (stage.place == Structure::prioritized)
    return v1_score / kPriorityUnit * kPriorityUnit + place + 1;
  if (stage.place != Structure::delayed) return v1_score;
  // Jobs of one time stand in the order of their ids here: one that came later and has a lesser
  // id is due a millisecond later.
  const auto due = v1_score / kDelayedUnit;
  return std::max(due, last.due + (id <= last.id ? 1 : 0));
}

}  // namespace

std::string Cursor::text() const {
  return std::to_string(stage) + ":" + std::to_string(at) + ":" + std::to_string(due) + ":" + id;
}

std::optional<Cursor> Cursor::read(std::string_view text) {
  Cursor cursor;
  if (text.empty()) return cursor;
  Parts parts(text);
  if (!parts.number(cursor.stage) || !parts.number(cursor.at) || !parts.number(cursor.due))
    return std::nullopt;
  cursor.id = parts.rest();
  return cursor;
}

Result<void> Walk::jobs(Cursor from) {
  for (; from.stage < kStages.size(); from = {.stage = from.stage + 1}) {
    const auto& stage = kStages[from.stage];
    while (true) {
      auto entries = list(stage, from.at);
      if (!entries) return entries.error();
      if (entries->empty()) break;
      if (auto done = chunk(stage, from, *std::move(entries)); !done) return done;
    }
  }
  tell_changes(changed_jobs_);
  return {};
}

void Walk::tell_changes(Tally& tally) {
  tally.tell(
      [this](const std::string& job, const std::string& text) { sink_.tell(job, false, text); });
}

Result<std::vector<Walk::Listed>> Walk::list(const Stage& stage, std::int64_t from) {
  const auto key = v1_(stage.v1);
  constexpr auto kMany = static_cast<std::int64_t>(kMaxBatchJobs);
  std::vector<Listed> entries;
  if (!stage.list) {
    const auto reply = source_.ask(
        {"ZRANGE", key, std::to_string(from), std::to_string(from + kMany - 1), "WITHSCORES"});
    if (!reply) return reply.error();
    for (auto& [id, score] : wire::scored(*reply)) entries.push_back({std::move(id), score});
    return entries;
  }
  // v1 takes from the right end, 2.0 from the left one.
  const auto reply =
      source_.ask({"LRANGE", key, std::to_string(-(from + kMany)), std::to_string(-(from + 1))});
  if (!reply) return reply.error();
  for (auto it = reply->items.rbegin(); it != reply->items.rend(); ++it)
    entries.push_back({it->text, 0});
  return entries;
}

// What the jobs weigh, which bounds how many of them are read together, and which of them have keys
// beside their hash. Where none had any lately, that is asked of all in one.
Result<Walk::Looks> Walk::look_at(const std::vector<Listed>& entries) {
  Commands looks;
  std::vector<std::string> of_all{"EXISTS"};
  for (const auto& entry : entries) {
    wire::append_command(looks.emplace_back(), {"MEMORY", "USAGE", v1_(entry.id), "SAMPLES", "0"});
    for (const auto& [word, type] : kV1Subs) of_all.push_back(v1_.sub(entry.id, word));
  }
  if (!subs_met_) looks.push_back(command_of(of_all));
  auto seen = source_.ask_all(std::move(looks));
  if (!seen) return seen.error();
  Looks found;
  for (std::size_t i = 0; i < entries.size(); ++i)
    found.bytes.push_back(static_cast<std::size_t>((*seen)[i].integer));
  found.has_subs.resize(entries.size());
  if (!subs_met_ && seen->back().integer == 0) return found;
  Commands asks;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto& ask = asks.emplace_back();
    wire::append_header(ask, 1 + kV1Subs.size());
    wire::append_bulk(ask, "EXISTS");
    for (std::size_t sub = 0; sub < kV1Subs.size(); ++sub)
      wire::append_bulk(ask, of_all[1 + i * kV1Subs.size() + sub]);
  }
  const auto there = source_.ask_all(std::move(asks));
  if (!there) return there.error();
  subs_met_ = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    found.has_subs[i] = (*there)[i].integer > 0;
    subs_met_ = subs_met_ || found.has_subs[i];
  }
  return found;
}

Result<void> Walk::chunk(const Stage& stage, Cursor& cursor, std::vector<Listed> entries) {
  const auto looks = look_at(entries);
  if (!looks) return looks.error();
  for (std::size_t begin = 0; begin < entries.size();) {
    Commands reads;
    std::size_t bytes = 0;
    auto end = begin;
    while (end < entries.size()) {
      if (end > begin && bytes + looks->bytes[end] > kMaxBatchBytes) break;
      bytes += looks->bytes[end];
      wire::append_command(reads.emplace_back(), {"HGETALL", v1_(entries[end].id)});
      ++end;
    }
    const auto hashes = source_.ask_all(std::move(reads));
    if (!hashes) return hashes.error();
    Chunk chunk{.stage = &stage};
    Cursor last = cursor;
    for (auto i = begin; i < end; ++i) {
      const auto place = cursor.at + static_cast<std::int64_t>(i - begin);
      auto job = load(stage, entries[i], place, (*hashes)[i - begin], looks->has_subs[i], last);
      if (!job) return job.error();
      if (*job) chunk.jobs.push_back(**std::move(job));
    }
    last.at = cursor.at + static_cast<std::int64_t>(end - begin);
    chunk.to = last;
    if (auto taken = sink_.take(chunk); !taken) return taken;
    cursor = last;
    begin = end;
  }
  return {};
}

Result<std::optional<MovedJob>> Walk::load(const Stage& stage, const Listed& entry,
                                           std::int64_t place, const wire::Reply& hash,
                                           bool has_subs, Cursor& last) {
  using Loaded = std::optional<MovedJob>;
  if (is_old_marker(entry.id)) return Loaded{};
  if (hash.items.empty()) {
    sink_.tell(entry.id, false, "stands in `" + std::string(stage.v1) + "` and is no job any more");
    return Loaded{};
  }
  MovedJob job{.v1_id = entry.id, .id = map_id(entry.id)};
  const auto score = score_of(stage, entry.score, place, job.id, last);
  job.score = std::to_string(score);
  const Standing standing{stage.state,
                          stage.place == Structure::prioritized ? job.score : std::string()};
  Changes changes;
  auto fields = map_job(unit_, standing, entry.id, read_hash(hash), &changes);
  if (!fields) {
    sink_.tell(entry.id, true, fields.error().detail);
    return Loaded{};
  }
  job.fields = *std::move(fields);
  if (has_subs) {
    std::string refusal;
    if (auto read = subs(entry.id, job.id, job.fields, stage.state, refusal); !read)
      return read.error();
    if (!refusal.empty()) {
      sink_.tell(entry.id, true, refusal);
      return Loaded{};
    }
  }
  changed_jobs_.add(entry.id, changes);
  if (stage.place == Structure::delayed) {
    last.due = score;
    last.id = job.id;
  }
  return Loaded{std::move(job)};
}

}  // namespace echomq::inline v2::migrate
