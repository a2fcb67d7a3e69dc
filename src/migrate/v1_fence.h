// SPDX-License-Identifier: MIT
// What a migration does to a v1 queue before it reads it, and how it takes that back: it pauses it
// as v1 does, and then puts tombstones where every v1 client looks first. Each step is one script
// on the source, with its keys declared, and changes nothing where it was taken already.
#pragma once

#include <cstdint>
#include <string>

#include "migrate/journal.h"
#include "migrate/link.h"
#include "migrate/v1_keys.h"

namespace echomq::inline v2::migrate {

// What v1 has now, for the journal.
Result<void> note_source(Link& source, const V1Keys& v1, Journal& journal);
Result<void> pause_source(Link& source, const V1Keys& v1);
// How many jobs run.
Result<std::int64_t> count_active(Link& source, const V1Keys& v1);
// Puts the tombstones unless a job runs; answers how many do.
Result<std::int64_t> put_tombstones(Link& source, const V1Keys& v1, const std::string& target);
// Takes them away, and ends the pause where v1 had none.
Result<void> give_back(Link& source, const V1Keys& v1, const Journal& journal);

// Whether something of a queue is there, and no tombstone that keeps v1 from it: once a migration
// is finished, a new queue that v1 has begun since.
Result<bool> stands_open(Link& source, const V1Keys& v1);

}  // namespace echomq::inline v2::migrate
