// SPDX-License-Identifier: MIT
// Commands as bytes: an array of bulk strings, which is the only form that a server reads from us.
// The pieces are appended to a string that the caller owns, because a script call puts its keys and
// its arguments together from different places and nothing is to be copied twice.
//
//   append_command(out, {"HGET", key, "state"});
//   send(command({"HGET", key, "state"}));  // where it is all there is to say
//
//   append_header(out, 2 + ids.size());  // or piece by piece: exactly as many bulks must follow
//   append_bulk(out, "DEL"); ...
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace echomq::inline v2::wire {

// "<type><number>\r\n"
inline void append_length(std::string& out, char type, std::size_t number) {
  char line[24];  // type, at most 20 digits, CRLF
  line[0] = type;
  char* end = std::to_chars(line + 1, line + 22, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(line, static_cast<std::size_t>(end - line));
}

// Opens a command of `argc` words.
inline void append_header(std::string& out, std::size_t argc) { append_length(out, '*', argc); }

// One word: any bytes.
inline void append_bulk(std::string& out, std::string_view word) {
  append_length(out, '$', word.size());
  out.append(word);
  out.append("\r\n", 2);
}

// One word: a number in decimal.
inline void append_bulk(std::string& out, std::int64_t number) {
  char digits[20];  // -9223372036854775808
  const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  append_bulk(out, std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

// A whole command.
inline void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  append_header(out, words.size());
  for (const auto word : words) append_bulk(out, word);
}
inline void append_command(std::string& out, const std::vector<std::string>& words) {
  append_header(out, words.size());
  for (const auto& word : words) append_bulk(out, word);
}

inline std::string command(std::initializer_list<std::string_view> words) {
  std::string out;
  append_command(out, words);
  return out;
}
inline std::string command(const std::vector<std::string>& words) {
  std::string out;
  append_command(out, words);
  return out;
}

}  // namespace echomq::inline v2::wire
