// SPDX-License-Identifier: MIT
// connect(): what it proves about a server before it answers, and how it says what is wrong.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>

#include "support/fake_server.h"
#include "support/library_test.h"
#include "support/ports.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

ClientOptions soon(std::chrono::milliseconds timeout = 200ms) {
  ClientOptions options;
  options.connect_timeout = timeout;
  return options;
}

void expect_field(const Error& error, const char* field, const std::string& value) {
  const auto* found = error.field(field);
  ASSERT_NE(found, nullptr) << field << " is missing in " << error.message();
  EXPECT_EQ(*found, value);
}

TEST(Connect, NobodyThere) {
  const Folder folder;
  for (const auto& url :
       {"unix://" + folder.file("nobody.sock"), std::string("redis://127.0.0.1:1")}) {
    const auto got = connect(url, soon());
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, ErrorCode::unavailable) << got.error().message();
    expect_field(got.error(), "url", url);
    EXPECT_NE(got.error().detail.find(url), std::string::npos) << got.error().detail;
  }
}

TEST(Connect, SocketThatItsServerLeftBehind) {
  const Folder folder;
  const auto path = folder.file("stale.sock");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  const auto got = connect("unix://" + path, soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::unavailable) << got.error().message();
  EXPECT_NE(got.error().detail.find("Connection refused"), std::string::npos) << got.error().detail;
}

TEST(Connect, MalformedUrls) {
  for (const std::string url : {"", "localhost", "http://localhost", "redis://", "redis://host:0",
                                "redis://host:65536", "redis://host:port", "redis://host/one",
                                "unix://relative.sock", "unix://", "redis://a b"}) {
    const auto got = connect(url, soon());
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, ErrorCode::invalid_url) << got.error().message();
    EXPECT_NE(got.error().field("value"), nullptr) << got.error().message();
  }
}

TEST(Connect, OptionsOutOfRange) {
  const auto refused = [](const char* option, auto change) {
    ClientOptions options;
    change(options);
    const auto got = connect(shared_server().url(), options);
    ASSERT_FALSE(got) << option;
    EXPECT_EQ(got.error().code, ErrorCode::invalid_argument) << got.error().message();
    expect_field(got.error(), "option", option);
    EXPECT_NE(got.error().field("value"), nullptr);
    EXPECT_NE(got.error().field("expected"), nullptr);
  };
  refused("connect_timeout", [](ClientOptions& o) { o.connect_timeout = 0ms; });
  refused("command_timeout", [](ClientOptions& o) { o.command_timeout = -1ms; });
  refused("data_limit", [](ClientOptions& o) { o.data_limit = kMaxDataBytes + 1; });
  refused("node", [](ClientOptions& o) { o.node = 1'024; });
  refused("node_lease", [](ClientOptions& o) { o.node_lease = 2'999ms; });
  refused("name", [](ClientOptions& o) { o.name = "two words"; });
}

TEST(Connect, ServerBeforeHello) {
  FakeServer server([](const FakeServer::Words& words) {
    return words[0] == "INFO" ? info_of("5.0.14") : "-ERR unknown command `HELLO`\r\n";
  });
  const auto begun = std::chrono::steady_clock::now();
  const auto got = connect(server.url(), soon(30s));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::server_too_old) << got.error().message();
  EXPECT_NE(got.error().detail.find("5.0.14"), std::string::npos) << got.error().detail;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s) << "waiting makes no server younger";
}

TEST(Connect, ServerBeforeSeven) {
  FakeServer server([](const FakeServer::Words& words) {
    return words[0] == "HELLO" ? hello_of("6.2.14") : info_of("6.2.14");
  });
  const auto got = connect(server.url(), soon(30s));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::server_too_old) << got.error().message();
  expect_field(got.error(), "found", "6.2.14");
}

TEST(Connect, ServerThatLoadsForTooLong) {
  FakeServer server([](const FakeServer::Words& words) -> std::string {
    if (words[0] == "HELLO") return hello_of("7.0.15");
    if (words[0] == "INFO") return info_of("7.0.15", "loading:1\r\n");
    return "-LOADING Redis is loading the dataset in memory\r\n";
  });
  const auto got = connect(server.url(), soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::loading) << got.error().message();
}

TEST(Connect, WaitsForAServerThatLoads) {
  std::atomic<int> looks{0};
  FakeServer server([&looks](const FakeServer::Words& words) -> std::string {
    const bool loading = looks < 3;
    if (words[0] == "HELLO") return hello_of("7.0.15");
    if (words[0] == "INFO") ++looks;
    if (words[0] == "INFO") return info_of("7.0.15", loading ? "loading:1\r\n" : "loading:0\r\n");
    if (loading) return "-LOADING Redis is loading the dataset in memory\r\n";
    if (words[0] == "TIME") return "*2\r\n$10\r\n1800000000\r\n$1\r\n0\r\n";
    if (words[0] == "EVALSHA") return "*3\r\n$1\r\n7\r\n$1\r\n1\r\n$1\r\n0\r\n";  // node 7
    return "+OK\r\n";
  });
  const auto got = connect(server.url(), soon(30s));
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->node(), 7U);
}

TEST(Connect, ServerThatNeverAnswers) {
  FakeServer server([](const FakeServer::Words&) { return std::string(); });
  const auto got = connect(server.url(), soon());
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().code == ErrorCode::unavailable || got.error().code == ErrorCode::timeout)
      << got.error().message();
  expect_field(got.error(), "url", server.url());
}

class ConnectTo : public OwnServerTest {
 protected:
  // A TCP address of the server, with a login.
  std::string login(const std::string& user, const std::string& password) {
    return "redis://" + user + ":" + password + "@127.0.0.1:" + std::to_string(open_port(server));
  }
};

TEST_F(ConnectTo, EvictingServer) {
  redis({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto got = connect(server.url());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::config) << got.error().message();
  expect_field(got.error(), "found", "allkeys-lru");
  expect_field(got.error(), "expected", "noeviction");
  auto accepting = options();
  accepting.allow_eviction = true;
  EXPECT_TRUE(connect(server.url(), accepting));
}

// A probe that an ACL denies is "unknown", not a failure.
TEST_F(ConnectTo, ServerThatDeniesInfo) {
  redis({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  redis({"ACL", "SETUSER", "modest", "on", ">pw", "~*", "&*", "+@all", "-info"});
  auto got = connect(login("modest", "pw"), options());
  ASSERT_TRUE(got) << got.error().message();
  Queue<> q{*got, name};
  EXPECT_TRUE(q.add("works"));
}

TEST_F(ConnectTo, WrongPassword) {
  redis({"ACL", "SETUSER", "bob", "on", ">right-word", "~*", "&*", "+@all"});
  const auto got = connect(login("bob", "wrong-word"), soon(30s));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::denied) << got.error().message();
  EXPECT_EQ(got.error().message().find("wrong-word"), std::string::npos) << got.error().message();
  auto right = connect(login("bob", "right-word"), options());
  ASSERT_TRUE(right) << right.error().message();
  EXPECT_EQ(right->url().find("right-word"), std::string::npos);
}

TEST_F(ConnectTo, DeploymentOfAnotherVersion) {
  redis({"SET", reserve_key(Reserve::version), "echomq:3.0.0"});
  const auto got = connect(server.url());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::fence) << got.error().message();
  expect_field(got.error(), "found", "echomq:3.0.0");
  EXPECT_EQ(redis({"GET", reserve_key(Reserve::version)}).text, "echomq:3.0.0");
}

}  // namespace
}  // namespace echomq::test
