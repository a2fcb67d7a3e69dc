// SPDX-License-Identifier: MIT
// What v1 leaves of a queue, and where: the keys that a look for it asks for.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/keyspace.h"
#include "protocol/registry.h"

namespace echomq::inline v2 {

// `meta` comes first: it names the version. After a migration it is a string (a tombstone) that
// begins with our own version, and `id` another.
inline constexpr std::array<std::string_view, 9> kV1Suffixes{
    "meta", "id", "wait", "active", "paused", "delayed", "prioritized", "completed", "failed"};

// What the type of such a key tells of a v1 queue; empty: nothing. A string is what a migration
// leaves (a tombstone), or a v1 counter beside nothing else.
inline std::string v1_found(const std::string& type) {
  if (type.empty() || type == "none" || type == "string") return {};
  return "a v1 queue (" + type + ")";
}

// A v1 queue by its names: the prefix, and the name as its client wrote it.
struct V1Name {
  std::string prefix;
  std::string queue;
};

// The names that a v1 queue may have: plain, and in braces, which v1 needs in a cluster. Under the
// prefix emq the name in braces is that of our own keys.
inline std::vector<V1Name> v1_names(const std::vector<std::string>& prefixes,
                                    const std::string& queue) {
  std::vector<V1Name> names;
  for (const auto& prefix : prefixes) {
    names.push_back({prefix, queue});
    if (prefix != "emq") names.push_back({prefix, "{" + queue + "}"});
  }
  return names;
}

// One question of the look before a queue is opened: for the version that the key has as a hash,
// or for its type.
struct V1Look {
  std::string key;
  bool for_version = false;

  std::vector<std::string> words() const {
    if (for_version) return {"HGET", key, "version"};
    return {"TYPE", key};
  }
};

// All of the look, in the order in which it is asked: the first answer that tells of v1 is the one
// that is reported.
inline std::vector<V1Look> v1_looks(const std::vector<std::string>& prefixes,
                                    const std::string& queue) {
  std::vector<V1Look> looks;
  for (const auto& name : v1_names(prefixes, queue)) {
    looks.push_back({v1_key(name.prefix, name.queue, kV1Suffixes[0]), /*for_version=*/true});
    for (const auto suffix : kV1Suffixes)
      looks.push_back({v1_key(name.prefix, name.queue, suffix)});
  }
  return looks;
}

// A key that only v1 has, in the place of our keys. `paused` is what v1's pause makes of `wait`.
inline std::string v1_word_key(const std::string& queue, std::string_view word) {
  return v1_key("emq", "{" + queue + "}", word);
}

// Whether it is one: queue/repair declares those, and nothing else does.
inline bool is_v1_word_key(std::string_view key) {
  const auto at = key.find("}:");
  if (!key.starts_with("emq:{") || at == std::string_view::npos) return false;
  const auto& words = registry::kV1Words;
  return std::find(words.begin(), words.end(), key.substr(at + 2)) != words.end();
}

}  // namespace echomq::inline v2
