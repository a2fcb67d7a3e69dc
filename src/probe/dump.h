// SPDX-License-Identifier: MIT
// The content of keys in a form that can be compared: what a refusal left unchanged, or a replay
// made again. Hash fields and set members are sorted; lists, sorted sets and streams keep their
// order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probe/link.h"

namespace echomq::inline v2::probe {

// Key -> "<type> <content>".
using Dump = std::map<std::string, std::string>;

// Those of the keys that are there. Each is named once.
Dump dump_keys(Link& link, const std::vector<std::string>& keys);

// The value that a key has in a dump. The last two take what the server answers: members with their
// scores in turn; entries as show() prints them.
std::string dumped_string(const std::string& text);
std::string dumped_list(const std::vector<std::string>& elements);
std::string dumped_set(const std::vector<std::string>& sorted);
std::string dumped_hash(const std::map<std::string, std::string>& fields);
std::string dumped_zset(const std::vector<std::string>& flat);
std::string dumped_stream(const std::vector<std::string>& entries);

// What differs, a line for each key: "key: before -> after". Empty when the dumps are equal.
std::string difference(const Dump& before, const Dump& after);

}  // namespace echomq::inline v2::probe
