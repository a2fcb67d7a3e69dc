// SPDX-License-Identifier: MIT
// The grammar of echomq/keyspace.h, once in each direction: the checks and the parser read it, the
// builders write it. The words come from registry.h.
#include "echomq/keyspace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/text.h"
#include "echomq/id.h"
#include "protocol/registry.h"

namespace echomq::inline v2 {
namespace {

constexpr std::string_view kQueuePrefix = "emq:{";
constexpr std::string_view kReservePrefix = "{emq}:";
constexpr std::string_view kReservedQueue = "emq";

std::string join(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();
  std::string text;
  text.reserve(size);
  for (const auto part : parts) text += part;
  return text;
}

template <class Entries>
auto find_word(const Entries& entries, std::string_view text) -> decltype(entries.data()) {
  for (const auto& entry : entries)
    if (entry.word == text) return &entry;
  return nullptr;
}

bool contains(const auto& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// What is wrong with a text as a name of up to `limit` bytes, as the end of a sentence; nothing
// when it is one.
std::optional<std::string> name_fault(std::string_view text, std::size_t limit) {
  const auto bad = std::find_if_not(text.begin(), text.end(), registry::is_name_char);
  if (!text.empty() && text.size() <= limit && bad == text.end()) return std::nullopt;
  std::string found = "is empty";
  if (text.size() > limit) {
    found = "has " + std::to_string(text.size()) + " bytes";
  } else if (bad != text.end()) {
    found = "holds " + quoted({&*bad, 1}) + " at byte " + std::to_string(bad - text.begin() + 1);
  }
  return found + "; expected 1 to " + std::to_string(limit) + " of A-Z a-z 0-9 . _ -";
}

std::optional<std::string> queue_fault(std::string_view queue) {
  if (queue == kReservedQueue)
    return "is taken: its keys would be those of the deployment. Choose another name";
  return name_fault(queue, registry::kMaxQueueBytes);
}

std::optional<std::string> custom_id_fault(std::string_view id) {
  if (auto fault = name_fault(id, registry::kMaxNameBytes)) return fault;
  if (std::all_of(id.begin(), id.end(), is_digit))
    return "is digits only, which is the form of minted ids. Put a letter before it";
  if (is_branded_id(id))
    return "has the form of a branded id (BAT and 11 digits of base 62). Put a letter before it";
  if (find_word(registry::kStructureEntries, id) != nullptr || contains(kNamedWords, id))
    return "is a key of the queue itself. Choose another id";
  if (contains(registry::kV1Words, id))
    return "is a key of v1 queues, which a v1 client may overwrite. Choose another id";
  return std::nullopt;
}

std::optional<std::string> any_id_fault(std::string_view id) {
  if (is_minted_id(id)) return std::nullopt;
  if (!id.empty() && std::all_of(id.begin(), id.end(), is_digit))
    return "is digits only and no minted id: those are below 2^63 and have no leading zero";
  return custom_id_fault(id);
}

// The suffix of a queue's key: everything after "emq:{queue}:". Answers what is wrong with it.
std::optional<std::string> parse_suffix(std::string_view suffix, ParsedKey& out) {
  if (const auto* entry = find_word(registry::kStructureEntries, suffix)) {
    out.kind = KeyKind::structure;
    out.structure = entry->structure;
    return std::nullopt;
  }
  const std::size_t colon = suffix.find(':');
  const std::string_view head = suffix.substr(0, colon);
  const std::string_view tail =
      colon == std::string_view::npos ? std::string_view{} : suffix.substr(colon + 1);
  if (contains(kNamedWords, head)) {
    if (auto fault = name_fault(tail, registry::kMaxNameBytes))
      return "names a " + std::string(head) + " that " + *fault;
    out.kind = KeyKind::named;
    out.named = head;
    out.name = tail;
    return std::nullopt;
  }
  if (auto fault = any_id_fault(head))
    return "has the job id " + quoted(head) + ", which " + *fault;
  out.id = head;
  if (colon == std::string_view::npos) {
    out.kind = KeyKind::job;
    return std::nullopt;
  }
  const auto* entry = find_word(registry::kSubEntries, tail);
  if (entry == nullptr) {
    return "has " + quoted(tail) +
           " after the job id; expected logs, dependencies, processed, failed, unsuccessful or "
           "checkpoint";
  }
  out.kind = KeyKind::sub;
  out.sub = entry->sub;
  return std::nullopt;
}

std::optional<std::string> parse_queue_key(std::string_view rest, ParsedKey& out) {
  const std::size_t brace = rest.find('}');
  if (brace == std::string_view::npos || rest.substr(brace + 1, 1) != ":")
    return "has no \"}:\" after the queue's name";
  const std::string_view queue = rest.substr(0, brace);
  if (auto fault = queue_fault(queue))
    return "has the queue name " + quoted(queue) + ", which " + *fault;
  out.queue = queue;
  return parse_suffix(rest.substr(brace + 2), out);
}

std::optional<std::string> parse_reserve_key(std::string_view unit, ParsedKey& out) {
  if (const auto* entry = find_word(registry::kReserveEntries, unit)) {
    out.kind = KeyKind::reserve;
    out.reserve = entry->reserve;
    return std::nullopt;
  }
  const std::size_t colon = unit.find(':');
  if (colon == std::string_view::npos || unit.substr(0, colon) != registry::kMigrationWord) {
    return "names " + quoted(unit) +
           "; expected version, nodes, queues, bundle or migration:<queue>";
  }
  const std::string_view queue = unit.substr(colon + 1);
  if (auto fault = queue_fault(queue))
    return "has the queue name " + quoted(queue) + ", which " + *fault;
  out.kind = KeyKind::migration;
  out.queue = queue;
  return std::nullopt;
}

}  // namespace

std::string_view word(Structure structure) noexcept {
  return registry::kStructureEntries[static_cast<std::size_t>(structure)].word;
}

std::string_view word(Sub sub) noexcept {
  return registry::kSubEntries[static_cast<std::size_t>(sub)].word;
}

std::string_view word(Reserve reserve) noexcept {
  return registry::kReserveEntries[static_cast<std::size_t>(reserve)].word;
}

std::string_view redis_type(Structure structure) noexcept {
  return registry::kStructureEntries[static_cast<std::size_t>(structure)].type;
}

Result<std::string> queue_name(std::string_view given) {
  const bool wrapped = given.size() >= 2 && given.front() == '{' && given.back() == '}';
  const std::string_view bare = wrapped ? given.substr(1, given.size() - 2) : given;
  if (auto fault = queue_fault(bare)) return registry::refusal("queue name", given, *fault);
  return std::string(bare);
}

Result<void> check_job_id(std::string_view id) {
  if (auto fault = custom_id_fault(id)) return registry::refusal("job id", id, *fault);
  return {};
}

Result<void> check_any_job_id(std::string_view id) {
  if (is_branded_id(id)) {
    auto decimal = unbrand_id(id);
    if (!decimal) return decimal.error();
    Error error = registry::refusal("job id", id,
                                    "is in its branded form; give the decimal form, " + *decimal);
    error.fields.emplace_back("decimal", *std::move(decimal));
    return error;
  }
  if (auto fault = any_id_fault(id)) return registry::refusal("job id", id, *fault);
  return {};
}

std::string key(std::string_view queue, Structure structure) {
  return join({kQueuePrefix, queue, "}:", word(structure)});
}

std::string named_key(std::string_view queue, std::string_view named, std::string_view name) {
  return join({kQueuePrefix, queue, "}:", named, ":", name});
}

std::string job_key(std::string_view queue, std::string_view id) {
  return join({kQueuePrefix, queue, "}:", id});
}

std::string job_key(std::string_view queue, std::string_view id, Sub sub) {
  return join({kQueuePrefix, queue, "}:", id, ":", word(sub)});
}

std::string reserve_key(Reserve reserve) { return join({kReservePrefix, word(reserve)}); }

std::string migration_key(std::string_view queue) {
  return join({kReservePrefix, registry::kMigrationWord, ":", queue});
}

Result<ParsedKey> parse_key(std::string_view key) {
  ParsedKey parsed;
  std::optional<std::string> fault = "is of another family; expected emq:{queue}:... or {emq}:...";
  if (key.substr(0, kQueuePrefix.size()) == kQueuePrefix) {
    fault = parse_queue_key(key.substr(kQueuePrefix.size()), parsed);
  } else if (key.substr(0, kReservePrefix.size()) == kReservePrefix) {
    fault = parse_reserve_key(key.substr(kReservePrefix.size()), parsed);
  }
  if (fault) return registry::refusal("key", key, *fault);
  return parsed;
}

std::string build_key(const ParsedKey& parsed) {
  switch (parsed.kind) {
    case KeyKind::structure: return key(parsed.queue, parsed.structure);
    case KeyKind::named: return named_key(parsed.queue, parsed.named, parsed.name);
    case KeyKind::job: return job_key(parsed.queue, parsed.id);
    case KeyKind::sub: return job_key(parsed.queue, parsed.id, parsed.sub);
    case KeyKind::reserve: return reserve_key(parsed.reserve);
    case KeyKind::migration: return migration_key(parsed.queue);
  }
  return {};
}

unsigned slot(std::string_view key) noexcept {
  if (const std::size_t open = key.find('{'); open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1)
      key = key.substr(open + 1, close - open - 1);
  }
  std::uint32_t crc = 0;
  for (const char c : key) {
    crc ^= std::uint32_t{static_cast<unsigned char>(c)} << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16384;
}

std::string v1_key(std::string_view prefix, std::string_view queue, std::string_view suffix) {
  return join({prefix, ":", queue, ":", suffix});
}

}  // namespace echomq::inline v2
