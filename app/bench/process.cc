// SPDX-License-Identifier: MIT
#include "bench/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using echomq::Error;
using echomq::ErrorCode;
using echomq::Result;

constexpr auto kGrace = 5s;

void close_both(const std::array<int, 2>& ends) {
  for (const int fd : ends)
    if (fd >= 0) ::close(fd);
}

// In a process group of its own, so that a Ctrl-C at the terminal reaches the bench alone.
int spawn(pid_t& pid, const std::vector<std::string>& words, int in, int out) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  argv.reserve(copies.size() + 1);
  for (auto& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  const int problem = ::posix_spawnp(&pid, argv.front(), &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return problem;
}

}  // namespace

std::string own_program() {
  std::array<char, 4096> path{};
  const auto size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : "emq";
}

Result<Process> Process::start(const std::vector<std::string>& words,
                               std::function<bool()> stopped) {
  std::array<int, 2> in{-1, -1};
  std::array<int, 2> out{-1, -1};
  pid_t pid = 0;
  int problem = 0;
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    problem = errno;
  else
    problem = spawn(pid, words, in[0], out[1]);
  if (problem != 0) {
    close_both(in);
    close_both(out);
    return Error{ErrorCode::config,
                 "cannot start " + words.front() + ": " + std::strerror(problem),
                 {{"value", words.front()}}};
  }
  ::close(in[0]);
  ::close(out[1]);
  return Process(pid, in[1], out[0], words.front(), std::move(stopped));
}

Result<Json> Process::ask(const Json& command, std::chrono::milliseconds limit) {
  const auto text = command.dump() + "\n";
  if (::write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return Error{ErrorCode::closed, program_ + " does not take commands any more", {}};
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (const auto end = in_.find('\n'); end != std::string::npos) {
      const auto answer = Json::parse(in_.substr(0, end), nullptr, /*allow_exceptions=*/false);
      in_.erase(0, end + 1);
      if (!answer.is_object())
        return Error{ErrorCode::protocol, program_ + " answered what is no JSON object", {}};
      if (const auto error = answer.find("error"); error != answer.end())
        return Error{ErrorCode::server_error,
                     program_ + " failed at " + command.dump() + ": " + error->dump(),
                     {}};
      return answer;
    }
    if (stopped_()) return Error{ErrorCode::closed, "interrupted", {}};
    if (Clock::now() > deadline)
      return Error{ErrorCode::timeout, program_ + " was too slow for " + command.dump(), {}};
    pollfd readable{from_, POLLIN, 0};
    if (::poll(&readable, 1, 100) <= 0) continue;
    std::array<char, 65'536> piece{};
    const auto got = ::read(from_, piece.data(), piece.size());
    if (got <= 0) return Error{ErrorCode::closed, program_ + " ended during " + command.dump(), {}};
    in_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

double Process::peak_memory() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024;
  return 0;
}

void Process::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void Process::end() {
  if (pid_ <= 0) return;
  ::close(to_);
  const auto deadline = Clock::now() + kGrace;
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      break;
    }
    std::this_thread::sleep_for(2ms);
  }
  ::close(from_);
  pid_ = 0;
}

}  // namespace bench
