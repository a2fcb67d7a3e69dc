// SPDX-License-Identifier: MIT
// The findings of a call, of which so many are kept: what blocks before what is good to know.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "migrate/session.h"

namespace echomq::inline v2::migrate {

class Findings {
 public:
  void add(MigrationFinding finding) {
    if (finding.blocks) {
      ++blocking_;
      if (blocks_.size() == kKeptFindings) return;
      blocks_.push_back(std::move(finding));
      if (blocks_.size() + notes_.size() <= kKeptFindings) return;
      notes_.pop_back();
      return;
    }
    ++noted_;
    if (blocks_.size() + notes_.size() < kKeptFindings) notes_.push_back(std::move(finding));
  }
  // All that block, those that are not kept too.
  [[nodiscard]] std::int64_t blocking() const { return blocking_; }

  // What blocks comes first; of what was not kept it is told how many there are.
  [[nodiscard]] std::vector<MigrationFinding> close() {
    const auto more_blocks = blocking_ - static_cast<std::int64_t>(blocks_.size());
    const auto more_notes = noted_ - static_cast<std::int64_t>(notes_.size());
    auto all = std::move(blocks_);
    if (more_blocks > 0)
      all.push_back({.blocks = true, .text = std::to_string(more_blocks) + " more that block"});
    all.insert(all.end(), std::make_move_iterator(notes_.begin()),
               std::make_move_iterator(notes_.end()));
    if (more_notes > 0) all.push_back({.text = std::to_string(more_notes) + " more notes"});
    return all;
  }

 private:
  std::vector<MigrationFinding> blocks_{};
  std::vector<MigrationFinding> notes_{};
  std::int64_t blocking_ = 0;
  std::int64_t noted_ = 0;
};

}  // namespace echomq::inline v2::migrate
