// SPDX-License-Identifier: MIT
#include "live/example/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <system_error>
#include <thread>

namespace echomq_test {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Ours, without what `changes` sets anew.
std::vector<std::string> environment_with(const Program::Environment& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    bool changed = false;
    for (const auto& [name, value] : changes) changed |= line.rfind(name + "=", 0) == 0;
    if (!changed) all.push_back(line);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

}  // namespace

std::string Ran::last_line() const {
  auto text = out;
  if (text.ends_with('\n')) text.pop_back();
  const auto end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

Program::Program(const std::string& folder, const std::string& name,
                 std::vector<std::string> arguments, const Environment& environment) {
  static std::atomic<int> count = 0;
  const auto stem = folder + "/" + name + "-" + std::to_string(++count);
  out_path_ = stem + ".out";
  err_path_ = stem + ".err";
  arguments.insert(arguments.begin(), std::string(ECHOMQ_BIN_DIR) + "/" + name);
  auto variables = environment_with(environment);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out_path_.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_path_.c_str(), kWrite, 0600);
  const int problem = ::posix_spawn(&pid_, arguments[0].c_str(), &files, nullptr,
                                    pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) {
    pid_ = -1;
    ADD_FAILURE() << "cannot start " << arguments[0] << ": "
                  << std::generic_category().message(problem);
  }
}

Program::~Program() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Program::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

Ran Program::wait(std::chrono::milliseconds deadline) {
  Ran ran{-1, {}, {}};
  int status = 0;
  const bool ended =
      pid_ > 0 && eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, deadline);
  if (ended) {
    pid_ = -1;
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  ran.out = content_of(out_path_);
  ran.err = content_of(err_path_);
  return ran;
}

std::string Program::out() const { return content_of(out_path_); }
std::string Program::err() const { return content_of(err_path_); }

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::vector<::pid_t> processes_with(const std::string& text) {
  std::vector<::pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto name = entry.path().filename().string();
    ::pid_t pid = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (read.ptr != name.data() + name.size() || pid == ::getpid()) continue;
    if (content_of(entry.path() / "cmdline").find(text) != std::string::npos) found.push_back(pid);
  }
  return found;
}

Folder::Folder() : path_((std::filesystem::temp_directory_path() / "echomq-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "cannot make " << path_;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::noise(const std::string& name, std::size_t size) const {
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>{}(name)));
  std::string content(size, '\0');
  for (auto& byte : content) byte = static_cast<char>(random());
  const auto path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace echomq_test
