// SPDX-License-Identifier: MIT
// What Lua 5.1 (Redis, Valkey) and Lua 5.4 (Dragonfly) read differently, found in the tokens alone.
//
// A script that compiles on one of them only, or means something else there, would split a fleet
// silently; so the scripts stay in the part of the language that both share.
#pragma once

#include <vector>

#include "contract/lexer.h"

namespace echomq::inline v2::contract {

void check_spelling(const std::vector<Token>& tokens, Problems& problems);

}  // namespace echomq::inline v2::contract
