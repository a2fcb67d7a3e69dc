// SPDX-License-Identifier: MIT
// What the demo ends with: a table for people, or one JSON object for programs.
#pragma once

#include <cstddef>
#include <string>

#include "demo/files.h"
#include "demo/verify.h"

namespace demo {

struct Report {
  Files files;
  double seconds = 0;  // from the first add until the last job had ended
  std::string killed;  // who was killed, and when; empty for nobody
  Verdict verdict;

  // Nothing lost, and every digest right.
  [[nodiscard]] bool good() const {
    return verdict.lost == 0 && verdict.verified == files.paths.size();
  }
};

// {"jobs":..,"seconds":..,"jobs_per_s":..,"retried":..,"recovered":..,"lost":..,"verified":..}
std::string as_json(const Report& report);
std::string as_table(const Report& report);

}  // namespace demo
