// SPDX-License-Identifier: MIT
#include "demo/files.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace demo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEnoughFiles = 1'000;

// Adds what one folder holds. A file or folder that vanishes meanwhile is as good as unreadable.
echomq::Result<void> add_folder(const std::string& folder, std::size_t limit,
                                const echomq::Signals& stop, Files& files) {
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, problem);
  if (problem)
    return echomq::Error{echomq::ErrorCode::invalid_argument,
                         "cannot read '" + folder + "': " + problem.message() +
                             "; expected a folder with files in it",
                         {{"value", folder}, {"reason", problem.message()}}};
  files.folders.push_back(folder);
  while (entry != fs::recursive_directory_iterator()) {
    if (stop.count() > 0) return echomq::Error{echomq::ErrorCode::closed, "interrupted", {}};
    const auto kind = entry->symlink_status(problem).type();
    if (kind == fs::file_type::symlink) {
      ++files.links;
    } else if (kind == fs::file_type::directory && ::access(entry->path().c_str(), R_OK | X_OK)) {
      ++files.unreadable;
      entry.disable_recursion_pending();
    } else if (kind == fs::file_type::regular) {
      const auto size = entry->file_size(problem);
      if (problem || ::access(entry->path().c_str(), R_OK) != 0) {
        ++files.unreadable;
      } else if (files.paths.size() == limit) {
        files.more = true;
        return {};
      } else {
        files.paths.push_back(entry->path().string());
        files.bytes += size;
      }
    }
    entry.increment(problem);
    if (problem) {
      // The iterator cannot go on from here: what was found is still good.
      ++files.unreadable;
      return {};
    }
  }
  return {};
}

}  // namespace

echomq::Result<Files> find_files(const std::vector<std::string>& folders, std::size_t limit,
                                 const echomq::Signals& stop) {
  Files files;
  for (const auto& folder : folders)
    if (const auto added = add_folder(folder, limit, stop, files); !added) return added.error();
  if (folders.empty()) {
    const auto added = add_folder("/usr/share/doc", limit, stop, files);
    if (!added && added.error().code == echomq::ErrorCode::closed) return added.error();
    if (!files.more && files.paths.size() < kEnoughFiles)
      if (const auto more = add_folder("/usr/include", limit, stop, files); !more)
        return more.error();
  }
  if (files.paths.empty())
    return echomq::Error{echomq::ErrorCode::invalid_argument,
                         "there is no readable file in the folders; name one that holds files",
                         {}};
  return files;
}

}  // namespace demo
