// SPDX-License-Identifier: MIT
// One call must never block the others for long: what a script does does not grow with what is in
// the queue. Counted, not timed: the calls of each command inside it, at 1,000 and at 100,000 jobs
// in every state, are the same.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "support/scene.h"
#include "support/server.h"

namespace echomq::test {
namespace {

using Calls = std::map<std::string, std::string>;

// Commands that scripts ran since the statistics were reset.
Calls command_calls(RawClient& redis) {
  Calls calls;
  std::istringstream lines(redis({"INFO", "commandstats"}).text);
  for (std::string line; std::getline(lines, line);) {
    const auto name = line.substr(0, line.find(':'));
    const auto at = line.find("calls=");
    if (at == std::string::npos) continue;
    const auto count = line.substr(at + 6, line.find(',') - at - 6);
    const bool inside = name.find("cmdstat_config") == std::string::npos &&
                        name != "cmdstat_info" && name != "cmdstat_eval" &&
                        name != "cmdstat_evalsha";
    if (inside) calls[name] = count;
  }
  return calls;
}

// The keys that the last call of a journal declares.
std::set<std::string> declared_keys(const Journal& journal) {
  wire::RespParser parser;
  parser.feed(journal.back());
  const auto words = texts(**parser.next());
  const auto count = std::stol(words.at(2));
  return {words.begin() + 3, words.begin() + 3 + count};
}

// Puts `count` more entries into those of the keys that hold states: jobs of other workers and of
// later times, which no exercise picks.
void fill(RawClient& redis, const ScriptQueue& q, const std::set<std::string>& keys, int count) {
  constexpr int kChunk = 1'000;
  const auto far = std::to_string(Lease{.deadline_s = 1'000'000'000}.score());
  const auto put = [&](std::string_view command, const std::string& key, const std::string& score) {
    if (!keys.contains(key)) return;
    std::string bytes;
    for (int from = 0; from < count; from += kChunk) {
      wire::append_header(bytes, 2U + kChunk * (score.empty() ? 1U : 2U));
      wire::append_bulk(bytes, command);
      wire::append_bulk(bytes, key);
      for (int i = from; i < from + kChunk; ++i) {
        if (!score.empty()) wire::append_bulk(bytes, score);
        wire::append_bulk(bytes, "fill-" + std::to_string(i));
      }
    }
    redis.send(bytes);
    for (int from = 0; from < count; from += kChunk)
      ASSERT_FALSE(redis.receive().is_error()) << key;
  };
  put("RPUSH", q.keys.wait, "");
  put("RPUSH", q.keys.crashed, "");
  put("SADD", q.keys.trash, "");
  put("ZADD", q.keys.prioritized, "9000000000000000");
  put("ZADD", q.keys.active, far);
  put("ZADD", q.keys.delayed, "1900000000000");
  put("ZADD", q.keys.completed, "1700000000000");
  put("ZADD", q.keys.failed, "1700000000000");
}

TEST(BoundedWork, CallsInsideAScriptDoNotGrowWithTheQueue) {
  // Not a cluster: its bus would add to the statistics.
  TestServer server({.cluster = false});
  auto redis = server.connect();
  for (const auto& exercise : exercises()) {
    Journal journal;
    {
      ScriptQueue q(redis, "bounded");
      q.journal = &journal;
      Scene scene(q);
      exercise.call(scene);
    }
    std::map<int, Calls> counted;
    for (const int count : {1'000, 100'000}) {
      ScriptQueue q(redis, "bounded");
      Scene scene(q);
      fill(redis, q, declared_keys(journal), count);
      q.before_call = [&redis] { redis({"CONFIG", "RESETSTAT"}); };
      exercise.call(scene);
      counted[count] = command_calls(redis);
    }
    EXPECT_EQ(counted[1'000], counted[100'000]) << exercise.script;
    EXPECT_FALSE(counted[1'000].empty()) << exercise.script;
  }
}

}  // namespace
}  // namespace echomq::test
