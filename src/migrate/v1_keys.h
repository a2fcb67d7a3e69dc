// SPDX-License-Identifier: MIT
// The keys of a v1 queue. Only a migration names them beyond a look.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "echomq/keyspace.h"

namespace echomq::inline v2::migrate {

// Under these names the source keeps what the pause and the tombstones take away, until it is
// finished.
inline constexpr std::string_view kKeptMarker = "marker:v1";
inline constexpr std::string_view kKeptMeta = "meta:v1";
inline constexpr std::string_view kKeptId = "id:v1";
inline constexpr std::string_view kKeptRepeat = "repeats:v1";  // "repeat:v1" may be a scheduler

struct V1Structure {
  std::string_view word{};
  std::string_view type{};  // as TYPE says it
};
// The keys of a v1 queue that are no job's and no scheduler's.
inline constexpr std::array<V1Structure, 25> kV1Structures{{
    {"meta", "hash"},
    {"id", "string"},
    {"wait", "list"},
    {"paused", "list"},
    {"active", "list"},
    {"prioritized", "zset"},
    {"pc", "string"},
    {"delayed", "zset"},
    {"completed", "zset"},
    {"failed", "zset"},
    {"waiting-children", "zset"},
    {"stalled", "set"},
    {"stalled-check", "string"},
    {"limiter", "string"},
    {"events", "stream"},
    {"marker", "zset"},
    {"repeat", "zset"},
    {"metrics:completed", "hash"},
    {"metrics:completed:data", "list"},
    {"metrics:failed", "hash"},
    {"metrics:failed:data", "list"},
    {kKeptMarker, "zset"},
    {kKeptMeta, "hash"},
    {kKeptId, "string"},
    {kKeptRepeat, "zset"},
}};

// The keys of a v1 job beside its hash; all but the lock hold something that is moved.
inline constexpr std::array<V1Structure, 5> kV1Subs{{{"logs", "list"},
                                                     {"dependencies", "set"},
                                                     {"processed", "hash"},
                                                     {"failed", "hash"},
                                                     {"unsuccessful", "zset"}}};
inline constexpr std::string_view kV1Lock = "lock";

class V1Keys {
 public:
  V1Keys(std::string_view prefix, std::string_view queue) : base_(v1_key(prefix, queue, {})) {}

  [[nodiscard]] std::string operator()(std::string_view suffix) const {
    return std::string(base_).append(suffix);
  }
  [[nodiscard]] std::string sub(std::string_view id, std::string_view word) const {
    return std::string(base_).append(id).append(1, ':').append(word);
  }
  // What MATCH of SCAN finds: every key that begins so. A prefix may hold what means something in
  // a pattern.
  [[nodiscard]] std::string pattern(std::string_view suffix) const {
    std::string text;
    for (const char c : base_) {
      if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\' || c == '^') text += '\\';
      text += c;
    }
    return text.append(suffix).append(1, '*');
  }
  [[nodiscard]] const std::string& base() const { return base_; }

 private:
  std::string base_;  // "bull:orders:"
};

// Where a v1 client's tombstone leads.
inline constexpr std::string_view kTombstone = "echomq:2.0.0 migrated to ";
inline std::string tombstone(std::string_view target) {
  return std::string(kTombstone).append("emq:{").append(target).append("}");
}

}  // namespace echomq::inline v2::migrate
