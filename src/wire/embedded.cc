// SPDX-License-Identifier: MIT
// The owner's side of the embedded server: its folder, its lock, its arguments, and the wait until
// it answers. What happens when the owner dies is the guardian's affair.
#include "echomq/embedded.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "base/clock.h"
#include "wire/command.h"
#include "wire/guardian.h"
#include "wire/resp.h"
#include "wire/url.h"

namespace echomq::inline v2 {
namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr milliseconds kRetry{10};
constexpr milliseconds kAskTimeout{1'000};
constexpr std::size_t kQuotedLog = 1'000;
constexpr std::array<std::string_view, 6> kOurArguments{
    "--daemonize", "--dir", "--logfile", "--port", "--supervised", "--unixsocket"};

std::string socket_path(const std::string& dir) { return dir + "/emq.sock"; }
std::string lock_path(const std::string& dir) { return dir + "/owner.lock"; }
std::string log_path(const std::string& dir) { return dir + "/server.log"; }

std::string url_of(const std::string& dir) {
  wire::Endpoint endpoint;
  endpoint.unix_socket = true;
  endpoint.path = socket_path(dir);
  return wire::to_string(endpoint);
}

Error embedded_error(const std::string& dir, const std::string& detail) {
  return {ErrorCode::embedded, detail, {{"value", dir}, {"dir", dir}}};
}
Error system_error(const std::string& dir, const std::string& what, int error) {
  return embedded_error(dir, what + ": " + std::strerror(error));
}
Error bad_option(const std::string& detail, const std::string& value) {
  return {ErrorCode::invalid_argument, "EmbeddedOptions: " + detail, {{"value", value}}};
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

void pause_for(milliseconds time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

// ---- Options ----

bool is_ours(std::string_view argument) {
  std::string word(argument.substr(0, argument.find_first_of(" \t=")));
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(kOurArguments.begin(), kOurArguments.end(), word) != kOurArguments.end();
}

std::optional<Error> check(const EmbeddedOptions& options) {
  if (options.appendfsync != "always" && options.appendfsync != "everysec" &&
      options.appendfsync != "no")
    return bad_option(
        "appendfsync is \"" + options.appendfsync + "\"; it must be always, everysec or no",
        options.appendfsync);
  if (options.start_timeout <= milliseconds(0))
    return bad_option("start_timeout is " + std::to_string(options.start_timeout.count()) +
                          " ms; it must be above 0",
                      std::to_string(options.start_timeout.count()));
  if (options.temporary && !options.dir.empty())
    return bad_option(
        "temporary makes a folder of its own and excludes dir \"" + options.dir + "\"",
        options.dir);
  if (options.dir.find('\0') != std::string::npos)
    return bad_option("dir contains a NUL byte", std::string(options.dir.c_str()));
  for (const auto& argument : options.extra_args)
    if (is_ours(argument))
      return bad_option(
          "extra_args has \"" + argument + "\", which the embedded server sets itself", argument);
  return std::nullopt;
}

bool executable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string look_up(const std::string& name) {
  if (name.find('/') != std::string::npos) return executable(name) ? name : "";
  const char* path = std::getenv("PATH");
  const std::string folders = std::string(path ? path : "") + ":/usr/local/bin:/usr/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const auto end = std::min(folders.find(':', at), folders.size());
    // An empty entry means the current folder: not for a server that is found rather than named.
    auto candidate = folders.substr(at, end - at) + "/" + name;
    if (end > at && executable(candidate)) return candidate;
    at = end + 1;
  }
  return "";
}

Result<std::string> find_server(const std::string& wanted) {
  const auto names = wanted.empty() ? std::vector<std::string>{"valkey-server", "redis-server"}
                                    : std::vector<std::string>{wanted};
  for (const auto& name : names)
    if (auto found = look_up(name); !found.empty()) return found;
  const std::string what = wanted.empty()
                               ? "neither valkey-server nor redis-server was found in PATH"
                               : "the server program \"" + wanted + "\" was not found";
  return Error{ErrorCode::embedded,
               what +
                   "; install one, as with: apt-get install redis-server; or name it in "
                   "EmbeddedOptions::server",
               {{"value", wanted}, {"expected", "an executable file"}}};
}

// ---- The folder ----

std::string home() {
  if (const char* set = std::getenv("HOME"); set && *set == '/') return set;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16'384> buffer{};
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found && found->pw_dir && *found->pw_dir == '/' ? found->pw_dir : "";
}

// Absolute, without ".." and without a slash at its end: the same folder has the same name.
std::string normal(const std::string& dir) {
  std::error_code ignored;
  auto out = fs::absolute(dir, ignored).lexically_normal().string();
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

Result<std::string> choose_folder(const EmbeddedOptions& options) {
  if (!options.temporary) {
    if (!options.dir.empty()) return normal(options.dir);
    if (auto dir = Embedded::default_dir(); !dir.empty()) return normal(dir);
    return Error{
        ErrorCode::embedded,
        "there is no folder for the embedded server: neither HOME nor XDG_STATE_HOME is set; give "
        "EmbeddedOptions::dir",
        {{"value", ""}}};
  }
  const char* root = std::getenv("TMPDIR");
  std::string dir = normal(root && *root ? root : "/tmp") + "/echomq-XXXXXX";
  if (::mkdtemp(dir.data()) == nullptr)
    return system_error(dir, "a temporary folder " + dir + " cannot be made", errno);
  return dir;
}

std::optional<Error> make_folder(const std::string& dir) {
  if (const auto path = socket_path(dir); path.size() > kLongestSocketPath)
    return embedded_error(dir, "the folder's name is too long: a socket's path has " +
                                   std::to_string(kLongestSocketPath) + " bytes at most, and " +
                                   path + " has " + std::to_string(path.size()) +
                                   "; choose a shorter one");
  std::error_code ignored;  // what matters is whether the folder can be made below
  fs::create_directories(fs::path(dir).parent_path(), ignored);
  if (::mkdir(dir.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return system_error(dir, "the folder " + dir + " cannot be made", errno);
  struct stat status {};
  if (::stat(dir.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return embedded_error(dir, dir + " is not a folder");
  return std::nullopt;
}

// ---- The lock ----
//
// A lock of the open file, as flock() is, so that it goes with the descriptor to the guardian; but
// one that can be asked about without being taken, so that looking never disturbs a start.

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

Error owned(const std::string& dir, pid_t owner, bool lives) {
  const std::string who = owner > 0 ? "process " + std::to_string(owner) : "another process";
  const std::string why =
      lives ? who + " runs its embedded server; connect to " + url_of(dir) +
                  ", or choose another folder"
            : who + " is gone, but its server does not end; look at " + log_path(dir);
  auto error = embedded_error(dir, "the folder " + dir + " is in use: " + why);
  error.fields.emplace_back("owner", std::to_string(owner));
  error.fields.emplace_back("url", url_of(dir));
  return error;
}

Result<Fd> take_lock(const std::string& dir, milliseconds deadline) {
  Fd fd(
      ::open(lock_path(dir).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!fd) return system_error(dir, lock_path(dir) + " cannot be opened", errno);
  auto lock = whole_file();
  while (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return system_error(dir, lock_path(dir) + " cannot be locked", errno);
    // The guardian of a dead owner needs a moment to end the server.
    const auto owner = read_owner(fd.get());
    const bool lives = owner_lives(owner);
    if (lives || monotonic_ms() > deadline) return owned(dir, owner, lives);
    pause_for(kRetry);
  }
  const auto pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return system_error(dir, lock_path(dir) + " cannot be written", errno);
  return fd;
}

// ---- The socket ----

// Connected, or the reason in errno.
Fd connect_to(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), kLongestSocketPath));
  if (fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    { const Fd closed(std::move(fd)); }
    errno = error;
    return Fd(-1);
  }
  return fd;
}

// Under the lock, so no server of ours can be behind a socket that is there; others might.
std::optional<Error> clear_socket(const std::string& dir) {
  const auto path = socket_path(dir);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return system_error(dir, path + " cannot be looked at", errno);
  }
  if (!S_ISSOCK(status.st_mode))
    return embedded_error(
        dir, path + " is there and is not a socket; move it away, or choose another folder");
  const Fd fd = connect_to(path);
  if (fd || errno == EAGAIN)
    return embedded_error(dir, "a server without an owner answers on " + path + "; connect to " +
                                   url_of(dir) + ", or stop it");
  if (errno != ECONNREFUSED && errno != ENOENT)
    return system_error(dir, path + " is there and cannot be tried", errno);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return system_error(dir, "the stale socket " + path + " cannot be removed", errno);
  return std::nullopt;
}

// One command on a connection of its own. nullopt: nobody listens, or no whole answer came in time.
std::optional<wire::Reply> ask(const std::string& dir,
                               std::initializer_list<std::string_view> words) {
  const Fd fd = connect_to(socket_path(dir));
  if (!fd) return std::nullopt;
  std::string bytes;
  wire::append_command(bytes, words);
  if (::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size()))
    return std::nullopt;
  wire::RespParser parser;
  const auto deadline = monotonic_ms() + kAskTimeout;
  while (true) {
    auto next = parser.next();
    if (!next) return std::nullopt;
    if (*next) return std::move(**next);
    pollfd readable{fd.get(), POLLIN, 0};
    const auto left = deadline - monotonic_ms();
    if (left <= milliseconds(0) || ::poll(&readable, 1, static_cast<int>(left.count())) == 0)
      return std::nullopt;
    std::array<char, 4096> input{};
    const auto size = ::recv(fd.get(), input.data(), input.size(), 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    if (size > 0) parser.feed({input.data(), static_cast<std::size_t>(size)});
  }
}

// ---- The server ----

// A port of 127.0.0.1 that is free now.
std::string free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), generic, size) != 0 || ::getsockname(fd.get(), generic, &size) != 0)
    return "0";
  return std::to_string(ntohs(address.sin_port));
}

std::vector<std::string> arguments(const std::string& program, const std::string& dir,
                                   const EmbeddedOptions& options) {
  std::vector<std::string> out{program,
                               "--port",
                               "0",
                               "--unixsocket",
                               socket_path(dir),
                               "--unixsocketperm",
                               "700",
                               "--dir",
                               dir,
                               "--logfile",
                               log_path(dir),
                               "--daemonize",
                               "no",
                               "--appendonly",
                               "yes",
                               "--appendfsync",
                               options.appendfsync,
                               "--save",
                               "",
                               "--maxmemory-policy",
                               "noeviction"};
  if (options.cluster_enabled)
    for (const auto* word : {"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
                             "--bind", "127.0.0.1", "--cluster-port"})
      out.emplace_back(word);
  if (options.cluster_enabled) out.push_back(free_port());
  out.insert(out.end(), options.extra_args.begin(), options.extra_args.end());
  return out;
}

// What the server wrote since `from`: its last lines.
std::string log_since(const std::string& dir, off_t from) {
  const Fd fd(::open(log_path(dir).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_size <= from) return "(it wrote nothing)";
  const auto start = std::max(from, status.st_size - static_cast<off_t>(kQuotedLog));
  std::string text(static_cast<std::size_t>(status.st_size - start), '\0');
  const auto size = ::pread(fd.get(), text.data(), text.size(), start);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (const auto line = text.find('\n'); start > from && line != std::string::npos)
    text.erase(0, line + 1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<Error> wait_until_ready(wire::Guardian& guardian, const std::string& dir,
                                      const EmbeddedOptions& options, milliseconds deadline,
                                      off_t log_start) {
  std::string state = "it does not answer";
  bool slots_given = !options.cluster_enabled;
  while (monotonic_ms() < deadline) {
    if (!guardian.running())
      return embedded_error(
          dir, "the server ended while it started; its log says:\n" + log_since(dir, log_start));
    const auto pong = ask(dir, {"PING"});
    if (pong && pong->str().starts_with("LOADING")) {
      state = "it is still loading its data; raise start_timeout";
    } else if (pong && !slots_given) {
      // An error means that it remembers its slots from before.
      slots_given = ask(dir, {"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}).has_value();
      state = "it does not take over the cluster's slots";
    } else if (pong) {
      if (!options.cluster_enabled) return std::nullopt;
      const auto info = ask(dir, {"CLUSTER", "INFO"});
      if (info && info->str().find("cluster_state:ok") != std::string_view::npos)
        return std::nullopt;
    }
    pause_for(kRetry);
  }
  return embedded_error(dir, "the server was not ready within " +
                                 std::to_string(options.start_timeout.count()) + " ms: " + state +
                                 "; its log says:\n" + log_since(dir, log_start));
}

}  // namespace

// ---- Embedded ----

struct Embedded::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { stop(); }

  void stop() {
    if (guardian) guardian->stop();
    guardian.reset();
    if (std::exchange(temporary, false) && ::getpid() == owner) {
      std::error_code ignored;
      fs::remove_all(dir, ignored);
    }
  }

  std::string dir;
  bool temporary = false;
  pid_t owner = ::getpid();
  std::optional<wire::Guardian> guardian;
};

Embedded::Embedded(std::unique_ptr<State> state) : state_(std::move(state)) {}
Embedded::Embedded(Embedded&&) noexcept = default;
Embedded& Embedded::operator=(Embedded&&) noexcept = default;
Embedded::~Embedded() = default;

Result<Embedded> Embedded::start(const EmbeddedOptions& options) {
  if (auto error = check(options)) return *std::move(error);
  const auto deadline = monotonic_ms() + options.start_timeout;
  auto program = find_server(options.server);
  if (!program) return program.error();
  auto dir = choose_folder(options);
  if (!dir) return dir.error();
  auto state = std::make_unique<State>();
  state->dir = *dir;
  state->temporary = options.temporary;
  if (auto error = make_folder(*dir)) return *std::move(error);
  const auto lock = take_lock(*dir, deadline);
  if (!lock) return lock.error();
  if (auto error = clear_socket(*dir)) return *std::move(error);
  const Fd log(
      ::open(log_path(*dir).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!log) return system_error(*dir, log_path(*dir) + " cannot be opened", errno);
  const off_t log_start = std::max<off_t>(::lseek(log.get(), 0, SEEK_END), 0);

  auto guardian =
      wire::Guardian::start({arguments(*program, *dir, options), log.get(), lock->get()});
  if (!guardian) return guardian.error();
  if (auto error = wait_until_ready(*guardian, *dir, options, deadline, log_start))
    return *std::move(error);
  state->guardian.emplace(*std::move(guardian));
  return Embedded(std::move(state));
}

std::string Embedded::url() const { return url_of(state_->dir); }
std::string Embedded::dir() const { return state_->dir; }
int Embedded::server_pid() const { return state_->guardian ? state_->guardian->program_pid() : 0; }
void Embedded::stop() { state_->stop(); }

std::string Embedded::default_dir() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/')
    return normal(state) + "/echomq";
  const auto base = home();
  return base.empty() ? "" : normal(base) + "/.local/state/echomq";
}

std::optional<std::string> Embedded::running_url(std::string_view dir) {
  const std::string given = dir.empty() ? default_dir() : std::string(dir);
  if (given.empty()) return std::nullopt;
  const std::string folder = normal(given);
  const Fd fd(::open(lock_path(folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return std::nullopt;
  auto lock = whole_file();
  if (::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  if (!owner_lives(read_owner(fd.get()))) return std::nullopt;
  return url_of(folder);
}

}  // namespace echomq::inline v2
