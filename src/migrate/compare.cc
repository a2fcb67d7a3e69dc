// SPDX-License-Identifier: MIT
#include "migrate/compare.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "echomq/keyspace.h"
#include "migrate/v1_settings.h"
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
  if (auto compared = jobs(chunk); !compared) return compared;
  if (auto compared = places(chunk); !compared) return compared;
  subs_.clear();
  compared_ += static_cast<std::int64_t>(chunk.jobs.size());
  return on_chunk_(chunk.stage->v1, static_cast<std::int64_t>(chunk.jobs.size()));
}

Result<void> Compare::jobs(const Chunk& chunk) {
  Commands reads;
  for (const auto& job : chunk.jobs) {
    wire::append_command(reads.emplace_back(), {"HGETALL", job_key(queue_, job.id)});
    std::vector<std::string> words{"EXISTS"};
    for (const auto sub : kSubs) words.push_back(job_key(queue_, job.id, sub));
    reads.push_back(command_of(words));
  }
  auto found = target_.ask_all(std::move(reads));
  if (!found) return found.error();
  for (std::size_t i = 0; i < chunk.jobs.size(); ++i) {
    const auto& job = chunk.jobs[i];
    const auto text = difference_of(job.fields, read_hash(std::move((*found)[2 * i])));
    if (!text.empty()) differs_(job.v1_id, text);
    // One that is missing was told when it was compared.
    const auto known = std::count_if(kSubs.begin(), kSubs.end(), [this, &job](Sub sub) {
      return subs_.contains(job_key(queue_, job.id, sub));
    });
    if ((*found)[2 * i + 1].integer > known)
      if (auto looked = strange_subs(job); !looked) return looked;
  }
  return {};
}

Result<void> Compare::strange_subs(const MovedJob& job) {
  for (const auto sub : kSubs) {
    const auto sub_key = job_key(queue_, job.id, sub);
    if (subs_.contains(sub_key)) continue;
    const auto there = target_.ask({"EXISTS", sub_key});
    if (!there) return there.error();
    if (there->integer > 0) differs_(job.v1_id, sub_key + " is there, and should not be");
  }
  return {};
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

Compare::Counted* Compare::shared(const std::string& part_key) {
  for (auto& entry : shared_)
    if (key(queue_, entry.place) == part_key) return &entry;
  return nullptr;
}

void Compare::end_own() {
  if (own_.found > own_.expected)
    differs_(own_.job, own_.key + " holds " + std::to_string(own_.found) + " entries, not " +
                           std::to_string(own_.expected));
  own_ = {};
}

Result<void> Compare::take(const Part& part) {
  const auto tell = [this, &part](const std::string& text) {
    differs_(part.job, part.key + " " + text);
  };
  const auto many = static_cast<std::int64_t>(part.entries.size());
  auto* const of_queue = shared(part.key);
  if (of_queue == nullptr && part.first) {
    end_own();
    own_ = {.key = part.key, .job = part.job};
    if (!part.job.empty()) subs_.insert(part.key);
    if (part.key.starts_with(named_key(queue_, "metrics", {}))) metrics_.insert(part.key);
  }
  auto& at = of_queue != nullptr ? of_queue->at : own_.expected;
  Commands reads;
  if (part.type == "list") {
    wire::append_command(reads.emplace_back(),
                         {"LRANGE", part.key, std::to_string(at), std::to_string(at + many - 1)});
    wire::append_command(reads.emplace_back(), {"LLEN", part.key});
  } else {
    std::vector<std::string> words{part.type == "hash"   ? "HMGET"
                                   : part.type == "zset" ? "ZMSCORE"
                                                         : "SMISMEMBER",
                                   part.key};
    for (const auto& [entry, value] : part.entries) words.push_back(entry);
    reads.push_back(command_of(words));
    if (part.type == "hash") wire::append_command(reads.emplace_back(), {"HLEN", part.key});
  }
  const auto replies = target_.ask_all(std::move(reads));
  if (!replies) return replies.error();
  at += many;
  if (of_queue == nullptr && replies->size() > 1) own_.found = (*replies)[1].integer;
  if (of_queue != nullptr && of_queue->place == Structure::de)
    for (const auto& [entry, value] : part.entries) untils_.push_back(until_of(value));
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

}  // namespace echomq::inline v2::migrate
