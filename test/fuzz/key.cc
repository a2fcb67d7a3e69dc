// SPDX-License-Identifier: MIT
// The key grammar. An input is taken as a key; its first lines are then taken as a queue, and as
// what a key of that queue can be about: an id or a name.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "fuzz/errors.h"
#include "fuzz/lines.h"
#include "fuzz/target.h"

namespace echomq::fuzz {
namespace {

// CRC16 (XMODEM) by its table, as the cluster specification prints it.
constexpr std::array<std::uint16_t, 256> crc16_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1U) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

unsigned expected_slot(std::string_view key) {
  static constexpr auto kTable = crc16_table();
  const auto open = key.find('{');
  if (open != std::string_view::npos) {
    const auto tag = key.substr(open + 1, key.find('}', open) - open - 1);
    const bool closed = key.find('}', open) != std::string_view::npos;
    if (closed && !tag.empty()) key = tag;
  }
  unsigned crc = 0;
  for (const char c : key)
    crc = ((crc << 8U) ^ kTable[((crc >> 8U) ^ static_cast<unsigned char>(c)) & 0xffU]) & 0xffffU;
  return crc % 16384;
}

void require_consistent(const ParsedKey& parsed, const std::string& text) {
  const bool of_deployment = parsed.kind == KeyKind::reserve || parsed.kind == KeyKind::migration;
  require(build_key(parsed) == text, "a key that was read is written the same again", text);
  require(std::count(text.begin(), text.end(), '{') == 1, "a key has one hashtag", text);
  require(slot(text) == slot(of_deployment ? "emq" : parsed.queue), "a queue has one slot", text);
  if (parsed.kind != KeyKind::reserve) {
    const auto queue = queue_name(parsed.queue);
    require(queue.ok() && *queue == parsed.queue, "the queue of a key has a queue's name", text);
  }
  if (parsed.kind == KeyKind::job || parsed.kind == KeyKind::sub)
    require(check_any_job_id(parsed.id).ok(), "there can be a job of a key's id", text);

  // Members that the kind does not name keep their defaults, so that == compares meanings.
  ParsedKey defaults;
  defaults.kind = parsed.kind;
  if (parsed.kind != KeyKind::reserve) defaults.queue = parsed.queue;
  switch (parsed.kind) {
    case KeyKind::structure: defaults.structure = parsed.structure; break;
    case KeyKind::named:
      defaults.named = parsed.named;
      defaults.name = parsed.name;
      break;
    case KeyKind::sub: defaults.sub = parsed.sub; [[fallthrough]];
    case KeyKind::job: defaults.id = parsed.id; break;
    case KeyKind::reserve: defaults.reserve = parsed.reserve; break;
    case KeyKind::migration: break;
  }
  require(defaults == parsed, "a key means nothing beside its kind", text);
}

void check_key(const std::string& text) {
  require(slot(text) == expected_slot(text), "a slot is that of the cluster specification", text);
  if (const auto parsed = parse_key(text))
    require_consistent(*parsed, text);
  else
    require_refusal_of(parsed.error(), text);
}

// A meaning whose parts are allowed is that of its key; a key with a part that is not allowed
// means nothing of the kind.
void require_meaning(const ParsedKey& meaning, bool allowed) {
  const auto text = build_key(meaning);
  check_key(text);
  const auto parsed = parse_key(text);
  require((parsed.ok() && *parsed == meaning) == allowed, "a key means what it was built of", text);
}

void check_queue(std::string_view queue, std::string_view part) {
  const auto bare = queue_name(queue);
  if (!bare) {
    require_refusal_of(bare.error(), queue);
    require_meaning({.kind = KeyKind::migration, .queue = std::string(queue)}, false);
    return;
  }
  const auto again = queue_name(*bare);
  require(again.ok() && *again == *bare, "a bare name is bare", *bare);
  require_meaning({.kind = KeyKind::migration, .queue = *bare}, true);
  // One word of each table, by the length of what follows the queue: all of them would cost most of
  // the time, and their grammar is the same.
  const auto pick = [&part](const auto& words) { return words[part.size() % words.size()]; };
  require_meaning({.kind = KeyKind::structure, .queue = *bare, .structure = pick(kStructures)},
                  true);

  const bool id_allowed = check_any_job_id(part).ok();
  require_meaning({.kind = KeyKind::job, .queue = *bare, .id = std::string(part)}, id_allowed);
  require_meaning(
      {.kind = KeyKind::sub, .queue = *bare, .id = std::string(part), .sub = pick(kSubs)},
      id_allowed);
  const bool name_allowed =
      !part.empty() && part.size() <= 255 && std::all_of(part.begin(), part.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
      });
  require_meaning({.kind = KeyKind::named,
                   .queue = *bare,
                   .named = std::string(pick(kNamedWords)),
                   .name = std::string(part)},
                  name_allowed);
}

}  // namespace

void key(std::string_view input) {
  check_key(std::string(input));
  Lines lines(input);
  const auto queue = lines.next();
  check_queue(queue, lines.next());
}

}  // namespace echomq::fuzz
