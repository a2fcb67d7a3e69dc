// SPDX-License-Identifier: MIT
#include "migrate/key_check.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "migrate/names.h"
#include "migrate/walk.h"
#include "wire/command.h"

namespace echomq::inline v2::migrate {
namespace {

constexpr std::int64_t kIdsAtOnce = 1'000;
constexpr std::size_t kUnknownKept = 10'000;
constexpr std::string_view kAnyType = "*";
constexpr std::string_view kRepeatWord = "repeat:";
constexpr std::string_view kOwnerWord = "de:";
constexpr std::string_view kKeptAddWord = "dn:";

std::uint64_t print_of(std::string_view id) { return std::hash<std::string_view>{}(id); }

// "7:logs" is of job "7"; empty: it is no sub-key.
std::string_view type_of_sub(std::string_view suffix) {
  const auto colon = suffix.rfind(':');
  if (colon == std::string_view::npos) return {};
  const auto last = suffix.substr(colon + 1);
  for (const auto& [word, type] : kV1Subs)
    if (last == word) return type;
  return last == kV1Lock ? "string" : std::string_view();
}

}  // namespace

Result<bool> KeyCheck::run(const OnPage& on_page, const OnFound& found) {
  if (auto listed = list_ids(on_page); !listed) return listed.error();
  std::string at = "0";
  do {
    const auto keys = source_.page({"SCAN", at, "MATCH", v1_.pattern({}), "COUNT", "1000"}, at);
    if (!keys) return keys.error();
    if (auto seen = page(*keys, found); !seen) return seen.error();
    if (auto stepped = on_page(); !stepped) return stepped.error();
  } while (at != "0");
  if (!unknown_.empty())
    if (auto looked = look_again(on_page, found); !looked) return looked.error();
  return readable_;
}

Result<void> KeyCheck::list_ids(const OnPage& on_page) {
  for (const auto& stage : kStages)
    if (auto done = list_ids_of(v1_(stage.v1), stage.list, {}, on_page); !done) return done;
  if (auto done = list_ids_of(v1_("active"), /*list=*/true, {}, on_page); !done) return done;
  const auto type = source_.ask({"TYPE", v1_("repeat")});
  if (!type) return type.error();
  const auto repeats = v1_(type->text == "string" ? kKeptRepeat : "repeat");
  if (auto done = list_ids_of(repeats, /*list=*/false, kRepeatWord, on_page); !done) return done;
  std::sort(listed_.begin(), listed_.end());
  listed_.erase(std::unique(listed_.begin(), listed_.end()), listed_.end());
  return {};
}

Result<void> KeyCheck::list_ids_of(const std::string& key, bool list, std::string_view before,
                                   const OnPage& on_page) {
  for (std::int64_t from = 0;; from += kIdsAtOnce) {
    const auto ids = source_.ask({list ? "LRANGE" : "ZRANGE", key, std::to_string(from),
                                  std::to_string(from + kIdsAtOnce - 1)});
    if (!ids) return ids.error();
    for (const auto& id : ids->items)
      listed_.push_back(print_of(before.empty() ? id.text : std::string(before) + id.text));
    if (ids->items.size() < static_cast<std::size_t>(kIdsAtOnce)) return {};
    if (auto stepped = on_page(); !stepped) return stepped;
  }
}

bool KeyCheck::is_listed(std::string_view id) const {
  return std::binary_search(listed_.begin(), listed_.end(), print_of(id));
}

std::string_view KeyCheck::owner(std::string_view suffix) const {
  if (is_listed(suffix)) return suffix;
  const auto colon = suffix.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : suffix.substr(0, colon);
}

std::string_view KeyCheck::expected(std::string_view suffix) const {
  // A job that is called as a structure is stopped by the walk, which names it.
  for (const auto& [word, type] : kV1Structures)
    if (word == suffix) return kAnyType;
  if (is_v1_structure(suffix)) return kAnyType;
  if (is_listed(suffix)) return "hash";
  const auto sub = type_of_sub(suffix);
  // Whoever a lock is of, it runs out by itself.
  if (!sub.empty() && (sub == "string" || is_listed(owner(suffix)))) return sub;
  if (suffix.starts_with(kOwnerWord)) return "string";
  return {};
}

Result<void> KeyCheck::page(const Replies& keys, const OnFound& found) {
  Commands looks;
  for (const auto& key : keys) wire::append_command(looks.emplace_back(), {"TYPE", key.text});
  const auto types = source_.ask_all(std::move(looks));
  if (!types) return types.error();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& type = (*types)[i].text;
    const auto suffix = std::string_view(keys[i].text).substr(v1_.base().size());
    const auto wanted = expected(suffix);
    if (type == "none" || wanted == kAnyType || wanted == type) continue;
    if (!wanted.empty() && !suffix.starts_with(kOwnerWord)) {
      readable_ = false;
      found(std::string(owner(suffix)), "its key " + v2::quoted(keys[i].text) + " holds a " + type +
                                            ", and not a " + std::string(wanted));
    } else if (unknown_.size() < kUnknownKept) {
      unknown_.push_back({std::string(suffix), type});
    } else {
      ++more_;
    }
  }
  return {};
}

Result<void> KeyCheck::look_again(const OnPage& on_page, const OnFound& found) {
  if (auto listed = list_ids(on_page); !listed) return listed;
  for (const auto& key : unknown_)
    if (expected(key.suffix) != key.type)
      if (auto told = tell(key, found); !told) return told;
  if (more_ > 0) found({}, std::to_string(more_) + " more keys that nobody knows");
  return {};
}

Result<void> KeyCheck::tell(const Unknown& key, const OnFound& found) {
  const auto name = v1_(key.suffix);
  Commands looks;
  wire::append_command(looks.emplace_back(), {"EXISTS", name});
  if (key.type == "hash") wire::append_command(looks.emplace_back(), {"HEXISTS", name, "name"});
  const auto seen = source_.ask_all(std::move(looks));
  if (!seen) return seen.error();
  if (seen->front().integer == 0) return {};
  const bool is_job = key.type == "hash" && seen->back().integer == 1;
  if (key.suffix.starts_with(kKeptAddWord) && key.type == "hash")
    found({}, v2::quoted(name) +
                  " keeps an add until the owner of its deduplication id is over: let v1's workers "
                  "end the owner, or delete the key");
  else if (is_job && key.suffix.starts_with(kRepeatWord))
    found(key.suffix,
          "is a job or scheduler that stands in no list of v1: nobody would ever run "
          "it; delete " +
              v2::quoted(name));
  else if (is_job)
    found(key.suffix, "is a job that stands in no list of v1: nobody would ever run it; delete " +
                          v2::quoted(name) + ", or add it anew");
  else if (!type_of_sub(key.suffix).empty())
    found({}, "nobody knows whose " + v2::quoted(name) + " is: there is no such job");
  else
    found({}, "nobody knows what " + v2::quoted(name) + " is, a " + key.type);
  return {};
}

}  // namespace echomq::inline v2::migrate
