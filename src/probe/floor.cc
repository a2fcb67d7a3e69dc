// SPDX-License-Identifier: MIT
// What a server must know: the commands in the text of the scripts and those that the client says
// itself, each with the version of Redis that brought it. A command that is not in the table is
// reported as of an unknown version, and a test fails: nobody guesses.
#include <algorithm>
#include <array>
#include <map>

#include "base/number.h"
#include "base/parts.h"
#include "base/text.h"
#include "client/plain_commands.h"
#include "echomq/probe.h"
#include "echomq_scripts.h"
#include "protocol/script_calls.h"

namespace echomq::inline v2 {
namespace {

struct Since {
  std::string_view command;
  std::string_view version;
};

constexpr std::array kSince{
    Since{"AUTH", "1.0.0"},
    Since{"BZPOPMIN", "5.0.0"},
    Since{"CLIENT|ID", "5.0.0"},
    Since{"CLIENT|KILL", "2.4.0"},
    Since{"CLIENT|SETNAME", "2.6.9"},
    Since{"CONFIG|GET", "2.0.0"},
    Since{"DEL", "1.0.0"},
    Since{"EVAL", "2.6.0"},
    Since{"EVALSHA", "2.6.0"},
    Since{"EXISTS", "1.0.0"},
    Since{"GET", "1.0.0"},
    Since{"GETDEL", "6.2.0"},
    Since{"HDEL", "2.0.0"},
    Since{"HELLO", "6.0.0"},
    Since{"HEXISTS", "2.0.0"},
    Since{"HGET", "2.0.0"},
    Since{"HGETALL", "2.0.0"},
    Since{"HINCRBY", "2.0.0"},
    Since{"HLEN", "2.0.0"},
    Since{"HMGET", "2.0.0"},
    Since{"HSCAN", "2.8.0"},
    Since{"HSET", "2.0.0"},
    Since{"HSETNX", "2.0.0"},
    Since{"HSTRLEN", "3.2.0"},
    Since{"INCRBY", "1.0.0"},
    Since{"INFO", "1.0.0"},
    Since{"LINDEX", "1.0.0"},
    Since{"LLEN", "1.0.0"},
    Since{"LMOVE", "6.2.0"},
    Since{"LPOP", "1.0.0"},
    Since{"LPOS", "6.0.6"},
    Since{"LPUSH", "1.0.0"},
    Since{"LRANGE", "1.0.0"},
    Since{"LREM", "1.0.0"},
    Since{"LSET", "1.0.0"},
    Since{"LTRIM", "1.0.0"},
    Since{"PING", "1.0.0"},
    Since{"RPOP", "1.0.0"},
    Since{"RPUSH", "1.0.0"},
    Since{"SADD", "1.0.0"},
    Since{"SCAN", "2.8.0"},
    Since{"SCARD", "1.0.0"},
    Since{"SELECT", "1.0.0"},
    Since{"SET", "1.0.0"},
    Since{"SETNX", "1.0.0"},
    Since{"SISMEMBER", "1.0.0"},
    Since{"SMISMEMBER", "6.2.0"},
    Since{"SMOVE", "1.0.0"},
    Since{"SREM", "1.0.0"},
    Since{"SSCAN", "2.8.0"},
    Since{"STRLEN", "2.2.0"},
    Since{"TIME", "2.6.0"},
    Since{"TYPE", "1.0.0"},
    Since{"UNLINK", "4.0.0"},
    Since{"WAIT", "3.0.0"},
    Since{"WAITAOF", "7.2.0"},
    Since{"XADD", "5.0.0"},
    Since{"XDEL", "5.0.0"},
    Since{"XLEN", "5.0.0"},
    Since{"XRANGE", "5.0.0"},
    Since{"XREAD", "5.0.0"},
    Since{"XREVRANGE", "5.0.0"},
    Since{"XTRIM", "5.0.0"},
    Since{"ZADD", "1.2.0"},
    Since{"ZCARD", "1.2.0"},
    Since{"ZCOUNT", "2.0.0"},
    Since{"ZINCRBY", "1.2.0"},
    Since{"ZLEXCOUNT", "2.8.9"},
    Since{"ZMSCORE", "6.2.0"},
    Since{"ZPOPMAX", "5.0.0"},
    Since{"ZPOPMIN", "5.0.0"},
    Since{"ZRANGE", "1.2.0"},
    Since{"ZRANGEBYLEX", "2.8.9"},
    Since{"ZRANGEBYSCORE", "1.0.5"},
    Since{"ZRANK", "2.0.0"},
    Since{"ZREM", "1.2.0"},
    Since{"ZREMRANGEBYRANK", "2.0.0"},
    Since{"ZREVRANGE", "1.2.0"},
    Since{"ZREVRANGEBYLEX", "2.8.9"},
    Since{"ZREVRANGEBYSCORE", "2.2.0"},
    Since{"ZREVRANK", "2.0.0"},
    Since{"ZSCAN", "2.8.0"},
    Since{"ZSCORE", "1.2.0"},
};

// What a command can say only since later. The words follow it in the same call.
struct OptionSince {
  std::string_view command;
  std::string_view option;
  std::string_view version;
};

constexpr std::array kOptions{
    OptionSince{"LPOP", "count", "6.2.0"},      OptionSince{"RPOP", "count", "6.2.0"},
    OptionSince{"XADD", "NOMKSTREAM", "6.2.0"}, OptionSince{"XADD", "LIMIT", "6.2.0"},
    OptionSince{"XADD", "MINID", "6.2.0"},      OptionSince{"XTRIM", "LIMIT", "6.2.0"},
    OptionSince{"XTRIM", "MINID", "6.2.0"},     OptionSince{"ZADD", "GT", "6.2.0"},
    OptionSince{"ZADD", "LT", "6.2.0"},         OptionSince{"ZADD", "NX", "3.0.2"},
    OptionSince{"ZADD", "XX", "3.0.2"},         OptionSince{"ZRANGE", "BYSCORE", "6.2.0"},
    OptionSince{"ZRANGE", "BYLEX", "6.2.0"},    OptionSince{"ZRANGE", "REV", "6.2.0"},
    OptionSince{"SET", "GET", "6.2.0"},         OptionSince{"SET", "KEEPTTL", "6.0.0"},
};

std::string since(std::string_view command) {
  for (const auto& known : kSince)
    if (known.command == command) return std::string(known.version);
  return "unknown";
}

// A count is no word: it is what stands behind the key.
bool says(const protocol::ServerCall& call, std::string_view option) {
  if (option == "count") return call.arguments > 1;
  return std::find(call.literals.begin(), call.literals.end(), option) != call.literals.end();
}

// "10.0.0" is newer than "7.2.0", and what is unknown is newest of all.
std::array<int, 3> number_of(std::string_view version) {
  if (version == "unknown") return {1'000, 0, 0};
  std::array<int, 3> numbers{};
  Parts parts(version, '.');
  for (auto& number : numbers) number = to_number<int>(parts.word());
  return numbers;
}

}  // namespace

std::vector<ServerNeed> server_needs() {
  std::map<std::string, ServerNeed> needs;
  const auto need = [&needs](const std::string& what, const std::string& version,
                             std::string_view by) {
    needs.try_emplace(what, ServerNeed{what, version, std::string(by)});
  };
  for (const auto* const script : scripts::all())
    for (const auto& call : protocol::calls_in(script->source)) {
      need(call.command, since(call.command), script->name);
      for (const auto& option : kOptions)
        if (option.command == call.command && says(call, option.option))
          need(call.command + " " + std::string(option.option), std::string(option.version),
               script->name);
    }
  for (const auto command : kPlainCommands) {
    auto raised = upper(command);
    need(raised, since(raised), "the client");
  }
  std::vector<ServerNeed> all;
  all.reserve(needs.size());
  for (auto& [what, entry] : needs) all.push_back(std::move(entry));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return number_of(a.since) > number_of(b.since);
  });
  return all;
}

}  // namespace echomq::inline v2
