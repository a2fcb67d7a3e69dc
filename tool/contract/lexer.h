// SPDX-License-Identifier: MIT
// A tokenizer for the Lua that the protocol's scripts are written in.
//
// It reads everything that Lua 5.1 and Lua 5.4 read, the operators that only 5.4 knows included:
// those are refused later by name (spelling.h), which says more than "unexpected character".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contract/problem.h"

namespace echomq::inline v2::contract {

struct Token {
  enum class Kind { name, keyword, number, string, op, comment, end };
  Kind kind = Kind::end;
  std::string text;   // as written, quotes and brackets included
  std::string value;  // of a string: what it denotes
  Position at;        // where it starts
  int last_line = 0;  // where it ends; differs only for strings and comments over several lines

  [[nodiscard]] bool is(std::string_view spelled) const {
    return (kind == Kind::op || kind == Kind::keyword) && text == spelled;
  }
};

// All tokens in order, comments included, closed by one of kind end. An unreadable byte, an
// unclosed string or comment becomes a problem, and reading goes on behind it.
std::vector<Token> tokenize(const std::string& file, std::string_view text, Problems& problems);

}  // namespace echomq::inline v2::contract
