// SPDX-License-Identifier: MIT
// The contract of a script: the machine-read comment block at its very top (grammar in
// lua/README.md).
#pragma once

#include <string>
#include <vector>

#include "contract/lexer.h"

namespace echomq::inline v2::contract {

using Words = std::vector<std::string>;

// The closed registries of docs/protocol.md section 4: a word outside them is refused.
const Words& class_words();
const Words& status_words();

struct Header {
  Words keys, item_keys, more_keys;
  Words args, item_args;
  Words statuses, errors, emits, uses;
  // Where each list stands, for messages.
  Position keys_at, args_at, statuses_at, errors_at, emits_at, uses_at;
};

// Reads the header of the script called `name` ("job/finish") from the tokens of its file. Each
// fault is reported; the lists that could be read are filled all the same.
Header read_header(const std::string& name, const std::vector<Token>& tokens, Problems& problems);

}  // namespace echomq::inline v2::contract
