// SPDX-License-Identifier: MIT
#include "migrate/key_check.h"

#include <utility>

#include "base/text.h"
#include "migrate/v1_suffix.h"
#include "migrate/walk.h"
#include "wire/command.h"

namespace echomq::inline v2::migrate {
namespace {

constexpr std::int64_t kIdsAtOnce = 1'000;
constexpr std::size_t kUnknownKept = 10'000;

}  // namespace

Result<bool> KeyCheck::run(const OnPage& on_page, const OnFound& found) {
  if (auto listed = each_listed([this](std::string_view id) { balance_.stands(id); }, on_page);
      !listed)
    return listed.error();
  std::string at = "0";
  do {
    const auto keys = source_.page({"SCAN", at, "MATCH", v1_.pattern({}), "COUNT", "1000"}, at);
    if (!keys) return keys.error();
    if (auto seen = page(*keys); !seen) return seen.error();
    if (auto stepped = on_page(); !stepped) return stepped.error();
  } while (at != "0");
  if (auto looked = look_at_unsure(on_page); !looked) return looked.error();
  // What was unknown may have been added meanwhile, or be gone.
  if (auto settled = settle(unknown_, on_page); !settled) return settled.error();
  for (const auto& key : unknown_) {
    const auto wanted = expected(key.suffix);
    if (wanted.empty() || key.suffix.starts_with(kOwnerWord)) {
      if (auto told = tell(key, found); !told) return told.error();
      continue;
    }
    readable_ = false;
    found(std::string(owner(key.suffix)), wrong_type(v1_(key.suffix), key.type, wanted));
  }
  if (more_ > 0) found({}, std::to_string(more_) + " more keys that nobody knows");
  bool any = false;
  for (const auto& id : twice_) {
    const auto told = tell_twice(id, found);
    if (!told) return told.error();
    any = any || *told;
  }
  if (any && more_twice_) found({}, "more jobs may stand in two places than are named here");
  return readable_;
}

Result<void> KeyCheck::each_listed(const OnId& on_id, const OnPage& on_page) {
  for (const auto& stage : kStages)
    if (auto done = each_of(v1_(stage.v1), stage.list, {}, on_id, on_page); !done) return done;
  if (auto done = each_of(v1_("active"), /*list=*/true, {}, on_id, on_page); !done) return done;
  const auto type = source_.ask({"TYPE", v1_("repeat")});
  if (!type) return type.error();
  const auto repeats = v1_(type->text == "string" ? kKeptRepeat : "repeat");
  return each_of(repeats, /*list=*/false, kRepeatWord, on_id, on_page);
}

Result<void> KeyCheck::each_of(const std::string& key, bool list, std::string_view before,
                               const OnId& on_id, const OnPage& on_page) {
  std::string id(before);
  for (std::int64_t from = 0;; from += kIdsAtOnce) {
    const auto ids = source_.ask({list ? "LRANGE" : "ZRANGE", key, std::to_string(from),
                                  std::to_string(from + kIdsAtOnce - 1)});
    if (!ids) return ids.error();
    for (const auto& found : ids->items) {
      id.resize(before.size());
      on_id(id += found.text);
    }
    if (ids->items.size() < static_cast<std::size_t>(kIdsAtOnce)) return {};
    if (auto stepped = on_page(); !stepped) return stepped;
  }
}

// Most keys are the hashes of jobs, and called so; of what they hold whoever reads them is told.
Result<void> KeyCheck::page(const Replies& keys) {
  std::vector<Unknown> others;
  Commands looks;
  for (const auto& key : keys) {
    const auto suffix = std::string_view(key.text).substr(v1_.base().size());
    if (is_structure(suffix)) continue;
    if (type_of_sub(suffix).empty() && !suffix.starts_with(kOwnerWord) &&
        !suffix.starts_with(kRepeatWord)) {
      balance_.has_key(suffix);
      continue;
    }
    others.push_back({std::string(suffix), {}});
    wire::append_command(looks.emplace_back(), {"TYPE", key.text});
    wire::append_command(looks.emplace_back(), {"TYPE", v1_(before_last_colon(suffix))});
  }
  const auto types = source_.ask_all(std::move(looks));
  if (!types) return types.error();
  for (std::size_t i = 0; i < others.size(); ++i) {
    auto& [suffix, type] = others[i];
    type = (*types)[2 * i].text;
    if (type == "none") continue;
    const auto sub = type_of_sub(suffix);
    if (sub == type) {
      // Whoever a lock is of, it runs out by itself.
      if (type == "string") continue;
      kinds_.subs = true;
      if ((*types)[2 * i + 1].text != "hash") keep(std::move(others[i]));
    } else if (type == "hash") {
      balance_.has_key(suffix);
    } else if (type == "string" && suffix.starts_with(kOwnerWord)) {
      kinds_.owners = true;
    } else {
      keep(std::move(others[i]));
    }
  }
  return {};
}

bool KeyCheck::has_room() const { return unknown_.size() < kUnknownKept; }

void KeyCheck::keep(Unknown key) {
  if (has_room()) return unknown_.push_back(std::move(key));
  ++more_;
  // It may be what stands for a job.
  if (key.type != "hash") readable_ = false;
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

// A job that moved meanwhile, or a list that was shifted, looked so too: the places themselves say
// it. `active` is none of them: what runs is waited for, and is nowhere else then.
Result<bool> KeyCheck::tell_twice(const std::string& id, const OnFound& found) {
  Commands looks;
  for (const auto& stage : kStages)
    if (stage.list)
      wire::append_command(looks.emplace_back(), {"LPOS", v1_(stage.v1), id, "COUNT", "2"});
    else
      wire::append_command(looks.emplace_back(), {"ZSCORE", v1_(stage.v1), id});
  const auto seen = source_.ask_all(std::move(looks));
  if (!seen) return seen.error();
  std::vector<std::string_view> places;
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    const auto& reply = (*seen)[i];
    const auto times = kStages[i].list ? reply.items.size() : reply.is_null() ? 0U : 1U;
    places.insert(places.end(), times, kStages[i].v1);
  }
  if (places.size() < 2) return false;
  found(id, "stands in `" + std::string(places[0]) + "` and once more in `" +
                std::string(places[1]) +
                "`: only one of them can be moved; remove it where it does not belong");
  return true;
}

}  // namespace echomq::inline v2::migrate
