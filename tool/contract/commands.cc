// SPDX-License-Identifier: MIT
#include "contract/commands.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace echomq::inline v2::contract {
namespace {

constexpr std::array kCommands = {
    // any type
    Command{"DEL", kAllKeys, true}, Command{"EXISTS", kAllKeys, true},
    Command{"UNLINK", kAllKeys, true}, Command{"TYPE"},
    // strings
    Command{"GET"}, Command{"SET"}, Command{"SETNX", 1, true}, Command{"GETDEL"},
    Command{"INCRBY", 1, true}, Command{"STRLEN", 1, true},
    // hashes
    Command{"HDEL", 1, true}, Command{"HEXISTS", 1, true}, Command{"HGET"}, Command{"HGETALL"},
    Command{"HINCRBY", 1, true}, Command{"HLEN", 1, true}, Command{"HMGET"},
    Command{"HSET", 1, true}, Command{"HSETNX", 1, true}, Command{"HSTRLEN", 1, true},
    // lists
    Command{"LINDEX"}, Command{"LLEN", 1, true}, Command{"LMOVE", 2}, Command{"LPOP"},
    Command{"LPOS"}, Command{"LPUSH", 1, true}, Command{"LRANGE"}, Command{"LREM", 1, true},
    Command{"LSET"}, Command{"LTRIM"}, Command{"RPOP"}, Command{"RPUSH", 1, true},
    // sets
    Command{"SADD", 1, true}, Command{"SCARD", 1, true}, Command{"SISMEMBER", 1, true},
    Command{"SMISMEMBER"}, Command{"SMOVE", 2, true}, Command{"SREM", 1, true},
    // sorted sets
    Command{"ZADD"}, Command{"ZCARD", 1, true}, Command{"ZCOUNT", 1, true}, Command{"ZINCRBY"},
    Command{"ZLEXCOUNT", 1, true}, Command{"ZMSCORE"}, Command{"ZPOPMAX"}, Command{"ZPOPMIN"},
    Command{"ZRANGE"}, Command{"ZRANGEBYLEX"}, Command{"ZRANGEBYSCORE"}, Command{"ZRANK"},
    Command{"ZREM", 1, true}, Command{"ZREMRANGEBYRANK", 1, true}, Command{"ZREVRANGE"},
    Command{"ZREVRANGEBYLEX"}, Command{"ZREVRANGEBYSCORE"}, Command{"ZREVRANK"}, Command{"ZSCORE"},
    // streams
    Command{"XADD"}, Command{"XDEL", 1, true}, Command{"XLEN", 1, true}, Command{"XRANGE"},
    Command{"XREVRANGE"}, Command{"XTRIM", 1, true}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 34> kRefusals = {{
    {"TIME", "time is an argument (now), so that a call can be replayed"},
    {"RANDOMKEY", "a script is a function of its arguments and the stored data"},
    {"SPOP", "it takes a random member"},
    {"SRANDMEMBER", "it reads a random member"},
    {"HRANDFIELD", "it reads a random field"},
    {"ZRANDMEMBER", "it reads a random member"},
    {"SMEMBERS", "its order differs between servers and its size has no limit"},
    {"HKEYS", "its size has no limit"},
    {"HVALS", "its size has no limit"},
    {"TTL", "no logic depends on a key having expired"},
    {"PTTL", "no logic depends on a key having expired"},
    {"EXPIRETIME", "no logic depends on a key having expired"},
    {"PEXPIRETIME", "no logic depends on a key having expired"},
    {"EXPIRE", "no logic depends on a key having expired: store the time and compare it"},
    {"PEXPIRE", "no logic depends on a key having expired: store the time and compare it"},
    {"EXPIREAT", "no logic depends on a key having expired: store the time and compare it"},
    {"PEXPIREAT", "no logic depends on a key having expired: store the time and compare it"},
    {"PERSIST", "no logic depends on a key having expired"},
    {"SETEX", "no logic depends on a key having expired: store the time and compare it"},
    {"PSETEX", "no logic depends on a key having expired: store the time and compare it"},
    {"GETEX", "no logic depends on a key having expired"},
    {"KEYS", "it touches keys that the call does not declare"},
    {"SCAN", "it touches keys that the call does not declare"},
    {"SSCAN", "its order differs between servers"},
    {"HSCAN", "its order differs between servers"},
    {"ZSCAN", "its order differs between servers"},
    {"SORT", "its patterns build keys"},
    {"EVAL", "a script does not call another"},
    {"EVALSHA", "a script does not call another"},
    {"FCALL", "a script does not call another"},
    {"FLUSHDB", "it touches keys that the call does not declare"},
    {"FLUSHALL", "it touches keys that the call does not declare"},
    {"ZREMRANGEBYSCORE", "it deletes without a limit: read with LIMIT, then remove by rank"},
    {"PUBLISH", "a channel is no declared key: events go through the stream"},
}};

std::string upper(std::string_view name) {
  std::string raised(name);
  for (char& c : raised) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return raised;
}

}  // namespace

const Command* find_command(std::string_view name) {
  const std::string raised = upper(name);
  const auto* found = std::find_if(kCommands.begin(), kCommands.end(),
                                   [&](const Command& command) { return command.name == raised; });
  return found == kCommands.end() ? nullptr : found;
}

std::string refusal(std::string_view name) {
  const std::string raised = upper(name);
  for (const auto& [refused, why] : kRefusals)
    if (refused == raised) return raised + " is refused: " + std::string(why);
  return raised +
         " is not in the list of commands (tool/contract/commands.cc), which knows where "
         "each has its keys";
}

}  // namespace echomq::inline v2::contract
