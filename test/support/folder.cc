// SPDX-License-Identifier: MIT
#include "support/folder.h"

#include <unistd.h>
#include <sstream>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace echomq::test {

Folder::Folder() : path_((std::filesystem::temp_directory_path() / "echomq-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // Not by an iterator, which throws when the file is of a process that ends meanwhile.
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace echomq::test
