// SPDX-License-Identifier: MIT
#include "support/emq_run.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/deadline.h"

namespace echomq::test {
namespace {

int open_file(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) throw std::runtime_error("cannot open " + path);
  return fd;
}

int input_file(const std::string& path, const std::string& input) {
  std::ofstream(path, std::ios::binary) << input;
  return open_file(path, O_RDONLY);
}

// A socket rather than a pipe: one that nobody reads is an error to the writer, and no signal.
int input_stream(std::string input, std::jthread& feeder) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error("no socket pair");
  feeder = std::jthread([fd = ends[1], input = std::move(input)] {
    for (std::size_t at = 0; at < input.size();) {
      const auto sent = ::send(fd, input.data() + at, input.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) break;
      at += static_cast<std::size_t>(sent);
    }
    ::close(fd);
  });
  return ends[0];
}

}  // namespace

std::vector<nlohmann::json> EmqRun::json_lines() const {
  std::vector<nlohmann::json> lines;
  std::istringstream text(out);
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

EmqProcess::EmqProcess(const std::vector<std::string>& arguments, const EmqHow& how) {
  const int in = how.input_is == EmqHow::Input::file ? input_file(folder_.file("in"), how.input)
                                                     : input_stream(how.input, feeder_);
  if (how.terminal) {
    int program_side = -1;
    if (::openpty(&terminal_, &program_side, nullptr, nullptr, nullptr) != 0)
      throw std::runtime_error("no terminal");
    ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    start(arguments, how, in, program_side, program_side);
    ::close(program_side);
  } else {
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    const int out = open_file(how.out_file.empty() ? folder_.file("out") : how.out_file, kWrite);
    const int err = open_file(folder_.file("err"), kWrite);
    start(arguments, how, in, out, err);
    ::close(out);
    ::close(err);
  }
  ::close(in);
}

void EmqProcess::start(const std::vector<std::string>& arguments, const EmqHow& how, int in,
                       int out, int err) {
  std::vector<std::string> words{ECHOMQ_EMQ_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto environment = ours_and(how.environment);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  const int problem = ::posix_spawn(&pid_, ECHOMQ_EMQ_PROGRAM, &files, nullptr,
                                    ended_by_null(words).data(), ended_by_null(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) throw std::runtime_error(std::string("cannot start ") + ECHOMQ_EMQ_PROGRAM);
}

EmqProcess::~EmqProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (terminal_ >= 0) ::close(terminal_);
}

void EmqProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

EmqRun EmqProcess::wait(std::chrono::milliseconds deadline) {
  EmqRun run;
  int status = 0;
  if (eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, deadline)) {
    pid_ = -1;
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  run.out = out();
  run.err = err();
  // What a program wrote to a terminal can still be read when it is gone, up to a page.
  std::array<char, 4096> piece{};
  while (terminal_ >= 0 && run.code >= 0) {
    const auto got = ::read(terminal_, piece.data(), piece.size());
    if (got <= 0) break;
    run.out.append(piece.data(), static_cast<std::size_t>(got));
  }
  return run;
}

EmqHow EmqTest::how(EmqHow with) const {
  with.environment.insert(with.environment.begin(), {"XDG_STATE_HOME", folder.path()});
  const auto names_server = [](const auto& pair) { return pair.first == "EMQ_URL"; };
  if (std::none_of(with.environment.begin(), with.environment.end(), names_server))
    with.environment.emplace_back("EMQ_URL", server.url());
  return with;
}

}  // namespace echomq::test
