// SPDX-License-Identifier: MIT
#include "wire/embedded_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "wire/url.h"

namespace echomq::inline v2::wire {
namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr int kRetryMs = 10;  // between two looks at a lock that a dead owner left behind

std::string home() {
  if (const char* set = std::getenv("HOME"); set && *set == '/') return set;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16'384> buffer{};
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found && found->pw_dir && *found->pw_dir == '/' ? found->pw_dir : "";
}

std::string normal(const std::string& dir) {
  std::error_code ignored;
  auto out = fs::absolute(dir, ignored).lexically_normal().string();
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// 0: not (yet) written down.
pid_t read_owner(int fd) {
  std::array<char, 32> text{};
  const auto size = ::pread(fd, text.data(), text.size(), 0);
  pid_t pid = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, pid);
  return pid;
}

// An owner that cannot be read counts as alive; one that is dead and not yet waited for does not.
bool owner_lives(pid_t pid) {
  if (pid <= 0) return true;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return false;
  const Fd fd(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  const auto size = fd ? ::read(fd.get(), text.data(), text.size()) : 0;
  const std::string_view stat(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const auto state = stat.rfind(") ");  // after the name, which may hold anything
  return state == std::string_view::npos || !stat.substr(state).starts_with(") Z");
}

}  // namespace

EmbeddedFolder EmbeddedFolder::at(const std::string& dir) { return EmbeddedFolder(normal(dir)); }

std::string EmbeddedFolder::url() const {
  Endpoint endpoint;
  endpoint.unix_socket = true;
  endpoint.path = socket_path();
  return to_string(endpoint);
}

Error EmbeddedFolder::error(const std::string& detail) const {
  return {ErrorCode::embedded, detail, {{"value", path_}, {"dir", path_}}};
}

Error EmbeddedFolder::system_error(const std::string& what, int number) const {
  return error(what + ": " + std::strerror(number));
}

std::string EmbeddedFolder::default_path() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/')
    return normal(state) + "/echomq";
  const auto base = home();
  return base.empty() ? "" : normal(base) + "/.local/state/echomq";
}

Result<EmbeddedFolder> EmbeddedFolder::choose(const EmbeddedOptions& options) {
  if (!options.temporary) {
    if (!options.dir.empty()) return at(options.dir);
    if (auto dir = default_path(); !dir.empty()) return at(dir);
    return Error{
        ErrorCode::embedded,
        "there is no folder for the embedded server: neither HOME nor XDG_STATE_HOME is set; give "
        "EmbeddedOptions::dir",
        {{"value", ""}}};
  }
  const char* root = std::getenv("TMPDIR");
  std::string dir = normal(root && *root ? root : "/tmp") + "/echomq-XXXXXX";
  if (::mkdtemp(dir.data()) == nullptr)
    return EmbeddedFolder(dir).system_error("a temporary folder " + dir + " cannot be made", errno);
  return EmbeddedFolder(dir);
}

std::optional<Error> EmbeddedFolder::make() const {
  if (const auto path = socket_path(); path.size() > kLongestSocketPath)
    return error("the folder's name is too long: a socket's path has " +
                 std::to_string(kLongestSocketPath) + " bytes at most, and " + path + " has " +
                 std::to_string(path.size()) + "; choose a shorter one");
  std::error_code ignored;  // what matters is whether the folder can be made below
  fs::create_directories(fs::path(path_).parent_path(), ignored);
  if (::mkdir(path_.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return system_error("the folder " + path_ + " cannot be made", errno);
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return error(path_ + " is not a folder");
  return std::nullopt;
}

// --- the lock

Error EmbeddedFolder::owned_by(int owner, bool lives) const {
  const std::string who = owner > 0 ? "process " + std::to_string(owner) : "another process";
  const std::string why =
      lives ? who + " runs its embedded server; connect to " + url() + ", or choose another folder"
            : who + " is gone, but its server does not end; look at " + log_path();
  auto in_use = error("the folder " + path_ + " is in use: " + why);
  in_use.fields.emplace_back("owner", std::to_string(owner));
  in_use.fields.emplace_back("url", url());
  return in_use;
}

Result<Fd> EmbeddedFolder::take_lock(milliseconds deadline) const {
  Fd fd(::open(lock_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!fd) return system_error(lock_path() + " cannot be opened", errno);
  auto lock = whole_file();
  while (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return system_error(lock_path() + " cannot be locked", errno);
    // The guardian of a dead owner needs a moment to end the server.
    const auto owner = read_owner(fd.get());
    const bool lives = owner_lives(owner);
    if (lives || monotonic_ms() > deadline) return owned_by(owner, lives);
    ::poll(nullptr, 0, kRetryMs);
  }
  const auto pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return system_error(lock_path() + " cannot be written", errno);
  return fd;
}

bool EmbeddedFolder::owned() const {
  const Fd fd(::open(lock_path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return false;
  auto lock = whole_file();
  if (::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return false;
  return owner_lives(read_owner(fd.get()));
}

}  // namespace echomq::inline v2::wire
