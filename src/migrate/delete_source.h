// SPDX-License-Identifier: MIT
// What v1 had of a queue is deleted, once the target is open: the jobs list by list, then what
// stands beside them. Only keys that the queue itself names are, since nobody can tell from a name
// alone whose key it is. The tombstones stay.
#pragma once

#include "migrate/delete_listed.h"
#include "migrate/link.h"
#include "migrate/v1_keys.h"

namespace echomq::inline v2::migrate {

Result<void> delete_source(Link& source, const V1Keys& v1, const OnChunk& on_chunk);

}  // namespace echomq::inline v2::migrate
