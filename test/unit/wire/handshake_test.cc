// SPDX-License-Identifier: MIT
#include "wire/handshake.h"

#include <gtest/gtest.h>

namespace echomq::wire {
namespace {

Reply text_reply(std::string value, Reply::Kind kind = Reply::Kind::text) {
  Reply reply;
  reply.kind = kind;
  reply.text = std::move(value);
  return reply;
}

Reply hello(std::int64_t id = 42) {
  Reply reply;
  reply.kind = Reply::Kind::map;
  reply.items = {text_reply("version"), text_reply("7.0.15"), text_reply("id"),
                 Reply{.kind = Reply::Kind::integer, .integer = id}};
  return reply;
}

Reply info(const std::string& version, const std::string& policy = "noeviction",
           const std::string& loading = "0") {
  return text_reply("# Server\r\nredis_version:" + version + "\r\nrun_id:abc\r\nloading:" +
                    loading + "\r\nmaxmemory_policy:" + policy + "\r\n");
}

Result<ServerInfo> judge(const std::vector<Reply>& replies, bool allow_eviction = false) {
  return judge_handshake(handshake({}, "me", /*resp2=*/false), replies, allow_eviction);
}

TEST(Handshake, ASaneServerIsAccepted) {
  const auto server = judge({hello(), info("7.0.15")});
  ASSERT_TRUE(server);
  EXPECT_EQ(server->version, "7.0.15");
  EXPECT_EQ(server->run_id, "abc");
  EXPECT_EQ(server->client_id, 42);
}

TEST(Handshake, RefusesServersBefore70ByVersion) {
  const auto server = judge({hello(), info("6.2.14")});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::server_too_old);
  EXPECT_EQ(*server.error().field("found"), "6.2.14");
}

TEST(Handshake, RefusesServersWithoutHello) {
  const auto server =
      judge({text_reply("ERR unknown command `HELLO`", Reply::Kind::error), info("5.0.7")});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::server_too_old);
  EXPECT_EQ(*server.error().field("found"), "5.0.7");
}

TEST(Handshake, AnEvictingServerWouldLoseJobs) {
  const auto server = judge({hello(), info("7.0.15", "allkeys-lru")});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::config);
  EXPECT_EQ(*server.error().field("found"), "allkeys-lru");
  EXPECT_TRUE(judge({hello(), info("7.0.15", "allkeys-lru")}, true));
}

TEST(Handshake, WhatAnAclHidesIsUnknownNotAFailure) {
  const auto server = judge({hello(), text_reply("NOPERM no", Reply::Kind::error)});
  ASSERT_TRUE(server);
  EXPECT_EQ(server->maxmemory_policy, "unknown");
  EXPECT_EQ(server->version, "7.0.15") << "HELLO tells it too";
}

TEST(Handshake, ALoadingServerIsToldApart) {
  EXPECT_EQ(judge({hello(), info("7.0.15", "noeviction", "1")}).error().code, ErrorCode::loading);
}

TEST(Handshake, ASentinelIsNoServer) {
  const auto sentinel =
      text_reply("# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\nrun_id:abc\r\n");
  EXPECT_EQ(judge({hello(), sentinel}).error().code, ErrorCode::unsupported);
}

TEST(Handshake, AWrongPasswordIsDenied) {
  EXPECT_EQ(
      judge({text_reply("WRONGPASS invalid", Reply::Kind::error), info("7.0.15")}).error().code,
      ErrorCode::denied);
}

TEST(Handshake, LogsInAndSelectsTheDatabase) {
  Endpoint endpoint;
  endpoint.db = 3;
  endpoint.password = "secret";
  const auto greeting = handshake(endpoint, "me", /*resp2=*/false);
  EXPECT_EQ(greeting.said.size(), 3U);
  EXPECT_NE(greeting.bytes.find("AUTH\r\n$7\r\ndefault\r\n$6\r\nsecret"), std::string::npos);
  EXPECT_NE(greeting.bytes.find("SELECT\r\n$1\r\n3"), std::string::npos);
  EXPECT_EQ(handshake(Endpoint{}, "me", /*resp2=*/false).said.size(), 2U);
}

// ---- RESP2 ----

Reply integer_reply(std::int64_t value) {
  return Reply{.kind = Reply::Kind::integer, .integer = value};
}
Reply refusal(std::string value) { return text_reply(std::move(value), Reply::Kind::error); }

TEST(HandshakeResp2, IsSaidToServersThatHaveNoHello) {
  EXPECT_TRUE(lacks_hello("ERR unknown command 'HELLO', with args beginning with: '3'"));
  EXPECT_TRUE(lacks_hello("NOPROTO unsupported protocol version"));
  EXPECT_FALSE(lacks_hello("WRONGPASS invalid username-password pair"));
  EXPECT_FALSE(lacks_hello("LOADING Redis is loading the dataset in memory"));
}

TEST(HandshakeResp2, SaysTheSameInSingleCommands) {
  Endpoint endpoint;
  endpoint.db = 3;
  endpoint.user = "worker";
  endpoint.password = "secret";
  const auto greeting = handshake(endpoint, "me", /*resp2=*/true);
  EXPECT_EQ(greeting.bytes.find("HELLO"), std::string::npos);
  EXPECT_TRUE(greeting.bytes.starts_with("*3\r\n$4\r\nAUTH\r\n$6\r\nworker\r\n$6\r\nsecret\r\n"));
  EXPECT_NE(greeting.bytes.find("SETNAME\r\n$2\r\nme"), std::string::npos);
  const auto server = judge_handshake(
      greeting,
      {text_reply("OK"), integer_reply(42), text_reply("OK"), info("7.0.15"), text_reply("OK")},
      false);
  ASSERT_TRUE(server) << server.error().message();
  EXPECT_EQ(server->client_id, 42);
  EXPECT_EQ(server->version, "7.0.15");
}

TEST(HandshakeResp2, AMissingLoginIsDenied) {
  const auto greeting = handshake({}, "me", /*resp2=*/true);
  const auto no = refusal("NOAUTH Authentication required.");
  EXPECT_EQ(judge_handshake(greeting, {no, no, no}, false).error().code, ErrorCode::denied);
}

TEST(HandshakeResp2, AWrongPasswordIsDenied) {
  Endpoint endpoint;
  endpoint.password = "wrong";
  const auto greeting = handshake(endpoint, "me", /*resp2=*/true);
  EXPECT_EQ(judge_handshake(greeting,
                            {refusal("ERR AUTH <password> called without any password configured"),
                             integer_reply(1), text_reply("OK"), info("7.0.15")},
                            false)
                .error()
                .code,
            ErrorCode::denied);
}

// ---- The connection before ----

ServerInfo told(std::int64_t client_id, const std::string& run_id) {
  return {.run_id = run_id, .client_id = client_id};
}

TEST(Leftover, OfTheSameRunOfTheServer) {
  EXPECT_EQ(leftover(told(17, "abc"), told(18, "abc")), Leftover::connection);
}

TEST(Leftover, NoneOfAServerThatHasRestartedOrOfAFirstConnection) {
  EXPECT_EQ(leftover(told(17, "abc"), told(18, "def")), Leftover::nothing)
      << "17 is someone else's by now";
  EXPECT_EQ(leftover(ServerInfo{}, told(18, "abc")), Leftover::nothing);
}

TEST(Leftover, IsUnknownWhereTheRunIsHidden) {
  EXPECT_EQ(leftover(told(17, kUnknown), told(18, kUnknown)), Leftover::unknown);
  EXPECT_EQ(leftover(told(17, "abc"), told(18, kUnknown)), Leftover::unknown);
}

TEST(Leftover, IsEndedByItsNumber) {
  EXPECT_EQ(kill_command(17), "*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n$2\r\n17\r\n");
  EXPECT_TRUE(is_denied(refusal("NOPERM this user has no permissions to run 'client|kill'")));
  EXPECT_FALSE(is_denied(refusal("ERR No such client"))) << "it is gone by itself";
  EXPECT_FALSE(is_denied(integer_reply(1)));
}

}  // namespace
}  // namespace echomq::wire
