// SPDX-License-Identifier: MIT
// A new folder below the temporary one, removed with its content when the object goes.
#pragma once

#include <string>

namespace echomq::test {

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A file's content; empty when there is none.
std::string content_of(const std::string& path);

}  // namespace echomq::test
