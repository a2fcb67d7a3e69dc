// SPDX-License-Identifier: MIT
// Dumps (probe/dump.h) of what a server of the test's own holds.
#pragma once

#include <string>
#include <vector>

#include "probe/dump.h"
#include "support/raw_client.h"

namespace echomq::test {

// All keys of a queue; those of the deployment; and everything on the server.
Dump dump_queue(Link& redis, const std::string& queue);
Dump dump_reserve(Link& redis);
Dump dump_all(Link& redis);

// The names alone of a queue's keys.
std::vector<std::string> keys_of(Link& redis, const std::string& queue);

// Removes all keys of a queue.
void delete_queue(Link& redis, const std::string& queue);

}  // namespace echomq::test
