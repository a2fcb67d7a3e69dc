// SPDX-License-Identifier: MIT
// The embedded server as its owner, other programs, and those who kill things see it.
#include "echomq/embedded.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/wanted.h"
#include "wire/command.h"
#include "wire/resp.h"
#include "wire/url.h"

namespace echomq {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

bool within(milliseconds limit, const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

// Gone, or dead and not waited for.
bool ended(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(stat)), {});
  return text.empty() || text.find(") Z") != std::string::npos;
}

std::string status_of(pid_t pid, std::string_view name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return line.substr(name.size());
  return "0";
}

pid_t parent_of(pid_t pid) { return std::stoi(status_of(pid, "PPid:")); }

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// A socket that was bound to `path` and left there.
int bound_socket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = address_of(path);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

// One command on a new connection; nullopt when nobody answers.
std::optional<wire::Reply> ask(const std::string& url,
                               std::initializer_list<std::string_view> words) {
  const auto address = address_of(wire::parse_url(url).value().path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::optional<wire::Reply> out;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    std::string bytes;
    wire::append_command(bytes, words);
    EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    wire::RespParser parser;
    char input[4096];
    for (ssize_t size = 1; size > 0 && !out;) {
      size = ::recv(fd, input, sizeof input, 0);
      if (size > 0) parser.feed({input, static_cast<std::size_t>(size)});
      auto next = parser.next();
      if (!next) break;
      out = std::move(*next);
    }
  }
  ::close(fd);
  return out;
}

std::string field(const Error& error, std::string_view name) {
  const auto* value = error.field(name);
  return value ? *value : "(no field)";
}

std::string text(const std::optional<wire::Reply>& reply) {
  return reply ? reply->text : "(no answer)";
}

std::string config(const std::string& url, std::string_view name) {
  const auto reply = ask(url, {"CONFIG", "GET", name});
  return reply && reply->items.size() == 2 ? reply->items[1].text : "(no answer)";
}

class EmbeddedServer : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::plain_servers_wanted()) GTEST_SKIP() << test::kServersOfItsOwn;
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override {
    for (const auto pid : owners_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    for (const auto pid : servers_)
      EXPECT_TRUE(within(5s, [&] { return ended(pid); })) << pid << " is left";
    fs::remove_all(root_);
  }

  [[nodiscard]] std::string dir(const std::string& name = "emq") const {
    return root_ + "/" + name;
  }
  [[nodiscard]] std::string socket() const { return dir() + "/emq.sock"; }

  Embedded start(EmbeddedOptions options = {}) {
    if (options.dir.empty() && !options.temporary) options.dir = dir();
    auto server = Embedded::start(options);
    if (!server) throw std::runtime_error(server.error().message());
    servers_.push_back(server->server_pid());
    return *std::move(server);
  }

  Error refused(EmbeddedOptions options = {}) {
    if (options.dir.empty() && !options.temporary) options.dir = dir();
    auto server = Embedded::start(options);
    if (!server) return server.error();
    ADD_FAILURE() << "a server was started in " << server->dir();
    return {};
  }

  // A process that owns the server and waits to be killed. `then` runs in it after the start.
  struct Owner {
    pid_t pid = 0;
    pid_t server = 0;
  };
  Owner start_owner(const std::function<void()>& then = [] {}) {
    int report[2];
    EXPECT_EQ(::pipe2(report, O_CLOEXEC), 0);
    Owner owner;
    owner.pid = ::fork();
    if (owner.pid == 0) {
      auto server = Embedded::start({.dir = dir()});
      const pid_t pid = server ? server->server_pid() : 0;
      then();
      if (::write(report[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
      while (true) ::pause();
    }
    ::close(report[1]);
    EXPECT_EQ(::read(report[0], &owner.server, sizeof owner.server),
              static_cast<ssize_t>(sizeof owner.server));
    ::close(report[0]);
    EXPECT_GT(owner.server, 0);
    owners_.push_back(owner.pid);
    servers_.push_back(owner.server);
    return owner;
  }

  std::string script(const std::string& body) {
    const auto path = root_ + "/server.sh";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  std::string root_ = (fs::temp_directory_path() / "echomq-test-XXXXXX").string();
  std::vector<pid_t> owners_;
  std::vector<pid_t> servers_;
};

// ---- One owner ----

TEST_F(EmbeddedServer, AnswersUntilItIsStopped) {
  auto server = start();
  const auto pid = server.server_pid();
  EXPECT_EQ(server.dir(), dir());
  EXPECT_EQ(server.url(), "unix://" + dir() + "/emq.sock");
  EXPECT_EQ(text(ask(server.url(), {"PING"})), "PONG");

  server.stop();
  EXPECT_TRUE(ended(pid));
  EXPECT_EQ(server.server_pid(), 0);
  EXPECT_FALSE(ask(server.url(), {"PING"}));
  server.stop();
  EXPECT_EQ(server.server_pid(), 0);
}

TEST_F(EmbeddedServer, IsPrivateAndKeepsWhatItIsGiven) {
  auto server = start({.appendfsync = "always", .extra_args = {"--maxclients", "77"}});
  EXPECT_EQ(config(server.url(), "port"), "0");
  EXPECT_EQ(config(server.url(), "appendonly"), "yes");
  EXPECT_EQ(config(server.url(), "appendfsync"), "always");
  EXPECT_EQ(config(server.url(), "save"), "");
  EXPECT_EQ(config(server.url(), "maxmemory-policy"), "noeviction");
  EXPECT_EQ(config(server.url(), "maxclients"), "77");
  struct stat status {};
  ASSERT_EQ(::stat(dir().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat(socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(EmbeddedServer, DataSurvivesARestartInTheSameFolder) {
  {
    auto server = start();
    EXPECT_EQ(text(ask(server.url(), {"SET", "key", "value"})), "OK");
  }
  auto server = start();
  EXPECT_EQ(text(ask(server.url(), {"GET", "key"})), "value");
}

TEST_F(EmbeddedServer, TheFolderMayHaveAnyName) {
  auto server = start({.dir = dir("with space/\"quotes\" & %41/--dir")});
  EXPECT_EQ(text(ask(server.url(), {"PING"})), "PONG");
  EXPECT_TRUE(fs::exists(dir("with space/\"quotes\" & %41/--dir/emq.sock")));
}

TEST_F(EmbeddedServer, TheSameFolderByAnotherNameIsTheSameFolder) {
  auto server = start({.dir = dir("x") + "/..//emq/"});
  EXPECT_EQ(server.dir(), dir());
}

TEST_F(EmbeddedServer, MovesWithItsOwnership) {
  auto first = start();
  auto second = start({.dir = dir("second")});
  const auto gone = second.server_pid();
  const auto kept = first.server_pid();
  second = std::move(first);
  EXPECT_TRUE(ended(gone));
  EXPECT_EQ(second.server_pid(), kept);
  EXPECT_EQ(text(ask(second.url(), {"PING"})), "PONG");
}

TEST_F(EmbeddedServer, ATemporaryFolderIsRemovedWithIt) {
  auto server = start({.temporary = true});
  const auto folder = server.dir();
  EXPECT_TRUE(fs::exists(folder + "/emq.sock"));
  server.stop();
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(EmbeddedServer, AClusterNodeOwnsAllSlotsAlsoAfterARestart) {
  for (int run = 0; run < 2; ++run) {
    auto server = start({.cluster_enabled = true});
    EXPECT_EQ(text(ask(server.url(), {"SET", "a", "1"})), "OK");
    EXPECT_EQ(text(ask(server.url(), {"SET", "b", "1"})), "OK");
    EXPECT_TRUE(text(ask(server.url(), {"MGET", "a", "b"})).starts_with("CROSSSLOT"));
  }
}

TEST_F(EmbeddedServer, IsWaitedForWhileItLoads) {
  {
    auto server = start();
    EXPECT_EQ(
        text(ask(server.url(),
                 {"EVAL", "for i=1,5000 do redis.call('SET', 'k'..i, i) end return 'done'", "0"})),
        "done");
  }
  // 300 us for each command that is replayed.
  EmbeddedOptions slow{.start_timeout = 1s, .extra_args = {"--key-load-delay", "300"}};
  const auto error = refused(slow);
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_NE(error.detail.find("still loading"), std::string::npos) << error.detail;
  slow.start_timeout = 60s;
  auto server = start(slow);
  EXPECT_EQ(text(ask(server.url(), {"GET", "k5000"})), "5000");
}

// ---- Other programs ----

TEST_F(EmbeddedServer, ASecondOwnerIsToldWhereToConnect) {
  EXPECT_FALSE(Embedded::running_url(dir()));
  auto server = start();
  EXPECT_EQ(Embedded::running_url(dir()), server.url());
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_EQ(field(error, "owner"), std::to_string(::getpid()));
  EXPECT_EQ(field(error, "url"), server.url());
  EXPECT_EQ(field(error, "dir"), dir());
  EXPECT_NE(error.detail.find("connect to " + server.url()), std::string::npos) << error.detail;
  EXPECT_EQ(text(ask(server.url(), {"PING"})), "PONG");
  server.stop();
  EXPECT_FALSE(Embedded::running_url(dir()));
}

TEST_F(EmbeddedServer, AnotherProcessIsTheOwnerThatIsNamed) {
  const auto owner = start_owner();
  EXPECT_EQ(field(refused(), "owner"), std::to_string(owner.pid));
  EXPECT_EQ(Embedded::running_url(dir()), "unix://" + socket());
}

TEST_F(EmbeddedServer, LookingForAServerNeverDisturbsAStart) {
  // Whoever looks must not hold the lock for even a moment.
  const pid_t looker = ::fork();
  if (looker == 0) {
    while (true) (void)Embedded::running_url(dir());
  }
  owners_.push_back(looker);
  for (int i = 0; i < 5; ++i) start().stop();
}

TEST_F(EmbeddedServer, ACopyInAForkedChildDoesNothing) {
  auto server = start({.temporary = true});
  const pid_t child = ::fork();
  if (child == 0) {
    server.stop();
    { const auto gone = std::move(server); }
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(text(ask(server.url(), {"PING"})), "PONG");
  EXPECT_TRUE(fs::exists(server.dir()));
}

// ---- Death ----

TEST_F(EmbeddedServer, AKilledOwnerLeavesNoServerAfterTwoSeconds) {
  const auto owner = start_owner();
  const auto guardian = parent_of(owner.server);
  EXPECT_EQ(parent_of(guardian), owner.pid);
  ASSERT_EQ(::kill(owner.pid, SIGKILL), 0);
  EXPECT_TRUE(within(2s, [&] { return ended(owner.server); }));
  EXPECT_TRUE(within(2s, [&] { return ended(guardian); }));
}

TEST_F(EmbeddedServer, AKilledOwnerLeavesNoServerThoughItsForkedChildLives) {
  int report[2];
  ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
  // The child holds the owner's end of the channel to the guardian.
  const auto owner = start_owner([&] {
    const pid_t child = ::fork();
    if (child != 0) {
      if (::write(report[1], &child, sizeof child) != sizeof child) ::_exit(1);
      return;
    }
    while (true) ::pause();
  });
  pid_t child = 0;
  ASSERT_EQ(::read(report[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  owners_.push_back(child);
  ::close(report[0]);
  ::close(report[1]);
  ASSERT_EQ(::kill(owner.pid, SIGKILL), 0);
  EXPECT_TRUE(within(2s, [&] { return ended(owner.server); }));
  EXPECT_FALSE(ended(child));
  EXPECT_TRUE(start().server_pid() > 0) << "nor does the child keep the folder's lock";
}

TEST_F(EmbeddedServer, AfterAKillTheFolderIsUsedAgainAtOnceWithItsData) {
  const auto owner = start_owner();
  EXPECT_EQ(text(ask("unix://" + socket(), {"SET", "key", "value"})), "OK");
  ASSERT_EQ(::kill(owner.pid, SIGKILL), 0);
  ASSERT_TRUE(within(5s, [&] { return ended(owner.pid); }));
  EXPECT_FALSE(Embedded::running_url(dir())) << "its owner is gone, whether its server is or not";
  auto server = start();
  EXPECT_TRUE(ended(owner.server)) << "two servers would write the same files";
  EXPECT_EQ(text(ask(server.url(), {"GET", "key"})), "value");
}

TEST_F(EmbeddedServer, AKilledGuardianTakesTheServerAlong) {
  auto server = start();
  const auto pid = server.server_pid();
  ASSERT_EQ(::kill(parent_of(pid), SIGKILL), 0);
  EXPECT_TRUE(within(2s, [&] { return ended(pid); }));
  server.stop();
  EXPECT_EQ(text(ask(start().url(), {"PING"})), "PONG");
}

TEST_F(EmbeddedServer, AKilledServerIsReplacedByTheNextStart) {
  auto server = start();
  const auto pid = server.server_pid();
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_TRUE(within(2s, [&] { return !Embedded::running_url(dir()); }));
  EXPECT_TRUE(fs::exists(socket())) << "the test wants a stale socket";
  EXPECT_EQ(text(ask(start().url(), {"PING"})), "PONG");
}

// A transaction that a crash has torn is not run together with what comes after it.
TEST_F(EmbeddedServer, WhatACrashHasTornDoesNotComeBack) {
  start().stop();
  std::string torn;
  wire::append_command(torn, {"MULTI"});
  wire::append_command(torn, {"RPUSH", "line", "torn"});
  wire::append_command(torn, {"SET", "whole", "0"});
  torn.resize(torn.size() - 3);
  std::ofstream(dir() + "/appendonlydir/appendonly.aof.1.incr.aof", std::ios::app) << torn;
  {
    auto server = start();
    EXPECT_EQ(ask(server.url(),
                  {"EVAL", "redis.call('SET', 'whole', '1') redis.call('RPUSH', 'line', '1')", "0"})
                  ->kind,
              wire::Reply::Kind::null);
  }
  auto server = start();
  EXPECT_EQ(ask(server.url(), {"LLEN", "line"})->integer, 1);
  EXPECT_EQ(ask(server.url(), {"GET", "whole"})->text, "1");
  std::ifstream log(dir() + "/server.log");
  EXPECT_NE((std::string{std::istreambuf_iterator<char>(log), {}}).find("torn transaction"),
            std::string::npos);
}

TEST_F(EmbeddedServer, SignalsOfTheTerminalReachTheOwnerAlone) {
  auto server = start();
  const auto pid = server.server_pid();
  const auto guardian = parent_of(pid);
  EXPECT_EQ(::getpgid(pid), pid);
  EXPECT_NE(::getpgid(guardian), ::getpgid(0));
  EXPECT_NE(::getsid(guardian), ::getsid(0));
  // Asked rather than tried: a signal that kills may take a while to be seen.
  const auto ignored = std::stoull(status_of(guardian, "SigIgn:"), nullptr, 16);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP})
    EXPECT_NE(ignored >> (signal - 1) & 1U, 0U) << ::strsignal(signal);
  // The server must end by SIGTERM, so it must not inherit that.
  EXPECT_EQ(std::stoull(status_of(pid, "SigIgn:"), nullptr, 16) >> (SIGTERM - 1) & 1U, 0U);
}

TEST_F(EmbeddedServer, NoDescriptorOfTheOwnerStaysOpen) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, 0), 0);  // not CLOEXEC
  auto server = start();
  const auto guardian = parent_of(server.server_pid());
  for (const auto pid : {server.server_pid(), guardian}) {
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
      std::error_code ignored;
      const auto target = fs::read_symlink(entry.path(), ignored);
      EXPECT_NE(target, fs::read_symlink("/proc/self/fd/" + std::to_string(pipe[0])))
          << entry.path();
    }
  }
  EXPECT_EQ(fs::read_symlink("/proc/" + std::to_string(guardian) + "/fd/0"), "/dev/null");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

// ---- What stands in the way ----

TEST_F(EmbeddedServer, AStaleSocketIsReplaced) {
  fs::create_directories(dir());
  ::close(bound_socket(socket()));
  ASSERT_TRUE(fs::exists(socket()));
  EXPECT_EQ(text(ask(start().url(), {"PING"})), "PONG");
}

TEST_F(EmbeddedServer, ASocketThatSomebodyAnswersOnIsLeftAlone) {
  fs::create_directories(dir());
  const int fd = bound_socket(socket());
  ASSERT_EQ(::listen(fd, 1), 0);
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_NE(error.detail.find("without an owner"), std::string::npos) << error.detail;
  EXPECT_TRUE(fs::exists(socket()));
  ::close(fd);
}

TEST_F(EmbeddedServer, AFileInTheSocketsPlaceIsLeftAlone) {
  fs::create_directories(dir());
  std::ofstream(socket()) << "precious";
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_NE(error.detail.find("is not a socket"), std::string::npos) << error.detail;
  EXPECT_EQ(fs::file_size(socket()), 8U);
}

TEST_F(EmbeddedServer, AFileInTheFoldersPlaceIsLeftAlone) {
  std::ofstream(dir()) << "precious";
  EXPECT_NE(refused().detail.find("is not a folder"), std::string::npos);
  EXPECT_NE(refused({.dir = dir() + "/below"}).detail.find("cannot be made"), std::string::npos);
  EXPECT_EQ(fs::file_size(dir()), 8U);
}

TEST_F(EmbeddedServer, TheFoldersNameMayBeSoLongAndNoLonger) {
  const auto name_of = [&](std::size_t size) { return std::string(size - root_.size() - 1, 'n'); };
  EXPECT_EQ(text(ask(start({.dir = dir(name_of(98))}).url(), {"PING"})), "PONG");
  const auto error = refused({.dir = dir(name_of(99))});
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_NE(error.detail.find("107 bytes at most"), std::string::npos) << error.detail;
  EXPECT_FALSE(fs::exists(dir(name_of(99))));
}

TEST_F(EmbeddedServer, AMissingServerProgramIsNamedWithTheWayToGetIt) {
  for (const auto& server : {std::string("no-such-server"), root_ + "/no-such-server", root_}) {
    const auto error = refused({.server = server});
    EXPECT_EQ(error.code, ErrorCode::embedded);
    EXPECT_NE(error.detail.find(server), std::string::npos) << error.detail;
    EXPECT_NE(error.detail.find("apt-get install redis-server"), std::string::npos) << error.detail;
  }
  EXPECT_FALSE(fs::exists(dir()));
}

TEST_F(EmbeddedServer, AProgramThatCannotBeExecutedIsAnError) {
  const auto path = root_ + "/garbage";
  std::ofstream(path) << "\x7f"
                         "ELF but not really";
  fs::permissions(path, fs::perms::owner_all);
  const auto error = refused({.server = path});
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_NE(error.detail.find("could not be executed"), std::string::npos) << error.detail;
}

TEST_F(EmbeddedServer, AServerThatEndsWhileStartingIsQuoted) {
  const auto error = refused({.extra_args = {"--no-such-option", "1"}});
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_NE(error.detail.find("no-such-option"), std::string::npos) << error.detail;
  EXPECT_EQ(text(ask(start().url(), {"PING"})), "PONG") << "the folder is free again";
}

TEST_F(EmbeddedServer, AServerThatNeverAnswersIsGivenUpAndKilled) {
  const auto pid_file = root_ + "/pid";
  const auto deaf =
      script("trap '' TERM; echo $$ > " + pid_file + "; echo waiting; while :; do sleep 0.1; done");
  const auto error = refused({.server = deaf, .start_timeout = 500ms});
  EXPECT_EQ(error.code, ErrorCode::embedded);
  EXPECT_NE(error.detail.find("not ready within 500 ms"), std::string::npos) << error.detail;
  EXPECT_NE(error.detail.find("waiting"), std::string::npos) << error.detail;
  pid_t pid = 0;
  ASSERT_TRUE(std::ifstream(pid_file) >> pid);
  EXPECT_TRUE(ended(pid));
}

TEST_F(EmbeddedServer, BadOptionsAreRefusedBeforeAnythingIsMade) {
  const auto refused_for = [&](const EmbeddedOptions& options, std::string_view says) {
    const auto server = Embedded::start(options);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(server.error().detail.find(says), std::string::npos) << server.error().detail;
    EXPECT_NE(server.error().field("value"), nullptr);
  };
  refused_for({.dir = dir(), .appendfsync = "often"}, "always, everysec or no");
  refused_for({.dir = dir(), .start_timeout = 0ms}, "above 0");
  refused_for({.dir = dir(), .temporary = true}, "excludes");
  refused_for({.dir = dir() + std::string(1, '\0')}, "NUL");
  for (const auto* argument :
       {"--daemonize", "--DIR", "--port 0", "--logfile=x", "--supervised", "--unixsocket"})
    refused_for({.dir = dir(), .extra_args = {argument}}, "sets itself");
  EXPECT_FALSE(fs::exists(dir()));
}

// ---- Places ----

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST_F(EmbeddedServer, TheDefaultFolderFollowsTheEnvironment) {
  const Variable home("HOME", "/somewhere");
  {
    const Variable state("XDG_STATE_HOME", "/state/");
    EXPECT_EQ(Embedded::default_dir(), "/state/echomq");
  }
  const Variable state("XDG_STATE_HOME", "relative");
  EXPECT_EQ(Embedded::default_dir(), "/somewhere/.local/state/echomq");
  const Variable no_home("HOME", nullptr);
  EXPECT_TRUE(Embedded::default_dir().ends_with("/.local/state/echomq"));
}

TEST_F(EmbeddedServer, TheDefaultFolderIsMadeAndFound) {
  const Variable state("XDG_STATE_HOME", dir("deep/state").c_str());
  EXPECT_FALSE(Embedded::running_url());
  auto server = Embedded::start().value();
  servers_.push_back(server.server_pid());
  EXPECT_EQ(server.dir(), dir("deep/state/echomq"));
  EXPECT_EQ(Embedded::running_url(), server.url());
}

TEST_F(EmbeddedServer, ATemporaryFolderIsMadeWhereTMPDIRSays) {
  const Variable tmpdir("TMPDIR", root_.c_str());
  EXPECT_EQ(fs::path(start({.temporary = true}).dir()).parent_path(), root_);
}

TEST_F(EmbeddedServer, TheServerIsLookedUpInPath) {
  const auto own = script("exec redis-server \"$@\"");
  fs::rename(own, root_ + "/valkey-server");
  const Variable path("PATH", (root_ + ":" + std::getenv("PATH")).c_str());
  auto server = start();
  EXPECT_EQ(text(ask(server.url(), {"PING"})), "PONG");
}

}  // namespace
}  // namespace echomq
