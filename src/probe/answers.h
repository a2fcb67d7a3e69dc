// SPDX-License-Identifier: MIT
// What each exercise of scene.h must be answered.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

// The answer to the n-th exercise of a script, from 0, as spoken_answer() spells it. "*": any but
// an error, where it is the fields of a hash, whose order is the server's own.
std::optional<std::string_view> right_answer(std::string_view script, std::size_t n);

// The answer in one line, without the name of the queue.
std::string spoken_answer(const Reply& reply, const ScriptQueue& q);

}  // namespace echomq::inline v2::probe
