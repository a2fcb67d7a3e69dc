// SPDX-License-Identifier: MIT
#include "support/dump.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "wire/command.h"

namespace echomq::test {
namespace {

// An element in quotes, because names may hold blanks and data may hold anything.
std::string joined(const std::vector<std::string>& elements) {
  std::string all;
  for (const auto& element : elements) all += (all.empty() ? "'" : " '") + element + "'";
  return all;
}

std::string sorted_pairs(const std::vector<std::string>& flat) {
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2) fields[flat[i]] = flat[i + 1];
  std::vector<std::string> sorted;
  for (const auto& [field, value] : fields) sorted.push_back(field + "=" + value);
  return joined(sorted);
}

void append(std::string& commands, const std::vector<std::string>& words) {
  wire::append_header(commands, words.size());
  for (const auto& word : words) wire::append_bulk(commands, word);
}

// The command that reads all of a key.
std::vector<std::string> read_of(const std::string& key, const std::string& type) {
  if (type == "string") return {"GET", key};
  if (type == "hash") return {"HGETALL", key};
  if (type == "list") return {"LRANGE", key, "0", "-1"};
  if (type == "zset") return {"ZRANGE", key, "0", "-1", "WITHSCORES"};
  if (type == "stream") return {"XRANGE", key, "-", "+"};
  if (type == "set") return {"SMEMBERS", key};
  throw std::runtime_error("a key of type " + type + ": " + key);
}

std::string content(const Reply& reply, const std::string& type) {
  if (type == "string") return reply.text;
  auto elements = texts(reply);
  if (type == "hash") return sorted_pairs(elements);
  if (type == "set") std::sort(elements.begin(), elements.end());
  return joined(elements);
}

std::string pattern_of(const std::string& queue) { return "emq:{" + queue + "}:*"; }

// Two pipelines: what each key is, and what is in it.
Dump dump_pattern(RawClient& redis, const std::string& pattern) {
  std::map<std::string, std::string> type_of;
  const auto keys = texts(redis({"KEYS", pattern}));
  std::string commands;
  for (const auto& key : keys) append(commands, {"TYPE", key});
  redis.send(commands);
  for (const auto& key : keys) type_of[key] = redis.receive().text;
  // Emptied meanwhile, as the trash is by a worker.
  std::erase_if(type_of, [](const auto& entry) { return entry.second == "none"; });
  commands.clear();
  for (const auto& [key, type] : type_of) append(commands, read_of(key, type));
  redis.send(commands);
  Dump all;
  for (const auto& [key, type] : type_of) all[key] = type + " " + content(redis.receive(), type);
  return all;
}

}  // namespace

std::vector<std::string> keys_of(RawClient& redis, const std::string& queue) {
  return texts(redis({"KEYS", pattern_of(queue)}));
}

Dump dump_queue(RawClient& redis, const std::string& queue) {
  return dump_pattern(redis, pattern_of(queue));
}

Dump dump_reserve(RawClient& redis) { return dump_pattern(redis, "{emq}:*"); }

Dump dump_all(RawClient& redis) { return dump_pattern(redis, "*"); }

void delete_queue(RawClient& redis, const std::string& queue) {
  auto words = keys_of(redis, queue);
  if (words.empty()) return;
  words.insert(words.begin(), "UNLINK");
  redis(words);
}

std::string difference(const Dump& before, const Dump& after) {
  std::string lines;
  for (const auto& [key, value] : before) {
    const auto it = after.find(key);
    if (it == after.end())
      lines += key + ": " + value + " -> (gone)\n";
    else if (it->second != value)
      lines += key + ": " + value + " -> " + it->second + "\n";
  }
  for (const auto& [key, value] : after)
    if (!before.contains(key)) lines += key + ": (none) -> " + value + "\n";
  return lines;
}

}  // namespace echomq::test
