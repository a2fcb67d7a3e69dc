// SPDX-License-Identifier: MIT
#include "migrate/reader.h"

#include <utility>

#include "migrate/v1_suffix.h"
#include "queue/add_batcher.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::migrate {

Result<KnownKinds> kinds_of(Link& source, const V1Keys& v1,
                            const std::function<Result<void>()>& on_page) {
  KnownKinds kinds{.subs = false, .owners = false};
  std::string at = "0";
  do {
    const auto keys = source.page({"SCAN", at, "MATCH", v1.pattern({}), "COUNT", "1000"}, at);
    if (!keys) return keys.error();
    for (const auto& key : *keys) {
      const auto suffix = std::string_view(key.text).substr(v1.base().size());
      kinds.subs = kinds.subs || !type_of_sub(suffix).empty();
      kinds.owners = kinds.owners || suffix.starts_with(kOwnerWord);
    }
    if (auto stepped = on_page(); !stepped) return stepped.error();
  } while (at != "0" && !(kinds.subs && kinds.owners));
  return kinds;
}

Result<Piece> Reader::next() {
  while (used_ == entries_.size()) {
    if (stage_ == kStages.size()) return Piece{};
    if (auto listed = list(); !listed) return listed.error();
    if (!entries_.empty()) {
      if (auto looked = look(); !looked) return looked.error();
      break;
    }
    ++stage_;
    at_ = 0;
  }
  Piece piece{.stage = stage_, .at = at_};
  Commands reads;
  for (std::size_t bytes = 0; used_ < entries_.size(); ++used_) {
    bytes += bytes_[used_];
    if (!reads.empty() && bytes > kMaxBatchBytes) break;
    wire::append_command(reads.emplace_back(), {"HGETALL", v1_(entries_[used_].id)});
    piece.has_subs.push_back(has_subs_[used_]);
    piece.entries.push_back(std::move(entries_[used_]));
  }
  auto hashes = source_.ask_each(std::move(reads));
  if (!hashes) return hashes.error();
  piece.hashes = *std::move(hashes);
  at_ += static_cast<std::int64_t>(piece.entries.size());
  return piece;
}

Result<void> Reader::list() {
  const auto& stage = kStages[stage_];
  const auto key = v1_(stage.v1);
  constexpr auto kMany = static_cast<std::int64_t>(kMaxBatchJobs);
  entries_.clear();
  used_ = 0;
  if (!stage.list) {
    const auto reply = source_.ask(
        {"ZRANGE", key, std::to_string(at_), std::to_string(at_ + kMany - 1), "WITHSCORES"});
    if (!reply) return reply.error();
    for (auto& [id, score] : wire::scored(*reply)) entries_.push_back({std::move(id), score});
    return {};
  }
  // v1 takes from the right end, 2.0 from the left one.
  const auto reply =
      source_.ask({"LRANGE", key, std::to_string(-(at_ + kMany)), std::to_string(-(at_ + 1))});
  if (!reply) return reply.error();
  for (auto it = reply->items.rbegin(); it != reply->items.rend(); ++it)
    entries_.push_back({it->text, 0});
  return {};
}

// Which jobs have keys beside their hash is asked of all in one where none had any lately.
Result<void> Reader::look() {
  Commands looks;
  std::vector<std::string> of_all{"EXISTS"};
  for (const auto& [id, score] : entries_) {
    wire::append_command(looks.emplace_back(), {"MEMORY", "USAGE", v1_(id), "SAMPLES", "0"});
    if (kinds_.subs)
      for (const auto& [word, type] : kV1Subs) of_all.push_back(v1_.sub(id, word));
  }
  const bool asks_all = kinds_.subs && !subs_met_;
  if (asks_all) looks.push_back(command_of(of_all));
  const auto seen = source_.ask_all(std::move(looks));
  if (!seen) return seen.error();
  bytes_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i)
    bytes_.push_back(static_cast<std::size_t>((*seen)[i].integer));
  has_subs_.assign(entries_.size(), false);
  if (!kinds_.subs || (asks_all && seen->back().integer == 0)) return {};
  return look_for_subs(of_all);
}

Result<void> Reader::look_for_subs(const std::vector<std::string>& of_all) {
  Commands asks;
  auto name = of_all.begin() + 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto& ask = asks.emplace_back();
    wire::append_header(ask, 1 + kV1Subs.size());
    wire::append_bulk(ask, "EXISTS");
    for (std::size_t sub = 0; sub < kV1Subs.size(); ++sub) wire::append_bulk(ask, *name++);
  }
  const auto there = source_.ask_all(std::move(asks));
  if (!there) return there.error();
  subs_met_ = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    has_subs_[i] = (*there)[i].integer > 0;
    subs_met_ = subs_met_ || has_subs_[i];
  }
  return {};
}

}  // namespace echomq::inline v2::migrate
