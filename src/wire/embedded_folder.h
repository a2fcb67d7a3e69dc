// SPDX-License-Identifier: MIT
// EmbeddedFolder: the folder of an embedded server, where everything has its place, and its lock,
// which makes one process its owner.
//
// The lock is one of the open file, as flock() is, so that it goes with the descriptor to the
// guardian; but one that can be asked about without being taken, so that looking never disturbs a
// start.
//
// Thread-safety: plain values.
#pragma once

#include <sys/un.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "echomq/embedded.h"
#include "echomq/result.h"
#include "wire/fd.h"

namespace echomq::inline v2::wire {

inline constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;

class EmbeddedFolder {
 public:
  // The one that the options want. A temporary one is made at once, because its name is not known
  // before.
  static Result<EmbeddedFolder> choose(const EmbeddedOptions& options);
  // See Embedded::default_dir().
  static std::string default_path();
  // Its path is absolute, without ".." and without a slash at its end: the same folder has the same
  // name.
  static EmbeddedFolder at(const std::string& dir);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string socket_path() const { return path_ + "/emq.sock"; }
  [[nodiscard]] std::string lock_path() const { return path_ + "/owner.lock"; }
  [[nodiscard]] std::string log_path() const { return path_ + "/server.log"; }
  [[nodiscard]] std::string url() const;

  // Makes it, unless it is there.
  [[nodiscard]] std::optional<Error> make() const;
  // Makes this process the owner, for as long as the descriptor or a copy of it is open. Waits for
  // what a dead owner left behind, until the deadline.
  [[nodiscard]] Result<Fd> take_lock(std::chrono::milliseconds deadline) const;
  // Whether a living process is the owner.
  [[nodiscard]] bool owned() const;

  // Errors that name this folder; the second one adds what errno says.
  [[nodiscard]] Error error(const std::string& detail) const;
  [[nodiscard]] Error system_error(const std::string& what, int number) const;

 private:
  explicit EmbeddedFolder(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Error owned_by(int owner, bool lives) const;

  std::string path_;
};

}  // namespace echomq::inline v2::wire
