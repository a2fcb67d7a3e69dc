// SPDX-License-Identifier: MIT
#include "wire/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace echomq::inline v2::wire {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWatch{100};        // how often the guardian looks for its owner
constexpr milliseconds kWatchEnding{10};   // and for the end of a program that it has told to end
constexpr milliseconds kPatience{10'000};  // between SIGTERM and SIGKILL when the owner asks
constexpr milliseconds kPatienceOrphan{1'000};  // and when the owner is gone
constexpr milliseconds kExecTimeout{10'000};

// What the guardian tells its owner, once, when the program was executed or could not be.
struct Started {
  int pid;
  int error;
};

// ---- After fork(): async-signal-safe calls only, and no memory of our own ----
//
// The owner may have had other threads, and any lock of its libraries may be held for ever here.

struct Plan {
  char* const* argv;
  int channel;
  int lock;
  int log;
  int null;
  int highest_fd;
  pid_t owner;
};

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void close_between(int first, int last, int highest) {
  if (first > last && last != highest) return;
#if defined(SYS_close_range)
  // Known to Linux 5.9 and later; the last range is open, whatever the limit was when a file was
  // opened.
  const unsigned end = last == highest ? ~0U : static_cast<unsigned>(last);
  if (syscall(SYS_close_range, static_cast<unsigned>(first), end, 0U) == 0) return;
#endif
  for (int fd = first; fd <= last; ++fd) close(fd);
}

void close_all_but(int keep, int also, int highest) {
  const int low = std::min(keep, also);
  const int high = std::max(keep, also);
  close_between(3, low - 1, highest);
  close_between(low + 1, high - 1, highest);
  close_between(high + 1, highest, highest);
}

[[noreturn]] void become_program(const Plan& plan, int report, pid_t guardian) {
  reset_signals();
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != guardian) _exit(1);
  umask(S_IRWXG | S_IRWXO);
  execv(plan.argv[0], plan.argv);
  const int error = errno;
  [[maybe_unused]] const auto written = write(report, &error, sizeof error);
  _exit(127);
}

// Starts the program; the pipe closes by its execution, or carries the reason why there was none.
Started start_program(const Plan& plan) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return {0, errno};
  const pid_t guardian = getpid();
  const pid_t pid = fork();
  if (pid < 0) return {0, errno};
  if (pid == 0) become_program(plan, report[1], guardian);
  setpgid(pid, pid);  // whichever of both comes first
  close(report[1]);
  int error = 0;
  const auto size = read(report[0], &error, sizeof error);
  close(report[0]);
  if (size == static_cast<ssize_t>(sizeof error)) {
    waitpid(pid, nullptr, 0);
    return {0, error};
  }
  return {pid, 0};
}

// True once the program has ended; what is left of its process group (a child that rewrites the
// append-only file) is ended with it. The group is named before the program is waited for, while
// its number cannot yet be anyone else's.
bool reaped(pid_t program) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(program), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == 0)
    return false;
  kill(-program, SIGKILL);
  waitpid(program, nullptr, 0);
  return true;
}

// Nothing of the owner's stays open: not its terminal, not the pipe that someone reads to its end,
// and not its end of the channel. What the owner did not mark CLOEXEC would otherwise reach the
// program too.
void keep_only_ours(Plan& plan) {
  // An owner without stdin, stdout or stderr gets our descriptors in their places.
  plan.channel = fcntl(plan.channel, F_DUPFD_CLOEXEC, 3);
  plan.lock = fcntl(plan.lock, F_DUPFD_CLOEXEC, 3);
  plan.log = fcntl(plan.log, F_DUPFD_CLOEXEC, 3);
  plan.null = fcntl(plan.null, F_DUPFD_CLOEXEC, 3);
  dup2(plan.null, STDIN_FILENO);
  dup2(plan.log, STDOUT_FILENO);
  dup2(plan.log, STDERR_FILENO);
  close_all_but(plan.channel, plan.lock, plan.highest_fd);
}

[[noreturn]] void guard(Plan plan) {
  setsid();
  reset_signals();
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2})
    sigaction(signal, &ignore, nullptr);
  prctl(PR_SET_NAME, "emq-guardian");
  keep_only_ours(plan);
  const Started started = start_program(plan);
  [[maybe_unused]] const auto told = send(plan.channel, &started, sizeof started, MSG_NOSIGNAL);
  if (started.error != 0) _exit(1);
  [[maybe_unused]] const auto left = chdir("/");

  bool ending = false;
  bool orphan = false;
  milliseconds kill_at{0};
  while (!reaped(started.pid)) {
    pollfd channel{orphan ? -1 : plan.channel, POLLIN, 0};
    bool asked = false;
    if (poll(&channel, 1, static_cast<int>((ending ? kWatchEnding : kWatch).count())) > 0) {
      char byte = 0;
      const auto size = recv(plan.channel, &byte, 1, MSG_DONTWAIT);
      asked = size == 1;
      orphan = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
    }
    orphan = orphan || getppid() != plan.owner;
    const auto now = monotonic_ms();
    if ((asked || orphan) && !ending) {
      kill(started.pid, SIGTERM);
      ending = true;
      kill_at = now + kPatience;
    }
    if (orphan) kill_at = std::min(kill_at, now + kPatienceOrphan);
    if (ending && now >= kill_at) kill(-started.pid, SIGKILL);
  }
  _exit(0);
}

// ---- In the owner ----

Error failed(const std::string& what, int error) {
  return {
      ErrorCode::embedded, what + ": " + std::strerror(error), {{"value", std::to_string(error)}}};
}

// Waits until something can be read from the channel, its end included.
bool readable(int channel, milliseconds timeout) {
  const auto deadline = monotonic_ms() + timeout;
  while (true) {
    const auto left = std::max(deadline - monotonic_ms(), milliseconds(0));
    pollfd fd{channel, POLLIN, 0};
    const int ready = poll(&fd, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

Result<Guardian> Guardian::start(const GuardedProgram& program) {
  std::vector<std::string> words = program.argv;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return failed("no channel to the embedded server's guardian could be made", errno);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const long most_fds = sysconf(_SC_OPEN_MAX);
  const Plan plan{
      argv.data(),  pair[1],
      program.lock, program.log,
      null,         most_fds > 0 ? static_cast<int>(std::min(most_fds, 1L << 20U)) : 1 << 16,
      getpid()};

  // No handler of the owner's may run in the guardian before it has set its own.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int fork_error = errno;
  if (pid == 0) guard(plan);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(pair[1]);
  close(null);
  if (pid < 0) {
    close(pair[0]);
    return failed("the embedded server's guardian could not be forked", fork_error);
  }

  Guardian guardian(pair[0], pid);
  guardian.owner_pid_ = plan.owner;
  Started started{0, ETIMEDOUT};
  if (readable(guardian.channel_, kExecTimeout) &&
      recv(guardian.channel_, &started, sizeof started, 0) != static_cast<ssize_t>(sizeof started))
    started = {0, ECHILD};
  if (started.error != 0) return failed(program.argv[0] + " could not be executed", started.error);
  guardian.program_pid_ = started.pid;
  return guardian;
}

Guardian::Guardian(Guardian&& other) noexcept
    : channel_(std::exchange(other.channel_, -1)),
      guardian_pid_(std::exchange(other.guardian_pid_, 0)),
      program_pid_(std::exchange(other.program_pid_, 0)),
      owner_pid_(other.owner_pid_) {}

Guardian& Guardian::operator=(Guardian&& other) noexcept {
  std::swap(channel_, other.channel_);
  std::swap(guardian_pid_, other.guardian_pid_);
  std::swap(program_pid_, other.program_pid_);
  std::swap(owner_pid_, other.owner_pid_);
  return *this;
}

Guardian::~Guardian() {
  if (channel_ < 0) return;
  if (getpid() != owner_pid_) {  // a copy that came with a fork
    close(channel_);
    return;
  }
  shutdown(channel_, SHUT_WR);
  collect();
}

bool Guardian::running() { return channel_ >= 0 && !ended_within(milliseconds(0)); }

void Guardian::stop() {
  if (channel_ < 0 || getpid() != owner_pid_) return;
  const char byte = 's';
  [[maybe_unused]] const auto sent = send(channel_, &byte, 1, MSG_NOSIGNAL);
  collect();
}

// The guardian says nothing more once it runs: what can be read is its end.
bool Guardian::ended_within(milliseconds timeout) { return readable(channel_, timeout); }

void Guardian::collect() {
  // Longer than the guardian can take, unless it is stopped or starved. Its death ends the server
  // too.
  if (!ended_within(kPatience + milliseconds(5'000)) &&
      waitpid(guardian_pid_, nullptr, WNOHANG) == 0)
    kill(guardian_pid_, SIGKILL);
  while (waitpid(guardian_pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  close(std::exchange(channel_, -1));
  guardian_pid_ = 0;
  program_pid_ = 0;
}

}  // namespace echomq::inline v2::wire
