// SPDX-License-Identifier: MIT
// What a new process is told beside our own environment, and texts in the form in which execve()
// wants them.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace echomq::test {

using Environment = std::vector<std::pair<std::string, std::string>>;

// "NAME=value": `more`, and ours; of two with one name the first counts.
inline std::vector<std::string> ours_and(const Environment& more) {
  std::vector<std::string> all;
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

inline std::vector<char*> ended_by_null(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace echomq::test
