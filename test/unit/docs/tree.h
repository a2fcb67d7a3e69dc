// SPDX-License-Identifier: MIT
// Reading the project's own files, for tests that hold the documents against what they describe.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace docs {

namespace fs = std::filesystem;

inline fs::path root() { return ECHOMQ_SOURCE_DIR; }

// A file's text, by its path from the root.
inline std::string read(const fs::path& path) {
  std::ifstream file(root() / path);
  EXPECT_TRUE(file) << path << " cannot be read";
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

// The files below `folder` whose names end in one of `endings`, as paths from the root, sorted.
inline std::vector<fs::path> files(const fs::path& folder,
                                   std::initializer_list<std::string_view> endings) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
    if (!entry.is_regular_file()) continue;
    const auto extension = entry.path().extension().string();
    if (std::find(endings.begin(), endings.end(), extension) != endings.end())
      found.push_back(fs::relative(entry.path(), root()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The documents, those beside the code included.
inline std::vector<fs::path> documents() {
  std::vector<fs::path> all{"README.md", "CHANGELOG.md"};
  for (const auto* folder : {"docs", "lua", "example"})
    for (const auto& path : files(folder, {".md"})) all.push_back(path);
  return all;
}

// The document without its ``` blocks.
inline std::string prose(const std::string& text) {
  std::string rest;
  bool block = false;
  for (const auto& line : lines(text)) {
    const bool fence = line.starts_with("```");
    if (fence) block = !block;
    if (!fence && !block) rest += line + "\n";
  }
  return rest;
}

// What stands between backticks, in order; a pair is on one line.
inline std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> words;
  for (const auto& line : lines(prose(text))) {
    for (std::size_t at = 0; (at = line.find('`', at)) != std::string::npos;) {
      const auto end = line.find('`', at + 1);
      EXPECT_NE(end, std::string::npos) << "a backtick without its like: " << line;
      if (end == std::string::npos) break;
      words.push_back(line.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  return words;
}

// The document's part below a heading ("## 11. The transitions"), up to the next one of its level
// or above.
inline std::string section(const std::string& text, std::string_view heading) {
  const auto level = heading.find(' ');
  std::string part;
  bool inside = false;
  for (const auto& line : lines(text)) {
    if (line == heading) {
      inside = true;
    } else if (inside && line.starts_with('#') && line.find(' ') <= level) {
      break;
    } else if (inside) {
      part += line + "\n";
    }
  }
  EXPECT_TRUE(inside) << "there is no heading \"" << heading << "\"";
  return part;
}

}  // namespace docs
