// SPDX-License-Identifier: MIT
// The content of keys in a form that can be compared: what a refusal left unchanged, or a replay
// made again. Hash fields and set members are sorted; lists, sorted sets and streams keep their
// order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/raw_client.h"

namespace echomq::test {

// Key -> "<type> <content>".
using Dump = std::map<std::string, std::string>;

// All keys of a queue; those of the deployment; and everything on the server.
Dump dump_queue(RawClient& redis, const std::string& queue);
Dump dump_reserve(RawClient& redis);
Dump dump_all(RawClient& redis);

// The value that a key has in a dump. The last two take what the server answers: members with their
// scores in turn; entries as show() prints them.
std::string dumped_string(const std::string& text);
std::string dumped_list(const std::vector<std::string>& elements);
std::string dumped_set(const std::vector<std::string>& sorted);
std::string dumped_hash(const std::map<std::string, std::string>& fields);
std::string dumped_zset(const std::vector<std::string>& flat);
std::string dumped_stream(const std::vector<std::string>& entries);

// The names alone of a queue's keys.
std::vector<std::string> keys_of(RawClient& redis, const std::string& queue);

// Removes all keys of a queue.
void delete_queue(RawClient& redis, const std::string& queue);

// What differs, a line for each key: "key: before -> after". Empty when the dumps are equal.
std::string difference(const Dump& before, const Dump& after);

}  // namespace echomq::test
