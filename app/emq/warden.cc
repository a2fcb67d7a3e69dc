// SPDX-License-Identifier: MIT
#include "warden.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace emq {
namespace {

// Messages are one number: a group to watch, or minus a group to forget. So short a write is
// atomic.
bool receive(int fd, pid_t& number) {
  for (;;) {
    const auto got = ::read(fd, &number, sizeof number);
    if (got == static_cast<::ssize_t>(sizeof number)) return true;
    if (got >= 0 || errno != EINTR) return false;
  }
}

bool any_left(const std::set<pid_t>& groups) {
  for (const auto group : groups)
    if (::kill(-group, 0) == 0) return true;
  return false;
}

void end_all(const std::set<pid_t>& groups) {
  for (const auto group : groups) {
    ::kill(-group, SIGTERM);
    ::kill(-group, SIGCONT);
  }
  constexpr int kSteps = 50;
  const std::timespec step{0, 20'000'000};
  for (int i = 0; i < kSteps && any_left(groups); ++i) ::nanosleep(&step, nullptr);
  for (const auto group : groups) ::kill(-group, SIGKILL);
}

[[noreturn]] void stand_watch(int fd) {
  // Nothing of ours may be kept open or be interrupted from the terminal.
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_NAME, "emq-warden");
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  std::set<pid_t> groups;
  for (pid_t number = 0; receive(fd, number);) {
    if (number > 0)
      groups.insert(number);
    else
      groups.erase(-number);
  }
  end_all(groups);
  ::_exit(0);
}

echomq::Error refused(int reason) {
  const auto text = std::generic_category().message(reason);
  return {echomq::ErrorCode::config,
          "the process that watches over commands cannot be started: " + text +
              "; look at the limits of processes and open files",
          {{"reason", text}}};
}

}  // namespace

echomq::Result<Warden> Warden::start() {
  Pipe pipe;
  if (!pipe.open()) return refused(errno);
  const pid_t pid = ::fork();
  if (pid < 0) return refused(errno);
  if (pid == 0) {
    pipe.write.close();
    stand_watch(pipe.read.get());
  }
  return Warden(std::move(pipe.write), pid);
}

Warden::Warden(Warden&& other) noexcept
    : pipe_(std::move(other.pipe_)), pid_(std::exchange(other.pid_, -1)) {}

Warden::~Warden() {
  if (pid_ < 0) return;
  pipe_.close();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Warden::watch(pid_t group) { tell(group); }

void Warden::forget(pid_t group) { tell(-group); }

void Warden::tell(pid_t number) {
  // A warden that was killed takes nothing from the work: the write fails, and that is all.
  while (::write(pipe_.get(), &number, sizeof number) < 0 && errno == EINTR) {
  }
}

}  // namespace emq
