// SPDX-License-Identifier: MIT
// What a client says beside its scripts: the greeting, the clock, looking before a script is
// called, waiting on the marker and on the stream of events, the lists of queues and schedulers,
// the outbox, and the look for a v1 queue. In the spelling of ACL rules.
#pragma once

#include <array>
#include <string_view>

namespace echomq::inline v2 {

inline constexpr std::array<std::string_view, 26> kPlainCommands{
    "bzpopmin",   "client|id",     "client|setname", "eval",  "evalsha", "hdel",      "hello",
    "hget",       "hgetall",       "hmget",          "hscan", "info",    "ping",      "select",
    "smismember", "sscan",         "time",           "type",  "xread",   "xrevrange", "zadd",
    "zrange",     "zrangebyscore", "auth",           "zcard", "zscan"};

}  // namespace echomq::inline v2
