// SPDX-License-Identifier: MIT
#include "support/dump.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

std::string content(RawClient& redis, const std::string& key, const std::string& type) {
  if (type == "string") return redis({"GET", key}).text;
  if (type == "hash") return sorted_pairs(texts(redis({"HGETALL", key})));
  if (type == "list") return joined(texts(redis({"LRANGE", key, "0", "-1"})));
  if (type == "zset") return joined(texts(redis({"ZRANGE", key, "0", "-1", "WITHSCORES"})));
  if (type == "stream") return joined(texts(redis({"XRANGE", key, "-", "+"})));
  if (type == "set") {
    auto members = texts(redis({"SMEMBERS", key}));
    std::sort(members.begin(), members.end());
    return joined(members);
  }
  throw std::runtime_error("a key of type " + type + ": " + key);
}

std::string pattern_of(const std::string& queue) { return "emq:{" + queue + "}:*"; }

Dump dump_pattern(RawClient& redis, const std::string& pattern) {
  Dump all;
  for (const auto& key : texts(redis({"KEYS", pattern}))) {
    const auto type = redis({"TYPE", key}).text;
    if (type == "none") continue;  // emptied meanwhile, as the trash is by a worker
    all[key] = type + " " + content(redis, key, type);
  }
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
