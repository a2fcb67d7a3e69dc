// SPDX-License-Identifier: MIT
// The rules of docs/invariants.md, in two parts.
#pragma once

#include <vector>

#include "probe/trial.h"

namespace echomq::inline v2::probe {

std::vector<ScenarioEntry> rules_of_jobs();
std::vector<ScenarioEntry> rules_of_queues();

}  // namespace echomq::inline v2::probe
