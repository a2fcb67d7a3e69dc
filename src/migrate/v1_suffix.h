// SPDX-License-Identifier: MIT
// What a key of a v1 queue may be by its suffix, which is all behind "<prefix>:<queue>:".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "migrate/names.h"
#include "migrate/v1_keys.h"

namespace echomq::inline v2::migrate {

inline constexpr std::string_view kRepeatWord = "repeat:";
inline constexpr std::string_view kOwnerWord = "de:";
inline constexpr std::string_view kKeptAddWord = "dn:";

// A job that is called as a structure is stopped by the walk, which names it.
inline bool is_structure(std::string_view suffix) {
  return is_v1_structure(suffix) ||
         std::any_of(kV1Structures.begin(), kV1Structures.end(),
                     [suffix](const auto& known) { return known.word == suffix; });
}

// The job of a sub-key; empty: it has none.
inline std::string_view before_last_colon(std::string_view suffix) {
  const auto colon = suffix.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : suffix.substr(0, colon);
}

// The type of a sub-key, as "7:logs" is one of job "7"; empty: it is none.
inline std::string_view type_of_sub(std::string_view suffix) {
  const auto colon = suffix.rfind(':');
  if (colon == std::string_view::npos) return {};
  const auto last = suffix.substr(colon + 1);
  for (const auto& [word, type] : kV1Subs)
    if (last == word) return type;
  return last == kV1Lock ? "string" : std::string_view();
}

// What is told of a key that holds something else than it should.
inline std::string wrong_type(std::string_view key, std::string_view found,
                              std::string_view wanted) {
  return "its key " + v2::quoted(key) + " holds a " + std::string(found) + ", and not a " +
         std::string(wanted);
}

}  // namespace echomq::inline v2::migrate
