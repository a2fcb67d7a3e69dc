// SPDX-License-Identifier: MIT
// The tests that exist, by reading the test sources: `Suite.Name` of each TEST, TEST_F and TEST_P.
// A test of the other program cannot be asked for at run time, so its source is.
#pragma once

#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "tree.h"

namespace docs {

inline std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  return text;
}

// Takes an identifier from the front of `text`.
inline std::string take_name(std::string_view& text) {
  std::string name;
  text = skip_blanks(text);
  while (!text.empty() &&
         (std::isalnum(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_')) {
    name += text.front();
    text.remove_prefix(1);
  }
  text = skip_blanks(text);
  return name;
}

// Adds the tests that a source file defines. A definition begins a line.
inline void collect_tests(std::string_view source, std::set<std::string>& tests) {
  for (std::size_t at = 0; at != std::string_view::npos;) {
    auto rest = source.substr(at);
    const auto end = rest.find('\n');
    at = end == std::string_view::npos ? end : at + end + 1;
    const auto macro = take_name(rest);
    if (macro != "TEST" && macro != "TEST_F" && macro != "TEST_P") continue;
    if (!rest.starts_with('(')) continue;
    rest.remove_prefix(1);
    const auto suite = take_name(rest);
    if (!rest.starts_with(',')) continue;
    rest.remove_prefix(1);
    const auto name = take_name(rest);
    if (rest.starts_with(')')) tests.insert(suite + "." + name);
  }
}

inline std::set<std::string> all_tests() {
  std::set<std::string> tests;
  for (const auto& path : files("test", {".cc"})) collect_tests(read(path), tests);
  return tests;
}

// "Suite.Name", as the documents write it.
inline bool looks_like_a_test(std::string_view word) {
  const auto dot = word.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == word.size()) return false;
  if (word.find('.', dot + 1) != std::string_view::npos) return false;
  for (const auto part : {word.substr(0, dot), word.substr(dot + 1)}) {
    if (std::isupper(static_cast<unsigned char>(part.front())) == 0) return false;
    for (const char c : part)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

}  // namespace docs
