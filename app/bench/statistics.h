// SPDX-License-Identifier: MIT
// What is made of repeated measurements. Pure.
#pragma once

#include <optional>
#include <vector>

namespace bench {

// The middle one, or the mean of the middle two; 0 of none.
double median(std::vector<double> values);

// The smallest value that at least `share` (0..1) of all do not exceed; 0 of none.
double percentile(std::vector<double> values, double share);

struct Summary {
  double median = 0;
  double least = 0;
  double most = 0;
};
Summary summary(const std::vector<double>& values);

// The median of ours[i] / theirs[i]. What was measured side by side is compared side by side, so
// that a machine that gets slower meanwhile does not look like a difference. nullopt: nothing to
// compare.
std::optional<double> paired_ratio(const std::vector<double>& ours,
                                   const std::vector<double>& theirs);

}  // namespace bench
