// SPDX-License-Identifier: MIT
// Scripts that break a promise, each in one way: a check that does not see them sees nothing.
#pragma once

#include <array>
#include <string_view>

namespace echomq::inline v2::probe {

// A key that the call does not declare; ARGV[1] is one of the same slot.
inline constexpr std::string_view kUndeclaredKey = "return redis.call('EXISTS', KEYS[1], ARGV[1])";

struct Impure {
  std::string_view name;
  std::string_view source;  // pushes what it read onto the list KEYS[1]; KEYS[2] is a set
};

// What is no function of keys, arguments and contents.
inline constexpr std::array kImpure{
    Impure{"the clock",
           "return redis.call('RPUSH', KEYS[1], table.concat(redis.call('TIME'), '.'))"},
    Impure{"chance", "return redis.call('RPUSH', KEYS[1], redis.call('SRANDMEMBER', KEYS[2]))"},
};

}  // namespace echomq::inline v2::probe
