// SPDX-License-Identifier: MIT
#include "support/v1_fixture.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/server.h"

namespace echomq::test {
namespace {

using nlohmann::json;

// A mark that v1 lets expire after half a minute must not do so in the middle of a slow test.
constexpr std::int64_t kLeastTtlMs = 600'000;

std::vector<std::string> command_for(const std::string& key, const json& content) {
  const auto& value = content.at("value");
  const std::string type = content.at("type");
  std::vector<std::string> words{type == "string" ? "SET"
                                 : type == "list" ? "RPUSH"
                                 : type == "set"  ? "SADD"
                                 : type == "hash" ? "HSET"
                                                  : "ZADD",
                                 key};
  if (type == "string") {
    words.push_back(value.get<std::string>());
  } else if (type == "list" || type == "set") {
    for (const auto& element : value) words.push_back(element.get<std::string>());
  } else {
    for (const auto& pair : value) {
      const std::string first = pair.at(0);
      const std::string second = pair.at(1);
      words.push_back(type == "hash" ? first : second);
      words.push_back(type == "hash" ? second : first);
    }
  }
  return words;
}

}  // namespace

// A prefix with a hashtag, as v1 needs in a cluster: all keys of the deployment are in one slot.
V1Fixture::V1Fixture(RawClient& redis, const std::string& which)
    : redis_(redis),
      prefix_("{" + unique_queue("v1") + "}"),
      queues_(which == "failed_children"
                  ? std::vector<std::string>{"mail", "parts"}
                  : std::vector<std::string>{"orders", "mail", "images", "parts", "early"}) {
  const auto path = std::string(ECHOMQ_SOURCE_DIR) + "/test/v1/fixtures/" + which + ".json";
  std::ifstream in(path);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (text.empty()) throw std::runtime_error("cannot read " + path);
  // Keys stand inside values too: those of parents and children.
  const std::string was = "bull:";
  for (std::size_t at = 0; (at = text.find(was, at)) != std::string::npos;) {
    text.replace(at, was.size(), prefix_ + ":");
    at += prefix_.size() + 1;
  }
  const auto keys = json::parse(text);
  for (const auto& [key, content] : keys.items()) {
    const auto reply = redis_(command_for(key, content));
    if (reply.is_error()) throw std::runtime_error(key + ": " + reply.text);
    if (content.contains("ttl")) {
      const auto ttl = std::max(content.at("ttl").get<std::int64_t>(), kLeastTtlMs);
      redis_({"PEXPIRE", key, std::to_string(ttl)});
    }
  }
}

V1Fixture::V1Fixture(RawClient& redis, std::string prefix, std::vector<std::string> queues)
    : redis_(redis), prefix_(std::move(prefix)), queues_(std::move(queues)) {}

V1Fixture::~V1Fixture() {
  for (const auto& [key, content] : dump()) redis_({"DEL", key});
}

Dump V1Fixture::dump() const {
  Dump found;
  for (auto& [key, content] : dump_all(redis_))
    if (key.starts_with(prefix_ + ":")) found.emplace(key, content);
  return found;
}

std::int64_t V1Fixture::jobs() const {
  std::int64_t count = 0;
  for (const auto& queue : queues_) {
    for (const auto* const list : {"wait", "paused"})
      count += redis_({"LLEN", key(queue, list)}).integer;
    for (const auto* const set :
         {"prioritized", "delayed", "waiting-children", "completed", "failed"})
      count += redis_({"ZCARD", key(queue, set)}).integer;
  }
  return count;
}

}  // namespace echomq::test
