// SPDX-License-Identifier: MIT
// What a comparison does after the walk: whether the target holds more than the source has told.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "echomq/keyspace.h"
#include "migrate/compare.h"
#include "migrate/v1_settings.h"
#include "wire/command.h"

namespace echomq::inline v2::migrate {
namespace {

// How many entries a key has, by its type.
const char* size_command(Structure place) {
  const auto type = redis_type(place);
  return type == "list" ? "LLEN" : type == "hash" ? "HLEN" : type == "set" ? "SCARD" : "ZCARD";
}

}  // namespace

Result<void> Compare::count(const Fields& settings, std::int64_t now_ms) {
  end_own();
  if (auto counted = count_shared(); !counted) return counted;
  if (auto counted = count_deduplication(now_ms); !counted) return counted;
  if (auto looked = absent(); !looked) return looked;
  return compare_settings(settings);
}

Result<void> Compare::count_shared() {
  Commands reads;
  std::vector<Counted> expected(counts_.begin(), counts_.end());
  for (const auto& entry : shared_)
    // What the source has of these runs out meanwhile.
    if (entry.place != Structure::de && entry.place != Structure::de_due) expected.push_back(entry);
  expected.push_back({Structure::active, 1});  // the sentinel
  for (const auto& [place, at] : expected)
    wire::append_command(reads.emplace_back(), {size_command(place), key(queue_, place)});
  const auto sizes = target_.ask_all(std::move(reads));
  if (!sizes) return sizes.error();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [place, at] = expected[i];
    if ((*sizes)[i].integer != at)
      differs_({}, std::string(word(place)) + " holds " + std::to_string((*sizes)[i].integer) +
                       ", the source " + std::to_string(at));
  }
  return {};
}

Result<void> Compare::count_deduplication(std::int64_t now_ms) {
  const auto holds = [now_ms](std::int64_t until) { return until == 0 || until > now_ms; };
  const auto expected = std::count_if(untils_.begin(), untils_.end(), holds);
  std::int64_t found = 0;
  std::string at = "0";
  do {
    const auto page = target_.page({"HSCAN", key(queue_, Structure::de), at, "COUNT", "200"}, at);
    if (!page) return page.error();
    for (std::size_t i = 1; i < page->size(); i += 2)
      if (holds(until_of((*page)[i].text))) ++found;
  } while (at != "0");
  if (found != expected)
    differs_({},
             "de holds " + std::to_string(found) + " ids, the source " + std::to_string(expected));
  Commands reads;
  wire::append_command(reads.emplace_back(), {"HLEN", key(queue_, Structure::de)});
  wire::append_command(reads.emplace_back(), {"ZCARD", key(queue_, Structure::de_due)});
  const auto sizes = target_.ask_all(std::move(reads));
  if (!sizes) return sizes.error();
  if ((*sizes)[0].integer != (*sizes)[1].integer)
    differs_({}, "de:due holds " + std::to_string((*sizes)[1].integer) + " ids, de " +
                     std::to_string((*sizes)[0].integer));
  return {};
}

// What only a queue at work has.
Result<void> Compare::absent() {
  std::vector<std::string> names;
  for (const auto place : {Structure::ghosts, Structure::crashed, Structure::limiter,
                           Structure::producers, Structure::outbox, Structure::trash})
    names.push_back(key(queue_, place));
  for (const auto* const what : {"completed", "failed"}) {
    auto metric = named_key(queue_, "metrics", what);
    if (!metrics_.contains(metric)) names.push_back(std::move(metric));
  }
  Commands reads;
  for (const auto& name : names) wire::append_command(reads.emplace_back(), {"EXISTS", name});
  const auto there = target_.ask_all(std::move(reads));
  if (!there) return there.error();
  for (std::size_t i = 0; i < names.size(); ++i)
    if ((*there)[i].integer > 0) differs_({}, names[i] + " is there, and should not be");
  return {};
}

Result<void> Compare::compare_settings(const Fields& settings) {
  std::vector<std::string> words{"HMGET", key(queue_, Structure::meta)};
  for (const auto name : kSettings) words.emplace_back(name);
  const auto reply = target_.ask(words);
  if (!reply) return reply.error();
  for (std::size_t i = 0; i < kSettings.size() && i < reply->items.size(); ++i) {
    const auto it = std::find_if(settings.begin(), settings.end(), [i](const auto& setting) {
      return setting.first == kSettings[i];
    });
    const auto expected = it == settings.end() ? std::string() : it->second;
    if (reply->items[i].text != expected)
      differs_({}, "its setting " + std::string(kSettings[i]) + " is " +
                       v2::quoted(reply->items[i].text) + ", not " + v2::quoted(expected));
  }
  return {};
}

}  // namespace echomq::inline v2::migrate
