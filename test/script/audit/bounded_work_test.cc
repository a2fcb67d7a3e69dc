// SPDX-License-Identifier: MIT
// One call must never block the others for long: what a script does does not grow with what is in
// the queue. Counted, not timed: the commands inside it, with every element and every bound of a
// range that they name, and the size of its answer are the same at 1,000 and at 1,000,000 jobs in
// every state; counting and paging among them. Beside that none takes the server 50 ms, which is
// far above what the largest takes on a machine at rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/monitor.h"
#include "support/sanitizer.h"
#include "support/scene.h"
#include "support/server.h"
#include "support/wanted.h"

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

// What one call of a script does: how often it runs each command, by the server's own statistics;
// the words of those commands; and how many values it answers.
struct Work {
  Calls calls;
  std::vector<std::vector<std::string>> commands;
  std::size_t answered = 0;
  std::int64_t microseconds = 0;  // of the server's time
};

// How long scripts ran since the statistics were reset.
std::int64_t script_time(RawClient& redis) {
  std::int64_t microseconds = 0;
  std::istringstream lines(redis({"INFO", "commandstats"}).text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("cmdstat_eval"))
      microseconds += std::stoll(line.substr(line.find("usec=") + 5));
  return microseconds;
}

std::vector<std::vector<std::string>> commands_inside(const std::vector<MonitorLine>& lines) {
  std::vector<std::vector<std::string>> commands;
  for (const auto& line : lines)
    if (line.in_script) commands.push_back(line.words);
  return commands;
}

std::size_t values_in(const Reply& reply) {
  std::size_t count = 1;
  for (const auto& item : reply.items) count += values_in(item);
  return count;
}

// The keys that the last call of a journal declares.
std::set<std::string> declared_keys(const Journal& journal) {
  wire::RespParser parser;
  parser.feed(journal.back());
  const auto words = texts(**parser.next());
  const auto count = std::stol(words.at(2));
  return {words.begin() + 3, words.begin() + 3 + count};
}

// A queue's structures with `count` entries each, which no exercise picks: jobs of other workers,
// of later times or finished long ago. A million entries take their time: they are made once, and
// lent to the queue's keys where no exercise leaves anything among them.
class Filler {
 public:
  Filler(RawClient& redis, std::int64_t count)
      : redis_(redis), count_(count), prefix_(std::to_string(count) + ":") {
    make("list", "RPUSH", "");
    make("set", "SADD", "");
    make("later", "ZADD", kLater);
    make("past", "ZADD", kPast);
  }

  // Puts the entries behind what stands in those of the keys that hold states; in `crashed` before
  // it, so that what is looked for there stands behind all of them.
  void fill(const ScriptQueue& q, const std::set<std::string>& keys) {
    for (const auto& key : {q.keys.wait, q.keys.crashed})
      if (keys.contains(key)) {
        auto ours = texts(redis_({"LRANGE", key, "0", "-1"}));
        copy("list", key);
        if (key == q.keys.crashed) {
          say("RPUSH", key, ours);
          continue;
        }
        std::reverse(ours.begin(), ours.end());
        say("LPUSH", key, ours);
      }
    if (keys.contains(q.keys.trash)) {
      const auto before = texts(redis_({"SMEMBERS", q.keys.trash}));
      lend("set", q.keys.trash);
      say("SADD", q.keys.trash, before);
      in_trash_.insert(before.begin(), before.end());
    }
    for (const auto& key : {q.keys.prioritized, q.keys.active, q.keys.delayed, q.keys.schedules})
      if (keys.contains(key)) lend_behind("later", key);
    for (const auto& key : {q.keys.completed, q.keys.failed, q.keys.waiting_children})
      if (keys.contains(key)) lend_behind("past", key);
  }

  // Before the queue is deleted; `commands` are those that ran in between.
  void take_back(const std::vector<std::vector<std::string>>& commands) {
    for (const auto& key : std::exchange(lent_, {})) {
      const auto count = key.ends_with(":trash") ? without_theirs_in_set(key, commands)
                                                 : without_theirs_in_order(key);
      if (count != count_) continue;  // one of ours is gone: another copy is made
      ASSERT_EQ(redis_({"RENAME", key, prefix_ + key}).text, "OK");
    }
  }

 private:
  static constexpr const char* kLater = "9000000000000000";
  static constexpr const char* kPast = "1700000000000";

  // All of one length, so that the first ones are the same whatever the count.
  static std::string entry(std::int64_t i) { return "fill-" + std::to_string(10'000'000 + i); }

  void make(const std::string& form, std::string_view command, const std::string& score) {
    constexpr int kChunk = 1'000;
    const auto key = prefix_ + form;
    for (std::int64_t from = 0; from < count_; from += kChunk) {
      std::string bytes;
      wire::append_header(bytes, 2U + kChunk * (score.empty() ? 1U : 2U));
      wire::append_bulk(bytes, command);
      wire::append_bulk(bytes, std::string_view(key));
      for (auto i = from; i < from + kChunk; ++i) {
        if (!score.empty()) wire::append_bulk(bytes, std::string_view(score));
        wire::append_bulk(bytes, std::string_view(entry(i)));
      }
      redis_.send(bytes);
      ASSERT_FALSE(redis_.receive().is_error()) << key;
    }
  }

  void copy(const std::string& form, const std::string& key) {
    ASSERT_EQ(redis_({"COPY", prefix_ + form, key, "REPLACE"}).integer, 1) << key;
  }

  void lend(const std::string& form, const std::string& key) {
    if (redis_({"EXISTS", prefix_ + key}).integer == 0)
      copy(form, key);
    else
      ASSERT_EQ(redis_({"RENAME", prefix_ + key, key}).text, "OK");
    lent_.push_back(key);
  }

  void lend_behind(const std::string& form, const std::string& key) {
    auto before = texts(redis_({"ZRANGE", key, "0", "-1", "WITHSCORES"}));
    // The score comes first where they are added.
    for (std::size_t i = 0; i < before.size(); i += 2) std::swap(before[i], before[i + 1]);
    lend(form, key);
    say("ZADD", key, before);
  }

  // What is not ours stands at either end; what retention took stood at the beginning.
  std::int64_t without_theirs_in_order(const std::string& key) {
    for (const auto& [from, to] : {std::pair("0", "2000"), std::pair("-2000", "-1")}) {
      std::vector<std::string> theirs;
      for (const auto& entry : texts(redis_({"ZRANGE", key, from, to})))
        if (!entry.starts_with("fill-")) theirs.push_back(entry);
      say("ZREM", key, theirs);
    }
    const auto missing = count_ - redis_({"ZCARD", key}).integer;
    if (missing > 0 && missing <= 1'000 &&
        (key.ends_with(":completed") || key.ends_with(":failed"))) {
      std::vector<std::string> first;
      for (std::int64_t i = 0; i < missing; ++i) first.insert(first.end(), {kPast, entry(i)});
      say("ZADD", key, first);
    }
    return redis_({"ZCARD", key}).integer;
  }

  // What is not ours was there before, or was put there by one of the commands. Entries that
  // retention moved there have the names of some that were there.
  std::int64_t without_theirs_in_set(const std::string& key,
                                     const std::vector<std::vector<std::string>>& commands) {
    for (const auto& words : commands)
      if (words.size() > 2 && words[1] == key) in_trash_.insert(words.begin() + 2, words.end());
    auto theirs = std::exchange(in_trash_, {});
    std::erase_if(theirs, [](const auto& id) { return id.starts_with("fill-"); });
    say("SREM", key, {theirs.begin(), theirs.end()});
    return redis_({"SCARD", key}).integer;
  }

  void say(const std::string& command, const std::string& key,
           const std::vector<std::string>& entries) {
    if (entries.empty()) return;
    std::vector<std::string> words{command, key};
    words.insert(words.end(), entries.begin(), entries.end());
    ASSERT_FALSE(redis_(words).is_error()) << key;
  }

  RawClient& redis_;
  std::int64_t count_;
  std::string prefix_;
  std::vector<std::string> lent_;
  std::set<std::string> in_trash_;
};

// What looks through a list as far as the server likes: its words are the same however long that
// is.
std::string looked_through(const std::vector<std::vector<std::string>>& commands) {
  for (const auto& words : commands) {
    const auto has = [&](const char* word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    // Of the empty entries, which are alike, one was made near that end by the call before.
    const bool is_search = (words[0] == "LREM" && !words.back().empty()) || words[0] == "LINSERT" ||
                           (words[0] == "LPOS" && !has("MAXLEN"));
    if (is_search) return testing::PrintToString(words);
  }
  return {};
}

// A place in a list is a greater number in a longer one; how much is read there is not.
std::vector<std::vector<std::string>> without_places(
    std::vector<std::vector<std::string>> commands) {
  for (auto& words : commands) {
    if (words[0] == "LRANGE") {
      words[3] = std::to_string(std::stoll(words[3]) - std::stoll(words[2]));
      words[2] = "somewhere";
    }
    if (words[0] == "LSET") words[2] = "somewhere";
  }
  return commands;
}

TEST(BoundedWork, B46_P14_CommandsInsideAScriptDoNotGrowWithTheQueue) {
  // A minute's work of the server's, and hardly any of ours.
  if (kSanitized)
    GTEST_SKIP() << "what runs inside the server is the same, and seen by the plain run";
  if (!plain_servers_wanted()) GTEST_SKIP() << kServersOfItsOwn;
  // Not a cluster: its bus would add to the statistics.
  TestServer server({.cluster = false});
  auto redis = server.connect();
  redis({"CONFIG", "SET", "lazyfree-lazy-server-del", "yes"});
  std::map<int, Filler> fillers;
  for (const int count : {1'000, 1'000'000}) fillers.try_emplace(count, redis, count);
  for (const auto& exercise : exercises()) {
    Journal journal;
    {
      ScriptQueue q(redis, "bounded");
      q.journal = &journal;
      Scene scene(q);
      exercise.call(scene);
    }
    std::map<int, Work> seen;
    for (auto& [count, filler] : fillers) {
      auto& work = seen[count];
      ScriptQueue q(redis, "bounded");
      Scene scene(q);
      filler.fill(q, declared_keys(journal));
      std::optional<Monitor> monitor;
      q.before_call = [&] {
        monitor.emplace(server);
        redis({"CONFIG", "RESETSTAT"});
      };
      work.answered = values_in(exercise.call(scene));
      work.calls = command_calls(redis);
      work.microseconds = script_time(redis);
      work.commands = commands_inside(monitor->take(redis));
      filler.take_back(work.commands);
      work.commands = without_places(std::move(work.commands));
    }
    EXPECT_EQ(seen[1'000].calls, seen[1'000'000].calls) << exercise.script;
    EXPECT_EQ(seen[1'000].commands, seen[1'000'000].commands) << exercise.script;
    EXPECT_EQ(seen[1'000].answered, seen[1'000'000].answered) << exercise.script;
    EXPECT_FALSE(seen[1'000].commands.empty()) << exercise.script;
    EXPECT_EQ(looked_through(seen[1'000'000].commands), "") << exercise.script;
    EXPECT_LT(seen[1'000'000].microseconds, 50'000) << exercise.script;
  }
}

}  // namespace
}  // namespace echomq::test
