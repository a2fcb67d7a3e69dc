// SPDX-License-Identifier: MIT
// What holds of every error, whatever the input was.
#pragma once

#include <algorithm>
#include <string_view>

#include "echomq/result.h"
#include "fuzz/target.h"

namespace echomq::fuzz {

// A message ends in logs and terminals: it must not be able to write there what it likes, and not
// without end.
inline void require_loggable(const Error& error) {
  constexpr std::size_t kLongest = 1'000;
  require(!error.detail.empty() && error.detail.size() <= kLongest, "a message has 1 to 1000 bytes",
          error.detail);
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  require(std::none_of(error.detail.begin(), error.detail.end(), control),
          "a message holds no control characters", error.detail);
}

// The error of a name outside its grammar: the value stands whole in a field, for programs.
inline void require_refusal_of(const Error& error, std::string_view value) {
  require(error.code == ErrorCode::invalid_name, "what is refused is an invalid name",
          error.detail);
  const auto* field = error.field("value");
  require(field != nullptr && *field == value, "the error holds the value", error.detail);
  require_loggable(error);
}

}  // namespace echomq::fuzz
