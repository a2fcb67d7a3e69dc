// SPDX-License-Identifier: MIT
#include "probe/dump.h"

#include <algorithm>
#include <utility>

namespace echomq::inline v2::probe {
namespace {

// An element in quotes, because names may hold blanks and data may hold anything.
std::string joined(const std::vector<std::string>& elements) {
  std::string all;
  for (const auto& element : elements) all += (all.empty() ? "'" : " '") + element + "'";
  return all;
}

// The command that reads all of a key: one that a client's own rights (acl_line) allow.
std::vector<std::string> read_of(const std::string& key, const std::string& type) {
  if (type == "string") return {"GET", key};
  if (type == "hash") return {"HGETALL", key};
  if (type == "list") return {"LRANGE", key, "0", "-1"};
  if (type == "zset") return {"ZRANGE", key, "0", "-1", "WITHSCORES"};
  if (type == "stream") return {"XREVRANGE", key, "+", "-"};
  if (type == "set") return {"SSCAN", key, "0", "COUNT", "1000000"};
  return {"TYPE", key};  // of none of this wire's types: its name must do
}

std::string dumped(const Reply& reply, const std::string& type) {
  if (reply.is_error() || type == reply.text) return type + " " + reply.text;
  if (type == "string") return dumped_string(reply.text);
  auto elements = texts(type == "set" && reply.items.size() == 2 ? reply.items[1] : reply);
  if (type == "list") return dumped_list(elements);
  if (type == "zset") return dumped_zset(elements);
  if (type == "stream") {
    std::reverse(elements.begin(), elements.end());
    return dumped_stream(elements);
  }
  if (type == "set") {
    std::sort(elements.begin(), elements.end());
    return dumped_set(elements);
  }
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) fields[elements[i]] = elements[i + 1];
  return dumped_hash(fields);
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
  pairs.reserve(fields.size());
  for (const auto& [field, value] : fields)
    pairs.push_back(std::string(field).append("=").append(value));
  return "hash " + joined(pairs);
}

// Two pipelines: what each key is, and what is in it.
Dump dump_keys(Link& link, const std::vector<std::string>& keys) {
  std::vector<std::vector<std::string>> questions;
  questions.reserve(keys.size());
  for (const auto& key : keys) questions.push_back({"TYPE", key});
  const auto types = link.all_of(questions);
  std::map<std::string, std::string> type_of;
  for (std::size_t i = 0; i < keys.size(); ++i) type_of[keys[i]] = types[i].text;
  // Never there, or emptied meanwhile, as the trash is by a worker.
  std::erase_if(type_of, [](const auto& entry) { return entry.second == "none"; });
  questions.clear();
  for (const auto& [key, type] : type_of) questions.push_back(read_of(key, type));
  const auto contents = link.all_of(questions);
  Dump all;
  std::size_t i = 0;
  for (const auto& [key, type] : type_of) all[key] = dumped(contents[i++], type);
  return all;
}

std::string difference(const Dump& before, const Dump& after) {
  std::string lines;
  for (const auto& [key, value] : before) {
    const auto it = after.find(key);
    if (it == after.end())
      lines.append(key).append(": ").append(value).append(" -> (gone)\n");
    else if (it->second != value)
      lines.append(key).append(": ").append(value).append(" -> ").append(it->second).append("\n");
  }
  for (const auto& [key, value] : after)
    if (!before.contains(key)) lines.append(key).append(": (none) -> ").append(value).append("\n");
  return lines;
}

}  // namespace echomq::inline v2::probe
