// SPDX-License-Identifier: MIT
#include "demo/fleet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace demo {
namespace {

using namespace std::chrono_literals;

// The arguments of posix_spawn that need to be freed.
struct SpawnPlan {
  SpawnPlan() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

// Silent, its own group, its output in `log`, and no signal ignored or blocked because we do.
void fill(SpawnPlan& plan, const std::string& log) {
  posix_spawn_file_actions_addopen(&plan.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&plan.files, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&plan.files, STDOUT_FILENO, STDERR_FILENO);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  posix_spawnattr_setflags(
      &plan.attributes,
      static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

// The status that a process ended with, or nullopt while it runs.
std::optional<int> reap(::pid_t pid, int flags) {
  int status = 0;
  ::pid_t got = 0;
  do {
    got = ::waitpid(pid, &status, flags);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  return status;
}

}  // namespace

Fleet::Fleet(std::string program, std::vector<std::string> arguments, std::string log_folder)
    : program_(std::move(program)),
      arguments_(std::move(arguments)),
      log_folder_(std::move(log_folder)) {}

Fleet::~Fleet() {
  for (const auto& process : running_) ::kill(process.pid, SIGKILL);
  for (const auto& process : running_) reap(process.pid, 0);
}

echomq::Result<void> Fleet::start(const std::string& name) {
  std::vector<std::string> words{program_};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  words.insert(words.end(), {"--name", name});
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  Process process{name, 0};
  SpawnPlan plan;
  fill(plan, log_of(process));
  const int problem = ::posix_spawn(&process.pid, program_.c_str(), &plan.files, &plan.attributes,
                                    argv.data(), environ);
  if (problem != 0)
    return echomq::Error{echomq::ErrorCode::config,
                         fmt::format("cannot start {}: {}; build it with `./run build`", program_,
                                     std::generic_category().message(problem)),
                         {{"value", program_}}};
  running_.push_back(std::move(process));
  return {};
}

std::string Fleet::kill_first() {
  const auto process = running_.front();
  running_.erase(running_.begin());
  ::kill(process.pid, SIGKILL);
  reap(process.pid, 0);
  return fmt::format("{} (process {})", process.name, process.pid);
}

echomq::Result<void> Fleet::check() {
  for (auto process = running_.begin(); process != running_.end(); ++process) {
    if (const auto status = reap(process->pid, WNOHANG)) {
      const auto error = ended(*process, *status);
      running_.erase(process);
      return error;
    }
  }
  return {};
}

echomq::Result<void> Fleet::stop(std::chrono::milliseconds grace) {
  for (const auto& process : running_) ::kill(process.pid, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + grace;
  echomq::Result<void> worst;
  while (!running_.empty()) {
    const auto process = running_.back();
    auto status = reap(process.pid, WNOHANG);
    if (!status && std::chrono::steady_clock::now() > deadline) {
      ::kill(process.pid, SIGKILL);
      status = reap(process.pid, 0);
    }
    if (!status) {
      std::this_thread::sleep_for(5ms);
      continue;
    }
    running_.pop_back();
    // One that was still on its way up dies of our signal, with nothing in its hands.
    const bool asked = WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM;
    if (*status != 0 && !asked) worst = ended(process, *status);
  }
  return worst;
}

std::string Fleet::log_of(const Process& process) const {
  return log_folder_ + "/" + process.name + ".log";
}

echomq::Error Fleet::ended(const Process& process, int status) const {
  const auto how = WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                                       : fmt::format("ended with code {}", WEXITSTATUS(status));
  return {echomq::ErrorCode::closed,
          fmt::format("{} (process {}) {}; its log is {}", process.name, process.pid, how,
                      log_of(process)),
          {{"value", process.name}}};
}

std::string sibling_program(const std::string& name) {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name).string();
}

}  // namespace demo
