// SPDX-License-Identifier: MIT
// The proxy itself does what the tests of bad networks believe that it does.
#include "support/chaos_proxy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "echomq/client.h"
#include "echomq_scripts.h"
#include "support/deadline.h"
#include "support/raw_client.h"
#include "support/resp_frames.h"
#include "wire/command.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Proxy : public testing::Test {
 protected:
  using Clock = std::chrono::steady_clock;

  RawClient enter() const { return RawClient(proxy.socket_path()); }
  // The connection is over: its end is read, or an error.
  static bool ended(RawClient& client, std::chrono::milliseconds deadline = 5s) {
    try {
      return client.poll(deadline).has_value() && ended(client, deadline);
    } catch (const std::runtime_error&) {
      return true;
    }
  }
  // One key for each test.
  std::string key() const {
    return "proxy:" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  static void send_command(RawClient& client, std::initializer_list<std::string_view> words) {
    std::string bytes;
    wire::append_command(bytes, words);
    client.send(bytes);
  }
  void TearDown() override { direct({"DEL", key()}); }

  TestServer& server = shared_server();
  RawClient direct = server.connect();
  ChaosProxy proxy{server};
};

TEST(RespFrames, EndWhereTheMessagesEndHoweverTheyArrive) {
  const std::vector<std::string> messages{"+OK\r\n",
                                          "$5\r\na\r\nb\r\r\n",
                                          "$-1\r\n",
                                          "*0\r\n",
                                          "*3\r\n:1\r\n*2\r\n+a\r\n$0\r\n\r\n#t\r\n",
                                          "%2\r\n+a\r\n:1\r\n+b\r\n%1\r\n+c\r\n_\r\n",
                                          ">2\r\n+invalidate\r\n*1\r\n+x\r\n",
                                          "|1\r\n+ttl\r\n:3\r\n*1\r\n+value\r\n",
                                          "-NOSCRIPT no\r\n"};
  std::string stream;
  for (const auto& message : messages) stream += message;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, stream.size()}) {
    RespFrames frames;
    std::vector<std::string> found;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      frames.feed(std::string_view(stream).substr(at, piece));
      while (auto message = frames.next()) found.push_back(*std::move(message));
    }
    EXPECT_EQ(found, messages) << "in pieces of " << piece;
  }
}

TEST(RespFrames, WhatIsNotRespPassesAsItCame) {
  RespFrames frames;
  frames.feed("+OK\r\nGET / HTTP/1.1\r\nHost");
  EXPECT_EQ(frames.next(), "+OK\r\n");
  EXPECT_EQ(frames.next(), "GET / HTTP/1.1\r\nHost");
  EXPECT_EQ(frames.next(), std::nullopt);
  frames.feed(": x\r\n");
  EXPECT_EQ(frames.next(), ": x\r\n");
}

TEST_F(Proxy, PassesCommandsAndAnswersAndCountsThem) {
  auto client = enter();
  const std::string large(300'000, 'v');
  EXPECT_EQ(client({"HELLO", "3", "SETNAME", "till:block"}).kind, Reply::Kind::map);
  EXPECT_EQ(client({"SET", key(), large}).text, "OK");
  EXPECT_EQ(client({"GET", key()}).text, large);
  EXPECT_EQ(direct({"GET", key()}).text, large);
  const auto seen = proxy.seen();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].number, 1U);
  EXPECT_EQ(seen[0].name, "till:block");
  EXPECT_TRUE(seen[0].open);
  EXPECT_EQ(seen[0].commands, 3U);
  EXPECT_EQ(seen[0].answers, 3U);
  EXPECT_GT(seen[0].bytes_to_server, large.size());
  EXPECT_GT(seen[0].bytes_to_client, large.size());
}

TEST_F(Proxy, ListensOnTcpToo) {
  ChaosProxy tcp(server, ChaosProxy::Door::tcp);
  auto client = connect(tcp.url()).value();
  EXPECT_EQ(tcp.url(), client.url());
  EXPECT_GE(client.server_version(), "7");
  EXPECT_GE(tcp.counted().accepted, 1U);
  tcp.refuse();
  ClientOptions soon;
  soon.connect_timeout = 100ms;
  EXPECT_FALSE(connect(tcp.url(), soon));
  tcp.pass();
  EXPECT_TRUE(connect(tcp.url()));
}

TEST_F(Proxy, TellsEachSideOfTheEndOfTheOther) {
  const auto clients = [this] {
    return direct({"CLIENT", "LIST"}).text.find("name=" + key()) != std::string::npos;
  };
  {
    auto client = enter();
    client({"CLIENT", "SETNAME", key()});
    EXPECT_TRUE(clients());
  }
  EXPECT_TRUE(eventually([&] { return !clients(); }, 5s));
  auto client = enter();
  const auto id = std::to_string(client({"CLIENT", "ID"}).integer);
  direct({"CLIENT", "KILL", "ID", id});
  EXPECT_TRUE(ended(client));
  EXPECT_TRUE(eventually([&] { return proxy.open_count() == 0; }, 5s));
}

TEST_F(Proxy, DelaysBothWays) {
  auto client = enter();
  client({"PING"});
  proxy.set({.delay = 60ms});
  auto begin = Clock::now();
  client({"PING"});
  EXPECT_GE(Clock::now() - begin, 120ms);
  proxy.pass();
  begin = Clock::now();
  client({"PING"});
  EXPECT_LT(Clock::now() - begin, 100ms);
}

TEST_F(Proxy, DripsBytesAndLosesNone) {
  auto client = enter();
  direct({"SET", key(), std::string(200, 'd')});
  proxy.set({.drip = 10, .tick = 2ms});
  const auto begin = Clock::now();
  EXPECT_EQ(client({"GET", key()}).text, std::string(200, 'd'));
  EXPECT_GE(Clock::now() - begin, 40ms) << "some 200 bytes, 10 in each tick of 2 ms";
  const auto longer = std::string(2'000'000, 'e');
  direct({"SET", key(), longer});
  send_command(client, {"GET", key()});
  EXPECT_FALSE(client.poll(50ms));
  proxy.pass();
  EXPECT_EQ(client.receive().text, longer);
}

TEST_F(Proxy, CutsAllOrOne) {
  auto main = enter();
  auto block = enter();
  main({"CLIENT", "SETNAME", "till"});
  block({"CLIENT", "SETNAME", "till:block"});
  EXPECT_EQ(proxy.cut(ChaosProxy::named(":block")), 1U);
  EXPECT_TRUE(ended(block));
  EXPECT_EQ(main({"PING"}).text, "PONG");
  EXPECT_EQ(proxy.cut(ChaosProxy::number(1)), 1U);
  EXPECT_TRUE(ended(main));
  EXPECT_EQ(proxy.cut(), 0U);
  EXPECT_EQ(proxy.counted().cut, 2U);
  auto next = enter();
  EXPECT_EQ(next({"PING"}).text, "PONG");
}

TEST_F(Proxy, ABlackholeSwallowsForEverWhatHasBeenInIt) {
  auto before = enter();
  EXPECT_EQ(before({"PING"}).text, "PONG");
  proxy.set({.blackhole = true});
  auto inside = enter();
  for (auto* client : {&before, &inside}) {
    send_command(*client, {"SET", key(), "x"});
    EXPECT_FALSE(client->poll(30ms));
  }
  EXPECT_TRUE(eventually([&] { return proxy.counted().swallowed > 0; }, 5s));
  proxy.pass();
  send_command(before, {"SET", key(), "x"});
  EXPECT_FALSE(before.poll(30ms));
  EXPECT_EQ(direct({"EXISTS", key()}).integer, 0);
  auto after = enter();
  EXPECT_EQ(after({"PING"}).text, "PONG");
}

TEST_F(Proxy, ABlackholeOfSomeTakesThemByTheirNames) {
  proxy.set({.blackhole = true}, ChaosProxy::named(":block"));
  auto main = enter();
  auto block = enter();
  EXPECT_EQ(main({"CLIENT", "SETNAME", "till"}).text, "OK");
  send_command(block, {"CLIENT", "SETNAME", "till:block"});
  EXPECT_FALSE(block.poll(30ms));
  EXPECT_EQ(main({"PING"}).text, "PONG");
}

// As when its last packet was lost: the server is told nothing and runs what still comes.
TEST_F(Proxy, HalfClosedToTheClient) {
  auto client = enter();
  EXPECT_EQ(client({"PING"}).text, "PONG");
  EXPECT_EQ(proxy.half_close(ChaosProxy::Way::to_client), 1U);
  EXPECT_TRUE(ended(client));
  send_command(client, {"SET", key(), "late"});
  EXPECT_TRUE(eventually([&] { return direct({"GET", key()}).text == "late"; }, 5s));
  EXPECT_EQ(proxy.counted().half_closed, 1U);
}

TEST_F(Proxy, HalfClosedToTheServer) {
  auto client = enter();
  const auto id = " id=" + std::to_string(client({"CLIENT", "ID"}).integer) + " ";
  EXPECT_EQ(proxy.half_close(ChaosProxy::Way::to_server), 1U);
  EXPECT_TRUE(eventually(
      [&] {
        return ("\n " + direct({"CLIENT", "LIST"}).text).find(id) == std::string::npos;
      },
      5s));
  send_command(client, {"SET", key(), "never"});
  EXPECT_FALSE(client.poll(30ms)) << "the client is told nothing";
  EXPECT_EQ(direct({"EXISTS", key()}).integer, 0);
}

TEST_F(Proxy, InjectsAtAnyPlace) {
  auto client = enter();
  client({"PING"});
  EXPECT_EQ(proxy.inject("+never asked for\r\n"), 1U);
  EXPECT_EQ(client.receive().text, "never asked for");
  direct({"SET", key(), std::string(100, 'a')});
  proxy.set({.drip = 20, .tick = 20ms});
  send_command(client, {"GET", key()});
  ASSERT_TRUE(eventually([&] { return proxy.seen().at(0).bytes_to_client >= 40; }, 5s));
  proxy.inject("zzz");
  proxy.pass();
  EXPECT_THROW(client.receive(), std::runtime_error) << "in the middle of the string";
  EXPECT_EQ(proxy.counted().injected, 18U + 3U);
}

TEST_F(Proxy, RefusesAndLetsInAgain) {
  auto inside = enter();
  EXPECT_EQ(inside({"PING"}).text, "PONG");
  proxy.refuse();
  EXPECT_THROW(enter(), std::runtime_error);
  EXPECT_EQ(inside({"PING"}).text, "PONG") << "who is in stays";
  proxy.pass();
  auto next = enter();
  EXPECT_EQ(next({"PING"}).text, "PONG");
}

TEST_F(Proxy, LosesTheAnswerOfACommandThatWasRun) {
  proxy.lose(Loss::answer, "INCR", {.after = 1, .times = 2});
  for (int time = 0; time < 3; ++time) {
    auto client = enter();
    EXPECT_EQ(client({"PING"}).text, "PONG");
    if (time == 0) {
      EXPECT_EQ(client({"INCR", key()}).integer, 1) << "the first one is let pass";
    }
    // In the same write: what comes before it is answered.
    std::string pipeline;
    wire::append_command(pipeline, {"ECHO", "before"});
    wire::append_command(pipeline, {"INCR", key()});
    wire::append_command(pipeline, {"ECHO", "after"});
    client.send(pipeline);
    EXPECT_EQ(client.receive().text, "before");
    if (time < 2) {
      EXPECT_TRUE(ended(client));
    } else {
      EXPECT_EQ(client.receive().integer, 4);
      EXPECT_EQ(client.receive().text, "after");
    }
  }
  EXPECT_EQ(proxy.lost("INCR"), 2U);
  EXPECT_EQ(proxy.counted().cut, 2U);
  EXPECT_EQ(direct({"GET", key()}).text, "4") << "each one was run";
}

TEST_F(Proxy, LosesACommandThatIsNotRun) {
  proxy.lose(Loss::command, "INCR");
  auto client = enter();
  std::string pipeline;
  wire::append_command(pipeline, {"SET", key(), "7"});
  wire::append_command(pipeline, {"INCR", key()});
  client.send(pipeline);
  EXPECT_TRUE(ended(client));
  EXPECT_EQ(proxy.lost("INCR"), 1U);
  EXPECT_NE(direct({"GET", key()}).text, "8");
}

TEST_F(Proxy, FallsSilentAtAnAnswer) {
  proxy.lose(Loss::silence, "INCR");
  auto client = enter();
  send_command(client, {"INCR", key()});
  send_command(client, {"SET", key() + ":2", "x", "PX", "5000"});
  EXPECT_FALSE(client.poll(30ms));
  EXPECT_TRUE(eventually(
      [&] {
        return direct({"EXISTS", key() + ":2"}).integer == 1;
      },
      5s))
      << "the server hears it still";
  EXPECT_EQ(direct({"GET", key()}).text, "1");
  EXPECT_EQ(proxy.lost("INCR"), 1U);
  auto next = enter();
  EXPECT_EQ(next({"PING"}).text, "PONG");
}

TEST_F(Proxy, ShutsTheDoorBehindWhatItLost) {
  proxy.lose(Loss::answer, "INCR", {.shut = true});
  auto client = enter();
  send_command(client, {"INCR", key()});
  EXPECT_TRUE(ended(client));
  EXPECT_THROW(enter(), std::runtime_error);
  proxy.refuse(false);
  auto next = enter();
  EXPECT_EQ(next({"INCR", key()}).integer, 2);
}

// The command that a server does not know by its digest is sent again by its source: that one
// counts.
TEST_F(Proxy, FindsAScriptByItsNameWhicheverWayItIsSent) {
  const Script& script = scripts::QueueCounts::script;
  proxy.lose(Loss::answer, "queue/counts");
  const auto digest = [&](RawClient& client) {
    send_command(client, {"EVALSHA", script.sha1, "0"});
  };
  direct({"SCRIPT", "FLUSH"});
  auto client = enter();
  digest(client);
  EXPECT_TRUE(client.receive().text.starts_with("NOSCRIPT"));
  EXPECT_EQ(proxy.lost("queue/counts"), 0U);
  send_command(client, {"EVAL", script.source, "0"});
  EXPECT_TRUE(ended(client));
  EXPECT_EQ(proxy.lost("queue/counts"), 1U);
  auto next = enter();
  digest(next);
  EXPECT_TRUE(next.receive().is_error()) << "called without keys; but known";
}

TEST_F(Proxy, TellsAnotherTime) {
  auto client = enter();
  proxy.shift_time(-3'600s);
  const auto shifted = client({"TIME"});
  proxy.shift_time(0s);
  const auto plain = client({"TIME"});
  ASSERT_EQ(shifted.items.size(), 2U);
  ASSERT_EQ(plain.items.size(), 2U);
  EXPECT_NEAR(std::stod(shifted.items[0].text), std::stod(plain.items[0].text) - 3'600, 5);
  EXPECT_EQ(client({"PING"}).text, "PONG");
}

}  // namespace
}  // namespace echomq::test
