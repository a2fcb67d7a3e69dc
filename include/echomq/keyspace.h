// SPDX-License-Identifier: MIT
// The keyspace: every key that EchoMQ uses on a server, by name, with its type and its content.
//
// The grammar is total: a key has exactly one meaning, and parse_key and build_key are each other's
// inverse.
//
//   key       := "emq:{" queue "}:" suffix  |  "{emq}:" unit
//   queue     := 1..128 of [A-Za-z0-9._-], not "emq"
//   suffix    := structure | named ":" name | id | id ":" sub
//   structure := the words of enum Structure; "de:due" and "de:next" are among them
//   named     := "schedule" | "metrics" | "group" | "sizes" | "flow"   name := 1..255 of
//   [A-Za-z0-9._-] id        := a minted id (echomq/id.h) | a custom id custom id := 1..255 of
//   [A-Za-z0-9._-], and none of: a structure or named word, a word of the
//                v1 wire (below), digits only, "BAT" + 11 base 62 digits
//   sub       := the words of enum Sub
//   unit      := the words of enum Reserve | "migration:" queue
//
// Why that is unambiguous: the families differ in their first byte; no id holds ":" or equals a
// word, so the text before the first ":" tells a job from a structure. Sub words and units may be
// ids, "logs" and "version" for example: a sub word counts only after an id and ":", a unit only
// after "{emq}:". The v1 words paused, pc, stalled, stalled-check, delay and priority are no keys
// of this wire, but a v1 client that is pointed at it may overwrite or delete keys of these names
// before the fence stops it; so no job may be called by one.
//
// Placement: every key of a queue carries the one hashtag {queue}, so a cluster keeps the queue in
// one slot.
//
// Errors are ErrorCode::invalid_name with the field "value". The builders (key, job_key...) do not
// check: give them a name that queue_name answered and ids that a check has passed.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// The fixed keys of a queue: their number does not depend on what is in it.
//
//   word               type    content
//   meta               hash    wire version, least script revision, paused, limits, event count
//   id, repeat         string  sentinels, "echomq:2.0.0": the first write of a v1 client fails here
//   wait               list    ready ids of priority 0, the next one at the left
//   ghosts             hash    wait, crashed -> how many empty entries it has (of removed jobs)
//   prioritized        zset    ready id -> priority * 2^32 + a running number; priority 1 .. 2^21-1
//   crashed            list    ready ids that have been through a crash, run one by one
//   active             zset    id -> lease: deadline in s since 2024 * 2^21 + node * 2^11 + nonce
//   delayed            zset    id -> due, ms since 1970
//   completed, failed  zset    id -> finished, ms since 1970
//   waiting-children   zset    id -> waiting since, ms since 1970
//   marker             zset    what idle workers block on: "0" work is ready, "1" "2" -> when, ms
//   events             stream  one entry for each script call, id "<n>-0" with n dense
//   limiter            hash    state of the limits: hold, window, bucket
//   producers          hash    lane of a node -> last flush applied; makes a repeated add harmless
//   outbox             hash    what is for other queues: ends of children, and how far flows are
//   added trash              set     ids taken out of a set whose own keys are still to be deleted
//   subkeys            set     ids of jobs that have keys beside their hash
//   schedules          zset    scheduler id -> next run, ms since 1970
//   de                 hash    deduplication id -> owner, until when, and the id of the kept add
//   de:due             zset    deduplication id -> when it is looked at: its expiry, in ms
//   de:next            hash    deduplication id -> the add that is kept for the owner's end
enum class Structure {
  meta,
  id,
  repeat,
  wait,
  ghosts,
  prioritized,
  crashed,
  active,
  delayed,
  completed,
  failed,
  waiting_children,
  marker,
  events,
  limiter,
  producers,
  outbox,
  trash,
  subkeys,
  schedules,
  de,
  de_due,
  de_next,
};

// All of them, in the order above.
inline constexpr std::array kStructures{
    Structure::meta,    Structure::id,          Structure::repeat,  Structure::wait,
    Structure::ghosts,  Structure::prioritized, Structure::crashed, Structure::active,
    Structure::delayed, Structure::completed,   Structure::failed,  Structure::waiting_children,
    Structure::marker,  Structure::events,      Structure::limiter, Structure::producers,
    Structure::outbox,  Structure::trash,       Structure::subkeys, Structure::schedules,
    Structure::de,      Structure::de_due,      Structure::de_next,
};

// Structures of which a queue has one for each name.
//
//   schedule:<scheduler id>  hash  the template of its jobs, and counters
//   metrics:<what>           hash  a counter for each minute
//   sizes:<what>             hash  bytes of each finished job, where retention counts them
//   group:<part>             -     the parts of grouped waiting, as many for any number of groups
//   flow:<plan>              list  what a flow consists of, while it is being added
inline constexpr std::array<std::string_view, 5> kNamedWords{"schedule", "metrics", "group",
                                                             "sizes", "flow"};

// The keys of one job beside its hash `<id>` (name, data, opts, timestamps, counters, result).
//
//   logs          list  lines that handlers wrote
//   dependencies  hash  child -> epoch, of children that are not done
//   processed     hash  child -> epoch and result
//   failed        hash  child -> epoch and reason, of children whose failure is tolerated
//   unsuccessful  hash  child -> epoch, policy and reason, of those that failed the parent or let
//   it go on checkpoint    hash  what a handler saved to go on from after a crash
enum class Sub { logs, dependencies, processed, failed, unsuccessful, checkpoint };

inline constexpr std::array kSubs{Sub::logs,   Sub::dependencies, Sub::processed,
                                  Sub::failed, Sub::unsuccessful, Sub::checkpoint};

// The keys of the deployment, all in the slot of {emq}.
//
//   {emq}:version            string  "echomq:2.0.0"
//   {emq}:nodes              hash    node id -> who holds it, until when
//   {emq}:queues             zset    queue -> last opened, ms since 1970
//   {emq}:bundle             string  hash of the script set
//   {emq}:migration:<queue>  hash    how far a migration has come
enum class Reserve { version, nodes, queues, bundle };

inline constexpr std::array kReserves{Reserve::version, Reserve::nodes, Reserve::queues,
                                      Reserve::bundle};

// "waiting-children", "de:due"; "logs"; "version".
ECHOMQ_API std::string_view word(Structure structure) noexcept;
ECHOMQ_API std::string_view word(Sub sub) noexcept;
ECHOMQ_API std::string_view word(Reserve reserve) noexcept;

// "hash", "list", "zset", "set", "stream" or "string", as the server's TYPE command spells it.
ECHOMQ_API std::string_view redis_type(Structure structure) noexcept;

// The bare name of a queue: "orders" and "{orders}" both give "orders".
// Error: outside the grammar, or "emq", whose keys would be the deployment's.
ECHOMQ_API Result<std::string> queue_name(std::string_view given);

// May a caller give a new job this id? Error: anything that is not a custom id of the grammar.
ECHOMQ_API Result<void> check_job_id(std::string_view id);

// Can there be a job of this id, minted or custom? For look-ups. A branded id is refused with its
// decimal form in the field "decimal".
ECHOMQ_API Result<void> check_any_job_id(std::string_view id);

// The builders. key("orders", Structure::wait) is "emq:{orders}:wait".
ECHOMQ_API std::string key(std::string_view queue, Structure structure);
// `named` is one of kNamedWords. "emq:{orders}:schedule:nightly"
ECHOMQ_API std::string named_key(std::string_view queue, std::string_view named,
                                 std::string_view name);
// "emq:{orders}:274557032793636864"
ECHOMQ_API std::string job_key(std::string_view queue, std::string_view id);
// "emq:{orders}:274557032793636864:logs"
ECHOMQ_API std::string job_key(std::string_view queue, std::string_view id, Sub sub);
// "{emq}:nodes"
ECHOMQ_API std::string reserve_key(Reserve reserve);
// "{emq}:migration:orders"
ECHOMQ_API std::string migration_key(std::string_view queue);

enum class KeyKind { structure, named, job, sub, reserve, migration };

// What a key means. Each kind uses the members that name it; the others keep their defaults.
struct ParsedKey {
  KeyKind kind = KeyKind::structure;
  std::string queue{};                    // all kinds but reserve
  Structure structure = Structure::meta;  // structure
  std::string named{};                    // named: one of kNamedWords
  std::string name{};                     // named: what follows the word
  std::string id{};                       // job, sub
  Sub sub = Sub::logs;                    // sub
  Reserve reserve = Reserve::version;     // reserve

  friend bool operator==(const ParsedKey&, const ParsedKey&) = default;
};

// The one meaning of a key. Error: no key of this wire; the detail tells what is wrong with it.
ECHOMQ_API Result<ParsedKey> parse_key(std::string_view key);

// The key of a meaning. For every key that parses, build_key(*parse_key(key)) == key.
ECHOMQ_API std::string build_key(const ParsedKey& parsed);

// The cluster slot of a key, 0..16383: CRC16 (polynomial 0x1021, start 0) of what stands between
// the first "{" and the next "}" when that is not empty, else of the whole key; mod 16384. The
// formula is the Redis cluster specification's.
ECHOMQ_API unsigned slot(std::string_view key) noexcept;

// A key of the v1 wire, "<prefix>:<queue>:<suffix>": for looking at it, never for writing.
ECHOMQ_API std::string v1_key(std::string_view prefix, std::string_view queue,
                              std::string_view suffix);

}  // namespace echomq::inline v2
