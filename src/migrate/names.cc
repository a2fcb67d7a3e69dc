// SPDX-License-Identifier: MIT
#include "migrate/names.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "echomq/keyspace.h"
#include "echomq/schedule.h"
#include "migrate/v1_keys.h"
#include "protocol/registry.h"

namespace echomq::inline v2::migrate {
namespace {

constexpr std::string_view kTickWord = "repeat:";
constexpr std::size_t kKeptBytes = 150;  // of a name that gets another one

std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += kHex[(hash >> shift) & 15U];
  return digits;
}

std::string another_name(std::string_view id) {
  std::string kept(id.substr(0, kKeptBytes));
  for (auto& c : kept)
    if (!registry::is_name_char(c)) c = '_';
  return "v1." + kept + "." + hash_of(id);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

std::string map_scheduler(std::string_view id) {
  return check_scheduler_id(id) ? std::string(id) : another_name(id);
}

std::string map_id(std::string_view id) {
  if (check_any_job_id(id)) return std::string(id);
  const auto colon = id.rfind(':');
  if (id.starts_with(kTickWord) && colon > kTickWord.size() && is_number(id.substr(colon + 1))) {
    auto tick = map_scheduler(id.substr(kTickWord.size(), colon - kTickWord.size())) + "." +
                std::string(id.substr(colon + 1));
    if (check_any_job_id(tick)) return tick;
  }
  return another_name(id);
}

bool is_v1_structure(std::string_view id) {
  // Versions before 5 had the first two.
  return id == "delay" || id == "priority" ||
         (id.find(':') == std::string_view::npos &&
          std::any_of(kV1Structures.begin(), kV1Structures.end(),
                      [id](const auto& known) { return known.word == id; }));
}

bool is_old_marker(std::string_view id) { return id == "0" || id.starts_with("0:"); }

std::optional<V1JobName> Unit::read(std::string_view key) const {
  if (!key.starts_with(prefix_ + ":")) return std::nullopt;
  key.remove_prefix(prefix_.size() + 1);
  const auto colon = key.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return V1JobName{key.substr(0, colon), key.substr(colon + 1)};
}

std::optional<job::Reference> Unit::reference(std::string_view key) const {
  const auto job = read(key);
  if (!job) return std::nullopt;
  const auto it = std::find_if(queues_.begin(), queues_.end(),
                               [&job](const auto& moved) { return moved.from == job->queue; });
  if (it == queues_.end()) return std::nullopt;
  return job::Reference{it->to, map_id(job->id)};
}

}  // namespace echomq::inline v2::migrate
