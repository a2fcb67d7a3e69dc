// SPDX-License-Identifier: MIT
// The commands that a script may call, with the places of their keys.
#pragma once

#include <string>
#include <string_view>

namespace echomq::inline v2::contract {

struct Command {
  std::string_view name;
  int keys = 1;         // the first so many arguments are keys; kAllKeys: each argument is one
  bool counts = false;  // it answers a number
};

inline constexpr int kAllKeys = -1;

// The command of that name in any case, or nullptr where scripts may not call it.
const Command* find_command(std::string_view name);

// Why not, for a command that find_command does not know.
std::string refusal(std::string_view name);

}  // namespace echomq::inline v2::contract
