// SPDX-License-Identifier: MIT
#include "wire/handshake.h"

#include <gtest/gtest.h>

namespace echomq::wire {
namespace {

Reply text(std::string value, Reply::Kind kind = Reply::Kind::text) {
  Reply reply;
  reply.kind = kind;
  reply.text = std::move(value);
  return reply;
}

Reply hello(std::int64_t id = 42) {
  Reply reply;
  reply.kind = Reply::Kind::map;
  reply.items = {text("version"), text("7.0.15"), text("id"),
                 Reply{.kind = Reply::Kind::integer, .integer = id}};
  return reply;
}

Reply info(const std::string& version, const std::string& policy = "noeviction",
           const std::string& loading = "0") {
  return text("# Server\r\nredis_version:" + version + "\r\nrun_id:abc\r\nloading:" + loading +
              "\r\nmaxmemory_policy:" + policy + "\r\n");
}

TEST(Handshake, ASaneServerIsAccepted) {
  const auto server = judge_handshake({hello(), info("7.0.15")}, false);
  ASSERT_TRUE(server);
  EXPECT_EQ(server->version, "7.0.15");
  EXPECT_EQ(server->run_id, "abc");
  EXPECT_EQ(server->client_id, 42);
}

TEST(Handshake, RefusesServersBefore70ByVersion) {
  const auto server = judge_handshake({hello(), info("6.2.14")}, false);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::server_too_old);
  EXPECT_EQ(*server.error().field("found"), "6.2.14");
}

TEST(Handshake, RefusesServersWithoutHello) {
  const auto server = judge_handshake(
      {text("ERR unknown command `HELLO`", Reply::Kind::error), info("5.0.7")}, false);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::server_too_old);
  EXPECT_EQ(*server.error().field("found"), "5.0.7");
}

TEST(Handshake, AnEvictingServerWouldLoseJobs) {
  const auto server = judge_handshake({hello(), info("7.0.15", "allkeys-lru")}, false);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::config);
  EXPECT_EQ(*server.error().field("found"), "allkeys-lru");
  EXPECT_TRUE(judge_handshake({hello(), info("7.0.15", "allkeys-lru")}, true));
}

TEST(Handshake, WhatAnAclHidesIsUnknownNotAFailure) {
  const auto server = judge_handshake({hello(), text("NOPERM no", Reply::Kind::error)}, false);
  ASSERT_TRUE(server);
  EXPECT_EQ(server->maxmemory_policy, "unknown");
  EXPECT_EQ(server->version, "7.0.15") << "HELLO tells it too";
}

TEST(Handshake, ALoadingServerIsToldApart) {
  EXPECT_EQ(judge_handshake({hello(), info("7.0.15", "noeviction", "1")}, false).error().code,
            ErrorCode::loading);
}

TEST(Handshake, AWrongPasswordIsDenied) {
  EXPECT_EQ(judge_handshake({text("WRONGPASS invalid", Reply::Kind::error), info("7.0.15")}, false)
                .error()
                .code,
            ErrorCode::denied);
}

TEST(Handshake, KillsTheConnectionBeforeAndSelectsTheDatabase) {
  Endpoint endpoint;
  endpoint.db = 3;
  endpoint.password = "secret";
  const auto said = handshake(endpoint, "me", 17);
  EXPECT_EQ(said.replies, 4U);
  EXPECT_NE(said.bytes.find("AUTH\r\n$7\r\ndefault\r\n$6\r\nsecret"), std::string::npos);
  EXPECT_NE(said.bytes.find("SELECT\r\n$1\r\n3"), std::string::npos);
  EXPECT_NE(said.bytes.find("KILL\r\n$2\r\nID\r\n$2\r\n17"), std::string::npos);
  EXPECT_EQ(handshake(Endpoint{}, "me", 0).replies, 2U);
}

}  // namespace
}  // namespace echomq::wire
