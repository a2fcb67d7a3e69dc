// SPDX-License-Identifier: MIT
// The floor: what the server itself needs for the same bytes. Job hashes as an add writes them, by
// pipelined HSET on one connection; nothing is queued.
#pragma once

#include <memory>

#include "bench/subject.h"

namespace bench {

// Errors: those of Redis::connect.
echomq::Result<std::unique_ptr<Subject>> floor_subject(const std::string& url);

}  // namespace bench
