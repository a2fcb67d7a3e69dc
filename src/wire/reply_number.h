// SPDX-License-Identifier: MIT
// A number in a reply, whatever form it came in: an integer, a sorted set's score (a double in
// RESP3), or digits in a string.
#pragma once

#include <cstdint>

#include "base/number.h"
#include "wire/resp.h"

namespace echomq::inline v2::wire {

inline std::int64_t number_of(const Reply& reply) {
  if (reply.kind == Reply::Kind::integer) return reply.integer;
  if (reply.kind == Reply::Kind::number) return static_cast<std::int64_t>(reply.number);
  return static_cast<std::int64_t>(to_number<double>(reply.text));
}

}  // namespace echomq::inline v2::wire
