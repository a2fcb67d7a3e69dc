// SPDX-License-Identifier: MIT
// Digests as others write them: in lower-case hexadecimal digits.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <string>
#include <string_view>

namespace echomq::inline v2 {

// `kind`: EVP_sha1(), EVP_md5().
inline std::string hex_digest(std::string_view text, const EVP_MD* kind) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, kind, nullptr);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string digits;
  for (unsigned i = 0; i < length; ++i) {
    digits += kHex[digest.at(i) >> 4U];
    digits += kHex[digest.at(i) & 15U];
  }
  return digits;
}

}  // namespace echomq::inline v2
