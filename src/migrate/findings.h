// SPDX-License-Identifier: MIT
// The findings of a call, of which so many are kept.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "migrate/session.h"

namespace echomq::inline v2::migrate {

inline void add_finding(std::vector<MigrationFinding>& findings, MigrationFinding finding) {
  if (findings.size() < kKeptFindings) findings.push_back(std::move(finding));
}

}  // namespace echomq::inline v2::migrate
