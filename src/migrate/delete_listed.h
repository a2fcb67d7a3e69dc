// SPDX-License-Identifier: MIT
// Deletes what a list or sorted set names, on either side of a migration.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/link.h"

namespace echomq::inline v2::migrate {

// Called behind each chunk with the number of its jobs.
using OnChunk = std::function<Result<void>(std::string_view step, std::int64_t jobs)>;

// Appends the keys that go with an entry.
using AddKeys = std::function<void(std::vector<std::string>& keys, const std::string& id)>;

// In chunks from the front: the keys of some entries, and then these entries, so that whoever dies
// in between forgets none. `on_chunk` may be none.
Result<void> delete_listed(Link& link, const std::string& key, bool list, const AddKeys& add_keys,
                           const OnChunk& on_chunk);

}  // namespace echomq::inline v2::migrate
