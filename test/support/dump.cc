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

std::string dumped(const Reply& reply, const std::string& type) {
  if (type == "string") return dumped_string(reply.text);
  auto elements = texts(reply);
  if (type == "list") return dumped_list(elements);
  if (type == "zset") return dumped_zset(elements);
  if (type == "stream") return dumped_stream(elements);
  if (type == "set") {
    std::sort(elements.begin(), elements.end());
    return dumped_set(elements);
  }
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) fields[elements[i]] = elements[i + 1];
  return dumped_hash(fields);
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
  for (const auto& [key, type] : type_of) all[key] = dumped(redis.receive(), type);
  return all;
}

}  // namespace

std::string dumped_string(const std::string& text) { return "string " + text; }
std::string dumped_list(const std::vector<std::string>& elements) {
  return "list " + joined(elements);
}
std::string dumped_set(const std::vector<std::string>& sorted) { return "set " + joined(sorted); }
std::string dumped_zset(const std::vector<std::string>& flat) { return "zset " + joined(flat); }
std::string dumped_stream(const std::vector<std::string>& entries) {
  return "stream " + joined(entries);
}
std::string dumped_hash(const std::map<std::string, std::string>& fields) {
  std::vector<std::string> pairs;
  for (const auto& [field, value] : fields) pairs.push_back(field + "=" + value);
  return "hash " + joined(pairs);
}

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
