// SPDX-License-Identifier: MIT
#include "support/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "support/deadline.h"

namespace echomq::test {
namespace {

// Runs in the new process until it becomes the program; only async-signal-safe calls.
[[noreturn]] void become(const char* program, char* const* words, char* const* environment,
                         const char* output, ::pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int out = ::open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execve(program, words, environment);
  ::_exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const Environment& environment) {
  std::vector<std::string> words{std::filesystem::path(ECHOMQ_TEST_BIN_DIR) / program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = ours_and(environment);
  const auto word_pointers = ended_by_null(words);
  const auto variable_pointers = ended_by_null(variables);
  const auto output = folder_.file("output");
  const auto parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0)
    become(word_pointers[0], word_pointers.data(), variable_pointers.data(), output.c_str(),
           parent);
  if (pid_ < 0) throw std::runtime_error("cannot fork " + program);
}

ChildProcess::~ChildProcess() { kill9(); }

void ChildProcess::signal(int number) const {
  if (!ended_) ::kill(pid_, number);
}

void ChildProcess::kill9() {
  signal(SIGKILL);
  wait();
}

std::optional<int> ChildProcess::ended() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended_;
}

int ChildProcess::wait(std::chrono::milliseconds deadline) {
  eventually([this] { return ended().has_value(); }, deadline);
  return ended_.value_or(-1);
}

std::string ChildProcess::output() const { return content_of(folder_.file("output")); }

}  // namespace echomq::test
