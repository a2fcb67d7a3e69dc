// SPDX-License-Identifier: MIT
#include "support/dump.h"

namespace echomq::test {
namespace {

Dump dump_pattern(Link& redis, const std::string& pattern) {
  return dump_keys(redis, texts(redis({"KEYS", pattern})));
}

}  // namespace

std::vector<std::string> keys_of(Link& redis, const std::string& queue) {
  return texts(redis({"KEYS", "emq:{" + queue + "}:*"}));
}

Dump dump_queue(Link& redis, const std::string& queue) {
  return dump_keys(redis, keys_of(redis, queue));
}

Dump dump_reserve(Link& redis) { return dump_pattern(redis, "{emq}:*"); }

Dump dump_all(Link& redis) { return dump_pattern(redis, "*"); }

void delete_queue(Link& redis, const std::string& queue) {
  auto words = keys_of(redis, queue);
  if (words.empty()) return;
  words.insert(words.begin(), "UNLINK");
  redis(words);
}

}  // namespace echomq::test
