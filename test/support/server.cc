// SPDX-License-Identifier: MIT
#include "support/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "echomq/acl.h"
#include "support/deadline.h"
#include "support/environment.h"
#include "support/wanted.h"
#include "wire/append_only.h"

namespace echomq::test {

std::vector<std::string> acl_rules(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word >> word;
  return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
}

namespace {

using namespace std::chrono_literals;

// The bus of a cluster node listens 10,000 above its port.
constexpr unsigned short kBusOffset = 10'000;

bool can_listen(unsigned short port, unsigned short& chosen) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool free = ::bind(fd, any, sizeof address) == 0 && ::getsockname(fd, any, &size) == 0;
  chosen = ntohs(address.sin_port);
  ::close(fd);
  return free;
}

unsigned short free_port() {
  for (int tries = 0; tries < 100; ++tries) {
    unsigned short port = 0;
    unsigned short bus = 0;
    if (!can_listen(0, port) || port > 65'535 - kBusOffset) continue;
    if (can_listen(static_cast<unsigned short>(port + kBusOffset), bus)) return port;
  }
  throw std::runtime_error("no free pair of TCP ports");
}

// "--user administrator ... --user default ...", for a server that gives the default user no more
// than a client of EchoMQ needs.
std::vector<std::string> least_privilege() {
  std::vector<std::string> words{
      "--user", kAdministrator, "on",    std::string(">") + kAdministrator, "~*", "&*", "+@all",
      "--user", "default",      "nopass"};
  AclOptions options;
  options.user = "default";
  options.wait = options.config_get = true;  // for the adds that are confirmed
  options.scan = true;                       // for obliterations
  const auto rules = acl_rules(acl_line(options).value());
  words.insert(words.end(), rules.begin(), rules.end());
  return words;
}

// Runs in the new process until it becomes the server; only async-signal-safe calls.
[[noreturn]] void become_server(const char* log_path, char* const* words, ::pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;  // what a test blocks must still end the server
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int log = ::open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  // Whichever is installed; execvp comes back where the program does not exist.
  for (const char* const program : {"valkey-server", "redis-server"}) ::execvp(program, words);
  constexpr std::string_view kMissing = "neither valkey-server nor redis-server is installed\n";
  (void)!::write(STDERR_FILENO, kMissing.data(), kMissing.size());
  ::_exit(127);
}

}  // namespace

TestServer::TestServer(ServerOptions options)
    : options_(std::move(options)),
      folder_((std::filesystem::temp_directory_path() / "echomq-test-XXXXXX").string()),
      cluster_(options_.cluster.value_or(clusters_wanted())) {
  if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("cannot make " + folder_);
  try {
    if (cluster_) port_ = free_port();
    start();
  } catch (const std::runtime_error&) {
    remove_folder();
    throw;
  }
}

TestServer::~TestServer() {
  end(SIGKILL);
  remove_folder();
}

void TestServer::remove_folder() const {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void TestServer::start() {
  if (pid_ > 0) return;
  // As the embedded server's owner does; what a torn one does to the data is not our fault.
  if (options_.appendonly) wire::cut_torn_transaction(folder_).value();
  launch();
  await_ready();
}

std::string TestServer::administrators_url() const {
  const std::string name = kAdministrator;
  return least_privilege_wanted() ? "unix://" + name + ":" + name + "@" + socket_path() : url();
}

unsigned short TestServer::open_port() {
  if (port_ != 0) return port_;
  const auto port = free_port();
  auto redis = connect();
  const auto reply = redis({"CONFIG", "SET", "bind", "127.0.0.1", "port", std::to_string(port)});
  if (reply.is_error()) throw std::runtime_error("cannot open a port: " + reply.text);
  return port_ = port;
}

void TestServer::launch() {
  std::vector<std::string> words{"server",
                                 "--port",
                                 std::to_string(port_),
                                 "--unixsocket",
                                 socket_path(),
                                 "--unixsocketperm",
                                 "700",
                                 "--dir",
                                 folder_,
                                 "--save",
                                 "",
                                 "--appendonly",
                                 options_.appendonly ? "yes" : "no",
                                 "--appendfsync",
                                 options_.appendfsync,
                                 "--maxmemory",
                                 std::to_string(options_.maxmemory),
                                 "--maxmemory-policy",
                                 "noeviction",
                                 "--daemonize",
                                 "no"};
  if (port_ != 0)
    for (const char* const word : {"--bind", "127.0.0.1"}) words.emplace_back(word);
  if (cluster_)
    for (const char* const word : {"--cluster-enabled", "yes"}) words.emplace_back(word);
  if (least_privilege_wanted())
    for (auto& word : least_privilege()) words.push_back(std::move(word));
  words.insert(words.end(), options_.extra.begin(), options_.extra.end());
  const auto pointers = ended_by_null(words);

  std::error_code ignored;
  std::filesystem::remove(socket_path(), ignored);  // a killed server leaves it behind
  const auto log_path = folder_ + "/log";
  const auto parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become_server(log_path.c_str(), pointers.data(), parent);
  if (pid_ < 0) throw std::runtime_error("cannot fork a test server");
}

void TestServer::await_ready() {
  bool slots_taken = false;
  const auto serves = [&] {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      throw std::runtime_error("the test server ended at once:\n" + log_end());
    }
    try {
      auto redis = connect();
      if (redis({"PING"}).text != "PONG") return false;  // loading
      if (!cluster_) return true;
      // After a restart the node knows its slots, and says so with an error.
      if (!slots_taken) redis({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
      slots_taken = true;
      return redis({"CLUSTER", "INFO"}).text.find("cluster_state:ok") != std::string::npos;
    } catch (const std::runtime_error&) {
      return false;  // not listening yet
    }
  };
  if (!eventually(serves)) {
    end(SIGKILL);
    throw std::runtime_error("the test server does not serve:\n" + log_end());
  }
}

void TestServer::kill9() { end(SIGKILL); }

void TestServer::restart() {
  end(SIGTERM);
  start();
}

void TestServer::stop_signal() const { ::kill(pid_, SIGSTOP); }

void TestServer::continue_signal() const { ::kill(pid_, SIGCONT); }

void TestServer::end(int signal_number) {
  if (pid_ <= 0) return;
  ::kill(pid_, signal_number);
  ::kill(pid_, SIGCONT);
  const auto gone = [this] {
    const auto waited = ::waitpid(pid_, nullptr, WNOHANG);
    return waited == pid_ || (waited < 0 && errno == ECHILD);
  };
  if (!eventually(gone, 10s)) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

std::string TestServer::log_end() const {
  std::ifstream file(folder_ + "/log");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::size_t kShown = 2'000;
  return text.size() > kShown ? text.substr(text.size() - kShown) : text;
}

TestServer& shared_server() {
  static TestServer server;
  return server;
}

std::string unique_queue(const std::string& hint) {
  static std::atomic<int> count{0};
  return hint + "-" + std::to_string(++count);
}

}  // namespace echomq::test
