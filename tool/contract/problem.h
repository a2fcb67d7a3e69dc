// SPDX-License-Identifier: MIT
// A finding of the contract check: where, and one sentence that says what is wrong and what to
// write instead. The check collects all of them, so that one run of the build shows everything.
#pragma once

#include <compare>
#include <string>
#include <utility>
#include <vector>

namespace echomq::inline v2::contract {

struct Position {
  std::string file;
  int line = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside for a pointer
  auto operator<=>(const Position&) const = default;
};

struct Problem {
  Position at;
  std::string text;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const Problem&) const = default;
};

using Problems = std::vector<Problem>;

inline void report(Problems& problems, const Position& at, std::string text) {
  problems.push_back({at, std::move(text)});
}

// "file:line: text", the form that editors and build logs make clickable.
inline std::string to_string(const Problem& problem) {
  return problem.at.file + ":" + std::to_string(problem.at.line) + ": " + problem.text;
}

}  // namespace echomq::inline v2::contract
