// SPDX-License-Identifier: MIT
// What means something else here than in v1: it keeps nothing from being moved, and whoever moves
// it is to know. Told once for each kind, with the first job that has it and how many more have.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace echomq::inline v2::migrate {

struct Change {
  std::string kind{};  // of which there are few
  std::string text{};  // one sentence about this one
};
using Changes = std::vector<Change>;

class Tally {
 public:
  // `what`: of which the job is one, in the plural.
  explicit Tally(std::string what) : what_(std::move(what)) {}

  void add(const std::string& job, const Changes& changes) {
    for (const auto& [kind, text] : changes) {
      auto& kept = kinds_[kind];
      if (kept.count++ == 0) {
        kept.job = job;
        kept.text = text;
      }
    }
  }
  void tell(const std::function<void(const std::string& job, const std::string& text)>& teller) {
    for (const auto& [kind, kept] : kinds_)
      teller(kept.job, kept.count == 1 ? kept.text
                                       : kept.text + "; the like is so with " +
                                             std::to_string(kept.count - 1) + " more " + what_);
    kinds_.clear();
  }

 private:
  struct Kept {
    std::string job{};
    std::string text{};
    std::int64_t count = 0;
  };
  std::string what_;
  std::map<std::string, Kept> kinds_{};
};

}  // namespace echomq::inline v2::migrate
