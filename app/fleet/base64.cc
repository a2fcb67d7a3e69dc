// SPDX-License-Identifier: MIT
#include "fleet/base64.h"

#include <cstdint>

namespace fleet {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) out += kAlphabet[bits >> (held - 6) & 63U];
  }
  if (held > 0) out += kAlphabet[bits << (6 - held) & 63U];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

std::string from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const auto letter = kAlphabet.find(c);
    if (letter == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(letter);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xffU);
  }
  return out;
}

}  // namespace fleet
