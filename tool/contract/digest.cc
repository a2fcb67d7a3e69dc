// SPDX-License-Identifier: MIT
#include "contract/digest.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace echomq::inline v2::contract {

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr) != 1)
    throw std::runtime_error("OpenSSL offers no SHA1 here; scripts cannot be named without it");
  std::string hex;
  for (unsigned i = 0; i < length; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

}  // namespace echomq::inline v2::contract
