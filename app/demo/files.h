// SPDX-License-Identifier: MIT
// The input of the demo: real files, found below folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "echomq/result.h"
#include "echomq/signals.h"

namespace demo {

struct Files {
  std::vector<std::string> paths;
  std::uint64_t bytes = 0;     // of the files in `paths`, together
  std::size_t links = 0;       // symbolic links, skipped
  std::size_t unreadable = 0;  // files and folders that may not be read, skipped
  bool more = false;           // `limit` was reached and there is more
  std::vector<std::string> folders;
};

// The regular files below `folders`, at most `limit`. Without folders: those of /usr/share/doc, and
// of /usr/include too where that has fewer than 1,000 (minimal systems install no documentation).
// Errors: invalid_argument for a folder that is not one, and when there is not a single file;
// closed when a signal came.
echomq::Result<Files> find_files(const std::vector<std::string>& folders, std::size_t limit,
                                 const echomq::Signals& stop);

}  // namespace demo
