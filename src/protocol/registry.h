// SPDX-License-Identifier: MIT
// The closed vocabulary of the keyspace: which words stand in keys, which type each key has, which
// characters names are made of, and how a refusal shows what it found. The one home of these facts;
// the grammar that puts them together is in echomq/keyspace.h.
//
// The list is closed because jobs stand beside the structures: a word added later as a bare suffix
// could be the id of a job that exists. So a word added after 2.0 always takes the form
// `word:name`, with no name that is a sub word: no key of a job can look like that, whatever its
// id. Such a word must not be added to what job ids may not be called.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "echomq/keyspace.h"
#include "echomq/result.h"

namespace echomq::inline v2::registry {

inline constexpr std::size_t kMaxQueueBytes = 128;
inline constexpr std::size_t kMaxNameBytes = 255;

struct StructureEntry {
  Structure structure;
  std::string_view word;
  std::string_view type;
};

inline constexpr std::array<StructureEntry, 23> kStructureEntries{{
    {Structure::meta, "meta", "hash"},
    {Structure::id, "id", "string"},
    {Structure::repeat, "repeat", "string"},
    {Structure::wait, "wait", "list"},
    {Structure::ghosts, "ghosts", "hash"},
    {Structure::prioritized, "prioritized", "zset"},
    {Structure::crashed, "crashed", "list"},
    {Structure::active, "active", "zset"},
    {Structure::delayed, "delayed", "zset"},
    {Structure::completed, "completed", "zset"},
    {Structure::failed, "failed", "zset"},
    {Structure::waiting_children, "waiting-children", "zset"},
    {Structure::marker, "marker", "zset"},
    {Structure::events, "events", "stream"},
    {Structure::limiter, "limiter", "hash"},
    {Structure::producers, "producers", "hash"},
    {Structure::outbox, "outbox", "hash"},
    {Structure::trash, "trash", "set"},
    {Structure::subkeys, "subkeys", "set"},
    {Structure::schedules, "schedules", "zset"},
    {Structure::de, "de", "hash"},
    {Structure::de_due, "de:due", "zset"},
    {Structure::de_next, "de:next", "hash"},
}};

struct SubEntry {
  Sub sub;
  std::string_view word;
};

inline constexpr std::array<SubEntry, 6> kSubEntries{{
    {Sub::logs, "logs"},
    {Sub::dependencies, "dependencies"},
    {Sub::processed, "processed"},
    {Sub::failed, "failed"},
    {Sub::unsuccessful, "unsuccessful"},
    {Sub::checkpoint, "checkpoint"},
}};

struct ReserveEntry {
  Reserve reserve;
  std::string_view word;
};

inline constexpr std::array<ReserveEntry, 4> kReserveEntries{{
    {Reserve::version, "version"},
    {Reserve::nodes, "nodes"},
    {Reserve::queues, "queues"},
    {Reserve::bundle, "bundle"},
}};

inline constexpr std::string_view kMigrationWord = "migration";

// Keys of the v1 wire that are no keys of this one. A v1 client pointed at this keyspace sets,
// renames onto or deletes some of them before it meets a key of the wrong type.
inline constexpr std::array<std::string_view, 6> kV1Words{"paused",        "pc",    "stalled",
                                                          "stalled-check", "delay", "priority"};

// The tables are indexed by their enums.
template <class Entries, class Values, class Member>
constexpr bool lists_all(const Entries& entries, const Values& values, Member member) {
  if (entries.size() != values.size()) return false;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].*member != values[i] || static_cast<std::size_t>(values[i]) != i) return false;
  return true;
}
static_assert(lists_all(kStructureEntries, kStructures, &StructureEntry::structure));
static_assert(lists_all(kSubEntries, kSubs, &SubEntry::sub));
static_assert(lists_all(kReserveEntries, kReserves, &ReserveEntry::reserve));

constexpr bool is_base62(char c) noexcept { return is_digit(c) || is_letter(c); }

// What queue names, job ids and names are made of. Braces are out because they place keys, ":"
// because it separates, everything else because names end in shells, logs and URLs.
constexpr bool is_name_char(char c) noexcept {
  return is_base62(c) || c == '.' || c == '_' || c == '-';
}

// `what` "value" `problem`, as ErrorCode::invalid_name with the value in full as a field.
inline Error refusal(std::string_view what, std::string_view value, std::string_view problem) {
  std::string detail(what);
  detail += ' ';
  detail += quoted(value);
  detail += ' ';
  detail += problem;
  return Error{ErrorCode::invalid_name, std::move(detail), {{"value", std::string(value)}}};
}

}  // namespace echomq::inline v2::registry
