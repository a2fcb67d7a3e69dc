// SPDX-License-Identifier: MIT
// Where the jobs of a queue stand, as plain looks at its keys show it; and the ways from one state
// to another that docs/states.md draws, with the script that each of them is.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/script_queue.h"

namespace echomq::inline v2::probe {

// The states in which an id stands, by id: one for each job, as INV7 has it. "waiting",
// "active"..., and "evicted" for what is in the trash.
using States = std::map<std::string, std::vector<std::string_view>>;

// All jobs: those that stand somewhere, and those of the hashes that were ever declared.
States states_of(Link& link, const ScriptQueue& q);

// One line for each job that is in no state, or in several, or has no hash.
std::vector<std::string> jobs_out_of_state(Link& link, const ScriptQueue& q);

// A way from one state to another; "-" stands for no job.
struct Transition {
  std::string_view script;
  std::string_view from;
  std::string_view to;

  friend auto operator<=>(const Transition&, const Transition&) = default;
};

// All of them but those that leave a job in its state, which its answer tells.
std::span<const Transition> transitions();

// What changed between two looks, under the name of the script that was called.
std::vector<Transition> changes(std::string_view script, const States& before, const States& after);

}  // namespace echomq::inline v2::probe
