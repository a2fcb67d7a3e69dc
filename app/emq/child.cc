// SPDX-License-Identifier: MIT
#include "child.h"

#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "pipes.h"
#include "warden.h"

namespace emq {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The environment of the command: ours, with what was given in place of the same names.
class Environment {
 public:
  explicit Environment(const std::vector<std::pair<std::string, std::string>>& own) {
    for (const auto& [key, value] : own) text_.emplace_back(key).append("=").append(value);
    for (char** entry = environ; *entry; ++entry) {
      const std::string_view line(*entry);
      const auto name = line.substr(0, line.find('='));
      if (std::none_of(own.begin(), own.end(),
                       [name](const auto& pair) { return pair.first == name; }))
        pointers_.push_back(*entry);
    }
    for (auto& line : text_) pointers_.push_back(line.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> text_;
  std::vector<char*> pointers_;
};

// The shell waits here for a line from us, so that no command runs of which the warden does not
// know: were we killed first, there is no line, and it exits.
constexpr std::string_view kGate = "read -r _ <&3 || exit; exec 3<&-; ";

// posix_spawn rather than fork: between fork and exec a process of many threads may do next to
// nothing. `streams` are its stdin, stdout, stderr and gate. Answers 0 or an errno.
int spawn(const ChildOptions& options, const std::array<int, 4>& streams, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (std::size_t i = 0; i < streams.size(); ++i)
    posix_spawn_file_actions_adddup2(&actions, streams[i], static_cast<int>(i));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  sigset_t none;
  sigemptyset(&none);
  // What we ignore or block is ours; the command starts as a shell would start it.
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string command(kGate);
  command += options.command;
  const std::array<char*, 4> arguments{shell.data(), flag.data(), command.data(), nullptr};
  const Environment environment(options.environment);
  const int problem =
      posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments.data(), environment.get());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

// Readable once the process has ended. Where the kernel has none (before 5.3) the loop looks by
// itself.
Fd open_pidfd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

class Run {
 public:
  explicit Run(const ChildOptions& options) : options_(options), rest_(options.input) {}

  ChildEnd go() {
    if (const int problem = start()) {
      end_.number = problem;
      return std::move(end_);
    }
    if (options_.warden) options_.warden->watch(pid_);
    open_gate();
    const std::stop_callback on_stop(options_.stop,
                                     [this] { ::eventfd_write(stop_event_.get(), 1); });
    while (!has_ended()) {
      wait();
      move_bytes();
      stop_if_asked();
    }
    ::kill(-pid_, SIGKILL);
    // The pipes hold what was written last, and no more than they can hold is waited for.
    drained_ = 0;
    while (drained_ < kDrain && (take_output() || take_errors())) {
    }
    reap();
    return std::move(end_);
  }

 private:
  static constexpr std::size_t kDrain = std::size_t{2} << 20;

  int start() {
    Pipe in;
    Pipe out;
    Pipe err;
    Pipe gate;
    stop_event_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_event_.is_open() || !in.open() || !out.open() || !err.open() || !gate.open())
      return errno;
    if (const int problem = spawn(
            options_, {in.read.get(), out.write.get(), err.write.get(), gate.read.get()}, pid_))
      return problem;
    gate_ = std::move(gate.write);
    in_ = std::move(in.write);
    out_ = std::move(out.read);
    err_ = std::move(err.read);
    for (const auto* fd : {&in_, &out_, &err_}) fd->set_nonblocking();
    if (rest_.empty()) in_.close();
    pidfd_ = open_pidfd(pid_);
    return 0;
  }

  void open_gate() {
    while (::write(gate_.get(), "\n", 1) < 0 && errno == EINTR) {
    }
    gate_.close();
  }

  // The ended process stays unreaped, so that its number stays its own until its group was killed.
  bool has_ended() {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  void wait() {
    std::array<pollfd, 5> fds{pollfd{in_.get(), POLLOUT, 0}, pollfd{out_.get(), POLLIN, 0},
                              pollfd{err_.get(), POLLIN, 0}, pollfd{pidfd_.get(), POLLIN, 0},
                              pollfd{end_.stopped ? -1 : stop_event_.get(), POLLIN, 0}};
    milliseconds timeout(pidfd_.is_open() ? 1'000 : 20);
    if (end_.stopped) timeout = std::min(timeout, milliseconds(100));
    ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
  }

  void move_bytes() {
    give_input();
    take_output();
    take_errors();
  }

  void give_input() {
    while (in_.is_open()) {
      const auto gone = ::write(in_.get(), rest_.data(), rest_.size());
      if (gone > 0) rest_.remove_prefix(static_cast<std::size_t>(gone));
      if (gone < 0 && errno == EINTR) continue;
      if (gone < 0 && errno == EAGAIN) return;
      // Given to the end, or nobody reads: the command does not want the rest.
      if (gone < 0 || rest_.empty()) in_.close();
    }
  }

  // Answers whether anything came.
  bool take_output() {
    return take(out_, [this](std::string_view piece) {
      const auto room = options_.output_limit + 1 - end_.output.size();
      end_.output.append(piece.substr(0, room));
    });
  }

  bool take_errors() {
    return take(err_, [this](std::string_view piece) {
      end_.errors.append(piece);
      if (end_.errors.size() > options_.error_limit)
        end_.errors.erase(0, end_.errors.size() - options_.error_limit);
    });
  }

  template <class Keep>
  bool take(Fd& fd, Keep keep) {
    std::array<char, 16 * 1024> piece{};
    while (fd.is_open()) {
      const auto got = ::read(fd.get(), piece.data(), piece.size());
      if (got > 0) {
        keep(std::string_view(piece.data(), static_cast<std::size_t>(got)));
        drained_ += static_cast<std::size_t>(got);
        return true;
      }
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return false;
      fd.close();
    }
    return false;
  }

  void stop_if_asked() {
    if (!options_.stop.stop_requested()) return;
    if (!end_.stopped) {
      end_.stopped = true;
      kill_at_ = Clock::now() + options_.grace;
      ::kill(-pid_, SIGTERM);
      // A suspended group would never see it.
      ::kill(-pid_, SIGCONT);
    }
    if (Clock::now() < kill_at_ && !(options_.hurry && options_.hurry())) return;
    end_.killed = true;
    ::kill(-pid_, SIGKILL);
  }

  void reap() {
    if (options_.warden) options_.warden->forget(pid_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    end_.how = WIFSIGNALED(status) ? ChildEnd::How::signaled : ChildEnd::How::exited;
    end_.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }

  const ChildOptions& options_;
  std::string_view rest_;
  ChildEnd end_;
  pid_t pid_ = -1;
  Fd in_{};
  Fd out_{};
  Fd err_{};
  Fd gate_{};
  Fd pidfd_{};
  Fd stop_event_{};
  Clock::time_point kill_at_{};
  std::size_t drained_ = 0;
};

}  // namespace

ChildEnd run_child(const ChildOptions& options) { return Run(options).go(); }

}  // namespace emq
