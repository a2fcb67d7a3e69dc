// SPDX-License-Identifier: MIT
// Characters by ASCII, whatever the locale says, and values as messages show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace echomq::inline v2 {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr bool is_letter(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

constexpr char upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string upper(std::string_view word) {
  std::string raised(word);
  for (char& c : raised) c = upper(c);
  return raised;
}
inline std::string lower(std::string_view word) {
  std::string lowered(word);
  for (char& c : lowered) c = lower(c);
  return lowered;
}

// A value as an error shows it: quoted, unprintable bytes, quotes and backslashes as \xNN, cut
// after 64 bytes.
inline std::string quoted(std::string_view value) {
  constexpr std::size_t kShown = 64;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : value.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      text += c;
    } else {
      text += "\\x";
      text += kHex[byte >> 4U];
      text += kHex[byte & 15U];
    }
  }
  text += '"';
  if (value.size() > kShown) text += "... (" + std::to_string(value.size()) + " bytes)";
  return text;
}

}  // namespace echomq::inline v2
