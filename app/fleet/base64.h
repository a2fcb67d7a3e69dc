// SPDX-License-Identifier: MIT
// Base64 (RFC 4648): JSON holds no bytes.
#pragma once

#include <string>
#include <string_view>

namespace fleet {

std::string to_base64(std::string_view bytes);
// What is no base64 ends the text.
std::string from_base64(std::string_view text);

}  // namespace fleet
