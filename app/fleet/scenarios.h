// SPDX-License-Identifier: MIT
// What two members of the fleet have to do together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "echomq/client.h"
#include "fleet/member.h"

namespace fleet {

// One that adds and one that works, of two runtimes, in queues of their own.
struct Pair {
  Member& adds;
  Member& works;
  std::string queue;         // further ones begin with its name
  echomq::Client& onlooker;  // the probe's own, for what a scenario is not about
  // A further member of the runtime that works, to be killed.
  std::function<Member()> another_worker;
};

struct Scenario {
  std::string name;
  // Whether the two can do it.
  std::function<bool(const Pair&)> applies;
  // Answers what was done, in a few words; throws Mismatch.
  std::function<std::string(Pair&)> run;
};

const std::vector<Scenario>& scenarios();

}  // namespace fleet
