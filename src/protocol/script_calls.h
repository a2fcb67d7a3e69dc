// SPDX-License-Identifier: MIT
// The calls of the server in the text of a script. The build has checked that each names its
// command literally.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace echomq::inline v2::protocol {

struct ServerCall {
  std::string command;                // in upper case
  std::vector<std::string> literals;  // of its arguments, as they stand
  std::size_t arguments = 0;          // how many, a key included
};

std::vector<ServerCall> calls_in(std::string_view source);

}  // namespace echomq::inline v2::protocol
