// SPDX-License-Identifier: MIT
// Job ids: what they are made of, and the form that people see.
//
// A minted id is a Snowflake, a number below 2^63:
//
//   bits 62..22  milliseconds since 2024-01-01T00:00:00Z (41 bits, until the year 2093)
//   bits 21..12  node, the id that one live process of a deployment holds (10 bits)
//   bits 11..0   sequence within the millisecond (12 bits)
//
// so that ids sort by the time they were minted. Everywhere (keys, arguments, answers, this API) an
// id is its canonical decimal string, never a number: Lua and JavaScript would round it. At the
// edge, where people read and paste, it may be shown branded: "BAT" and 11 digits of base 62 (0-9
// A-Z a-z, padded with zeros), for example
//
//   274557032793636864  <->  BAT0KHTOWnGLuC      65,459,497,641 ms after 2024, node 0, sequence 0
//
// "BAT" says what the number is the id of. A branded id of another kind ("TSK0KHTOWnGLuC") is
// refused by name, so that an id pasted into the wrong place is an error and not another job.
//
// All errors are ErrorCode::invalid_name with the field "value"; nothing here talks to a server.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "echomq/export.h"
#include "echomq/result.h"

namespace echomq::inline v2 {

// 2024-01-01T00:00:00Z in milliseconds since 1970: where the clock of minted ids starts.
inline constexpr std::int64_t kIdEpochMs = 1'704'067'200'000;

// The three letters before the base 62 digits of a job id.
inline constexpr std::string_view kIdBrand = "BAT";

// What a minted id is made of.
struct IdParts {
  std::uint64_t ms_since_2024;
  std::int64_t unix_ms;  // the same moment, since 1970
  unsigned node;         // 0..1023
  unsigned seq;          // 0..4095

  friend bool operator==(const IdParts&, const IdParts&) = default;
};

// "274557032793636864" -> "BAT0KHTOWnGLuC".
// Error: not the canonical decimal form of a number below 2^63.
ECHOMQ_API Result<std::string> brand_id(std::string_view decimal);

// "BAT0KHTOWnGLuC" -> "274557032793636864".
// Errors: not branded at all; a brand other than BAT (fields "brand" and "expected"); a number of
// 2^63 or more.
ECHOMQ_API Result<std::string> unbrand_id(std::string_view branded);

// The parts of an id in either form. Errors: those of unbrand_id, and text that is neither form.
ECHOMQ_API Result<IdParts> decode_id(std::string_view decimal_or_branded);

// True for the canonical decimal form of a number below 2^63: digits without a leading zero ("0"
// itself included). Says what an id looks like, not that a job has it.
ECHOMQ_API bool is_minted_id(std::string_view id) noexcept;

// True for "BAT" and 11 base 62 digits, whatever number they make. No custom id may look like this.
ECHOMQ_API bool is_branded_id(std::string_view id) noexcept;

}  // namespace echomq::inline v2
