// SPDX-License-Identifier: MIT
// The keys of which the look at their names alone does not tell whose they are: those of buckets
// that do not balance, and the unknown ones. They are held against the lists once more.
#include <algorithm>
#include <utility>

#include "migrate/key_check.h"
#include "migrate/v1_suffix.h"
#include "wire/command.h"

namespace echomq::inline v2::migrate {
namespace {

// Keys that are looked at by name together, where ids and keys do not balance.
constexpr std::size_t kUnsureAtOnce = 30'000;
// Jobs that stand in two places are named up to here.
constexpr std::size_t kTwiceKept = 100;

}  // namespace

Result<void> KeyCheck::look_at_unsure(const OnPage& on_page) {
  for (std::size_t begin = 0; begin < Balance::kBuckets;) {
    std::size_t many = 0;
    auto end = begin;
    for (; end < Balance::kBuckets && many < kUnsureAtOnce; ++end) many += balance_.unsure(end);
    if (!has_room())
      while (begin < end) more_ += balance_.over(begin++);
    else if (many > 0)
      if (auto looked = look_at_buckets(begin, end, on_page); !looked) return looked;
    begin = end;
  }
  return {};
}

Result<void> KeyCheck::look_at_buckets(std::size_t begin, std::size_t end, const OnPage& on_page) {
  std::vector<Unknown> unsure;
  std::string at = "0";
  do {
    const auto keys = source_.page({"SCAN", at, "MATCH", v1_.pattern({}), "COUNT", "1000"}, at);
    if (!keys) return keys.error();
    const auto known = unsure.size();
    Commands looks;
    for (const auto& key : *keys) {
      const auto suffix = std::string_view(key.text).substr(v1_.base().size());
      const auto bucket = Balance::bucket_of(suffix);
      if (bucket < begin || bucket >= end || balance_.unsure(bucket) == 0 || is_structure(suffix))
        continue;
      unsure.push_back({std::string(suffix), {}});
      wire::append_command(looks.emplace_back(), {"TYPE", key.text});
    }
    const auto types = source_.ask_all(std::move(looks));
    if (!types) return types.error();
    for (std::size_t i = 0; i < types->size(); ++i) unsure[known + i].type = (*types)[i].text;
    if (auto stepped = on_page(); !stepped) return stepped;
  } while (at != "0");
  if (auto settled = settle(unsure, on_page); !settled) return settled;
  for (auto& key : unsure) keep(std::move(key));
  return {};
}

Result<void> KeyCheck::settle(std::vector<Unknown>& keys, const OnPage& on_page) {
  if (keys.empty()) return {};
  // A SCAN may tell a key twice.
  std::sort(keys.begin(), keys.end(),
            [](const auto& one, const auto& other) { return one.suffix < other.suffix; });
  keys.erase(
      std::unique(keys.begin(), keys.end(),
                  [](const auto& one, const auto& other) { return one.suffix == other.suffix; }),
      keys.end());
  std::vector<std::uint64_t> wanted;
  for (const auto& key : keys)
    for (const auto id : {std::string_view(key.suffix), before_last_colon(key.suffix)})
      wanted.push_back(Balance::print_of(id));
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::vector<bool> there(wanted.size());
  auto listed = each_listed(
      [this, &wanted, &there](std::string_view id) {
        const auto print = Balance::print_of(id);
        const auto it = std::lower_bound(wanted.begin(), wanted.end(), print);
        if (it == wanted.end() || *it != print) return;
        auto was_there = there[static_cast<std::size_t>(it - wanted.begin())];
        if (was_there) note_twice(id);
        was_there = true;
      },
      on_page);
  if (!listed) return listed;
  listed_.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (there[i]) listed_.push_back(wanted[i]);
  std::erase_if(keys, [this](const auto& key) { return expected(key.suffix) == key.type; });
  return {};
}

void KeyCheck::note_twice(std::string_view id) {
  if (twice_.size() < kTwiceKept)
    twice_.emplace(id);
  else if (!twice_.contains(id))
    more_twice_ = true;
}

bool KeyCheck::is_listed(std::string_view id) const {
  return std::binary_search(listed_.begin(), listed_.end(), Balance::print_of(id));
}

std::string_view KeyCheck::owner(std::string_view suffix) const {
  return is_listed(suffix) ? suffix : before_last_colon(suffix);
}

std::string_view KeyCheck::expected(std::string_view suffix) const {
  if (is_listed(suffix)) return "hash";
  const auto sub = type_of_sub(suffix);
  if (!sub.empty() && (sub == "string" || is_listed(owner(suffix)))) return sub;
  if (suffix.starts_with(kOwnerWord)) return "string";
  return {};
}

}  // namespace echomq::inline v2::migrate
