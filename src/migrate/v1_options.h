// SPDX-License-Identifier: MIT
// The options of a v1 job, which it has as JSON with short names, as the options of 2.0. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "echomq/options.h"
#include "migrate/changes.h"

namespace echomq::inline v2::migrate {

using Json = nlohmann::json;

struct V1Options {
  JobOptions options{};  // without name and id
  // The object itself, and what of it 2.0 has no option for, under its v1 names.
  Json all = Json::object();
  Json rest = Json::object();
};

// nullopt: it is no JSON object.
std::optional<V1Options> read_v1_options(std::string_view text);

// What of them means something else here, or nothing.
Changes changes_of(const V1Options& options);

// What becomes of the parent when the child fails, as the letter of an edge: `parent` is the
// child's field of that name. v1 leaves a parent waiting for ever where nothing was said; 2.0 fails
// it, and lets it wait again once the child gets another run.
char v1_policy(const Json& parent, const Json& opts);

// An object; one without members where the text is none.
Json read_object(std::string_view text);

// A number that JavaScript wrote: digits, a fraction that is cut off, or nothing, "null",
// "undefined" and "NaN" for none, which is 0. nullopt: it is none of these.
std::optional<std::int64_t> v1_number(std::string_view text);

}  // namespace echomq::inline v2::migrate
