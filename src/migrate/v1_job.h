// SPDX-License-Identifier: MIT
// A v1 job as a job of 2.0: the fields of its hash in their new form. What v1 held that 2.0 has no
// field for stays in one more field, `v1`, a JSON object. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "echomq/job.h"
#include "echomq/result.h"
#include "migrate/changes.h"
#include "migrate/names.h"
#include "wire/resp.h"

namespace echomq::inline v2::migrate {

// Names and values, in the order in which they are written.
using Fields = std::vector<std::pair<std::string, std::string>>;

// Of a v1 hash, by name.
using V1Hash = std::map<std::string, std::string, std::less<>>;
V1Hash read_hash(wire::Reply reply);
// Empty: it has no such field.
const std::string& text_of(const V1Hash& hash, std::string_view name);

// Where the job stands.
struct Standing {
  JobState state = JobState::waiting;
  std::string place{};  // its score in `prioritized`; empty elsewhere
};

// One epoch for all edges that are moved: both ends of an edge have it without asking each other,
// and every flow that is added later has a greater one.
inline constexpr std::string_view kMovedEpoch = "1";

// Errors, none of which is the connection's: unsupported, with one sentence that says what was not
// understood. `changes`, unless it is null, gets what will mean something else.
Result<Fields> map_job(const Unit& unit, const Standing& standing, std::string_view id, V1Hash hash,
                       Changes* changes = nullptr);

// As an argument of the scripts (lua/lib/fields.lua).
std::string packed(const Fields& fields);

}  // namespace echomq::inline v2::migrate
