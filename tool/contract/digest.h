// SPDX-License-Identifier: MIT
// SHA1 in lower-case hexadecimal: the name under which a server caches a script (EVALSHA).
#pragma once

#include <string>
#include <string_view>

namespace echomq::inline v2::contract {

std::string sha1_hex(std::string_view text);

}  // namespace echomq::inline v2::contract
