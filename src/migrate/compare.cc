// SPDX-License-Identifier: MIT
#include "migrate/compare.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "echomq/keyspace.h"
#include "wire/command.h"
#include "wire/reply_form.h"

namespace echomq::inline v2::migrate {
namespace {

// What differs between the fields of a job as they should be and as they are; empty: nothing.
std::string difference_of(const Fields& expected, const V1Hash& found) {
  if (found.empty()) return "is not there";
  for (const auto& [field, value] : expected) {
    const auto it = found.find(field);
    if (it == found.end()) return "its field " + field + " is missing";
    if (it->second != value)
      return "its field " + field + " is " + v2::quoted(it->second) + ", not " + v2::quoted(value);
  }
  if (found.size() == expected.size()) return {};
  for (const auto& [field, value] : found)
    if (std::none_of(expected.begin(), expected.end(),
                     [&field = field](const auto& known) { return known.first == field; }))
      return "has a field " + field + " that it should not have";
  return {};
}

}  // namespace

Compare::Counted& Compare::counted(Structure place) {
  return *std::find_if(counts_.begin(), counts_.end(),
                       [place](const auto& entry) { return entry.place == place; });
}

Result<void> Compare::take(const Chunk& chunk) {
  Commands reads;
  for (const auto& job : chunk.jobs)
    wire::append_command(reads.emplace_back(), {"HGETALL", job_key(queue_, job.id)});
  const auto hashes = target_.ask_all(std::move(reads));
  if (!hashes) return hashes.error();
  for (std::size_t i = 0; i < chunk.jobs.size(); ++i) {
    const auto text = difference_of(chunk.jobs[i].fields, read_hash((*hashes)[i]));
    if (!text.empty()) differs_(chunk.jobs[i].v1_id, text);
  }
  if (auto compared = places(chunk); !compared) return compared;
  compared_ += static_cast<std::int64_t>(chunk.jobs.size());
  return on_chunk_(chunk.stage->v1, static_cast<std::int64_t>(chunk.jobs.size()));
}

Result<void> Compare::places(const Chunk& chunk) {
  if (chunk.jobs.empty()) return {};
  auto& at = counted(chunk.stage->place).at;
  const auto last = at + static_cast<std::int64_t>(chunk.jobs.size()) - 1;
  std::vector<std::string> words{chunk.stage->list ? "LRANGE" : "ZRANGE",
                                 key(queue_, chunk.stage->place), std::to_string(at),
                                 std::to_string(last)};
  if (!chunk.stage->list) words.emplace_back("WITHSCORES");
  const auto reply = target_.ask(words);
  if (!reply) return reply.error();
  std::vector<wire::Scored> found;
  if (chunk.stage->list)
    for (const auto& item : reply->items) found.push_back({item.text, 0});
  else
    found = wire::scored(*reply);
  for (std::size_t i = 0; i < chunk.jobs.size(); ++i) {
    const auto& job = chunk.jobs[i];
    const auto place = "place " + std::to_string(at + static_cast<std::int64_t>(i)) + " of " +
                       std::string(word(chunk.stage->place));
    if (i >= found.size() || found[i].member != job.id)
      differs_(job.v1_id, "stands not at " + place);
    else if (!chunk.stage->list && std::to_string(found[i].score) != job.score)
      differs_(job.v1_id, "has the score " + std::to_string(found[i].score) + " at " + place +
                              ", not " + job.score);
  }
  at = last + 1;
  return {};
}

Result<void> Compare::take(const Part& part) {
  const auto tell = [this, &part](const std::string& text) {
    differs_(part.job, part.key + " " + text);
  };
  Commands reads;
  if (part.type == "list") {
    list_at_ = part.first || part.key != list_key_ ? 0 : list_at_;
    list_key_ = part.key;
    const auto last = list_at_ + static_cast<std::int64_t>(part.entries.size()) - 1;
    wire::append_command(reads.emplace_back(),
                         {"LRANGE", part.key, std::to_string(list_at_), std::to_string(last)});
    list_at_ = last + 1;
  } else {
    std::vector<std::string> words{part.type == "hash"   ? "HMGET"
                                   : part.type == "zset" ? "ZMSCORE"
                                                         : "SMISMEMBER",
                                   part.key};
    for (const auto& [entry, value] : part.entries) words.push_back(entry);
    reads.push_back(command_of(words));
  }
  const auto replies = target_.ask_all(std::move(reads));
  if (!replies) return replies.error();
  const auto& found = replies->front().items;
  if (found.size() != part.entries.size()) {
    tell("holds less than it should");
    return {};
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [entry, value] = part.entries[i];
    if (part.type == "zset" || part.type == "set") {
      const auto score =
          found[i].is_null() ? std::string("nothing") : std::to_string(wire::number_of(found[i]));
      if (score != (part.type == "set" ? "1" : value))
        tell("holds " + score + " for " + v2::quoted(entry));
    } else if (found[i].text != value) {
      tell("holds " + v2::quoted(found[i].text) + ", not " + v2::quoted(value));
    }
  }
  return {};
}

Result<void> Compare::count(const Fields& settings) {
  for (const auto& [place, at] : counts_) {
    const auto reply =
        target_.ask({place == Structure::wait ? "LLEN" : "ZCARD", key(queue_, place)});
    if (!reply) return reply.error();
    if (reply->integer != at)
      differs_({}, std::string(word(place)) + " holds " + std::to_string(reply->integer) +
                       " jobs, the source " + std::to_string(at));
  }
  std::vector<std::string> words{"HMGET", key(queue_, Structure::meta)};
  for (const auto& [field, value] : settings) words.push_back(field);
  const auto reply = target_.ask(words);
  if (!reply) return reply.error();
  for (std::size_t i = 0; i < settings.size() && i < reply->items.size(); ++i)
    if (reply->items[i].text != settings[i].second)
      differs_({}, "its setting " + settings[i].first + " is " + v2::quoted(reply->items[i].text) +
                       ", not " + v2::quoted(settings[i].second));
  return {};
}

}  // namespace echomq::inline v2::migrate
