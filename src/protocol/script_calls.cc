// SPDX-License-Identifier: MIT
#include "protocol/script_calls.h"

#include "base/text.h"

namespace echomq::inline v2::protocol {
namespace {

// Reads the arguments behind the command's name up to the parenthesis that closes the call.
void read_arguments(std::string_view text, ServerCall& call) {
  int depth = 1;
  for (std::size_t at = 0; at < text.size() && depth > 0; ++at) {
    const char c = text[at];
    if (c == '\'') {
      const auto end = text.find('\'', at + 1);
      if (end == std::string_view::npos) return;
      if (depth == 1) call.literals.emplace_back(text.substr(at + 1, end - at - 1));
      at = end;
    } else if (c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if (c == ')' || c == '}' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 1) {
      ++call.arguments;
    }
  }
}

}  // namespace

std::vector<ServerCall> calls_in(std::string_view source) {
  std::vector<ServerCall> calls;
  for (const std::string_view opening : {"redis.call('", "redis.pcall('"})
    for (auto at = source.find(opening); at != std::string_view::npos;
         at = source.find(opening, at)) {
      at += opening.size();
      const auto end = source.find('\'', at);
      if (end == std::string_view::npos) break;
      ServerCall call{upper(source.substr(at, end - at)), {}};
      read_arguments(source.substr(end + 1), call);
      calls.push_back(std::move(call));
    }
  return calls;
}

}  // namespace echomq::inline v2::protocol
