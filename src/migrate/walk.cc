// SPDX-License-Identifier: MIT
#include "migrate/walk.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/number.h"
#include "base/parts.h"
#include "base/text.h"
#include "job/record.h"
#include "migrate/v1_suffix.h"
#include "protocol/refusal.h"

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

// The next piece is read while what is done with this one goes on.
Result<void> Walk::jobs(Cursor from) {
  Reader reader(source_, v1_, kinds_, from.stage, from.at);
  const auto read_ahead = [&reader] {
    return std::async(std::launch::async, [&reader] { return reader.next(); });
  };
  for (auto ahead = read_ahead();;) {
    auto piece = ahead.get();
    if (!piece) return piece.error();
    if (piece->stage == kStages.size()) break;
    ahead = read_ahead();
    if (piece->stage != from.stage) from = {.stage = piece->stage};
    if (auto taken = take(*std::move(piece), from); !taken) return taken;
  }
  tell_changes(changed_jobs_);
  return {};
}

Result<void> Walk::take(Piece piece, Cursor& cursor) {
  const auto& stage = kStages[piece.stage];
  Chunk chunk{.stage = &stage};
  Cursor last = cursor;
  last.at = piece.at;
  for (std::size_t i = 0; i < piece.entries.size(); ++i, ++last.at) {
    auto job =
        load(stage, piece.entries[i], last.at, std::move(piece.hashes[i]), piece.has_subs[i], last);
    if (!job) return job.error();
    if (*job) chunk.jobs.push_back(**std::move(job));
  }
  chunk.to = last;
  if (auto taken = sink_.take(chunk); !taken) return taken;
  cursor = last;
  return {};
}

void Walk::tell_changes(Tally& tally) {
  tally.tell(
      [this](const std::string& job, const std::string& text) { sink_.tell(job, false, text); });
}

Result<std::optional<MovedJob>> Walk::load(const Stage& stage, const Listed& entry,
                                           std::int64_t place, wire::Reply hash, bool has_subs,
                                           Cursor& last) {
  using Loaded = std::optional<MovedJob>;
  if (is_old_marker(entry.id)) return Loaded{};
  if (hash.is_error()) {
    const auto type = source_.ask({"TYPE", v1_(entry.id)});
    if (!type) return type.error();
    if (type->text == "hash" || type->text == "none")
      return protocol::refusal(hash.text, queue_.from, v1_(entry.id));
    sink_.tell(entry.id, true, wrong_type(v1_(entry.id), type->text, "hash"));
    return Loaded{};
  }
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
  auto fields = map_job(unit_, standing, entry.id, read_hash(std::move(hash)), &changes);
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
