// SPDX-License-Identifier: MIT
// The parser against an encoder that is too simple to be wrong: any reply, cut anywhere, comes
// back.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "wire/command.h"
#include "wire/resp.h"

namespace echomq::wire {
namespace {

using Kind = Reply::Kind;

std::string any_bytes() { return *rc::gen::container<std::string>(rc::gen::arbitrary<char>()); }

std::string any_line() {
  return *rc::gen::container<std::string>(
      rc::gen::suchThat(rc::gen::arbitrary<char>(), [](char c) { return c != '\r' && c != '\n'; }));
}

std::string digits_of(double number) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

std::string bulk(char type, const std::string& bytes) {
  return type + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n";
}

// A reply and one of the ways to write it down.
std::pair<Reply, std::string> any_reply(int depth) {
  Reply reply;
  std::string bytes;
  if (depth > 0 && *rc::gen::inRange(0, 10) == 9)
    bytes += "|1\r\n+attribute\r\n" + any_reply(depth - 1).second;
  switch (*rc::gen::inRange(0, depth > 0 ? 13 : 9)) {
    case 0: {
      const auto* null = *rc::gen::element("_\r\n", "$-1\r\n", "*-1\r\n");
      return {reply, bytes + null};
    }
    case 1:
      reply.kind = Kind::integer;
      reply.integer = *rc::gen::arbitrary<std::int64_t>();
      return {reply, bytes + ":" + std::to_string(reply.integer) + "\r\n"};
    case 2:
      reply.kind = Kind::number;
      reply.number = *rc::gen::arbitrary<double>();
      return {reply, bytes + "," + digits_of(reply.number) + "\r\n"};
    case 3:
      reply.kind = Kind::boolean;
      reply.integer = *rc::gen::inRange(0, 2);
      return {reply, bytes + (reply.integer != 0 ? "#t\r\n" : "#f\r\n")};
    case 4:
      reply.kind = *rc::gen::element(Kind::text, Kind::error);
      reply.text = any_line();
      return {reply, bytes + (reply.is_error() ? "-" : "+") + reply.text + "\r\n"};
    case 5:
      reply.kind = *rc::gen::element(Kind::text, Kind::error);
      reply.text = any_bytes();
      return {reply, bytes + bulk(reply.is_error() ? '!' : '$', reply.text)};
    case 6:
      reply.kind = Kind::text;
      reply.text = any_bytes();
      return {reply, bytes + bulk('=', "txt:" + reply.text)};
    case 7:
      reply.kind = Kind::big;
      reply.text = std::to_string(*rc::gen::arbitrary<std::int64_t>()) + "00000000000000000000";
      return {reply, bytes + "(" + reply.text + "\r\n"};
    case 8:
      reply.kind = Kind::text;
      reply.text = any_bytes();
      return {reply, bytes + bulk('$', reply.text)};
    default: break;
  }
  reply.kind = *rc::gen::element(Kind::array, Kind::map, Kind::set);
  auto count = *rc::gen::inRange(0, 5);
  bytes += reply.kind == Kind::array ? "*" : reply.kind == Kind::map ? "%" : "~";
  bytes += std::to_string(count) + "\r\n";
  if (reply.kind == Kind::map) count *= 2;
  for (int i = 0; i < count; ++i) {
    auto [item, item_bytes] = any_reply(depth - 1);
    reply.items.push_back(std::move(item));
    bytes += item_bytes;
  }
  return {reply, bytes};
}

std::vector<Reply> take_all(RespParser& parser) {
  std::vector<Reply> out;
  while (true) {
    auto next = parser.next();
    if (!next) RC_FAIL(next.error().message());
    if (!*next) return out;
    out.push_back(std::move(**next));
  }
}

TEST(RespProperty, AnyRepliesCutAnywhereComeBack) {
  EXPECT_TRUE(rc::check([] {
    std::vector<Reply> expected;
    std::string stream;
    const auto count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) {
      auto [reply, bytes] = any_reply(4);
      expected.push_back(std::move(reply));
      stream += bytes;
    }

    RespParser whole;
    whole.feed(stream);
    RC_ASSERT(take_all(whole) == expected);

    RespParser bytewise;
    std::vector<Reply> got;
    for (const char c : stream) {
      bytewise.feed({&c, 1});
      for (auto& reply : take_all(bytewise)) got.push_back(std::move(reply));
    }
    RC_ASSERT(got == expected);

    // In pieces, and not asked after each of them.
    RespParser pieces;
    got.clear();
    for (std::size_t at = 0; at < stream.size();) {
      const auto size = static_cast<std::size_t>(*rc::gen::inRange(1, 40));
      pieces.feed(std::string_view(stream).substr(at, size));
      at += size;
      if (*rc::gen::arbitrary<bool>())
        for (auto& reply : take_all(pieces)) got.push_back(std::move(reply));
    }
    for (auto& reply : take_all(pieces)) got.push_back(std::move(reply));
    RC_ASSERT(got == expected);
  }));
}

TEST(RespProperty, ArbitraryBytesAreEitherRepliesOrAnErrorAndNeverBoth) {
  EXPECT_TRUE(rc::check([] {
    // Of RESP's own letters, so that more than the first byte is looked at.
    const auto noise = *rc::gen::container<std::string>(
        rc::gen::element('+', '-', ':', '$', '*', '%', '~', '>', '|', '_', '#', '=', '!', '(', ',',
                         't', 'x', ':', '0', '1', '2', '3', '?', '\r', '\n', '\r', '\n'));
    const auto outcome = [&](std::size_t piece) {
      RespParser parser(RespLimits{.depth = 4, .bulk = 8, .elements = 8, .line = 8});
      std::pair<std::vector<Reply>, std::string> out;
      for (std::size_t at = 0; at < noise.size() && out.second.empty(); at += piece) {
        parser.feed(std::string_view(noise).substr(at, piece));
        while (true) {
          auto next = parser.next();
          if (!next) {
            out.second = *next.error().field("offset");
            break;
          }
          if (!*next) break;
          out.first.push_back(std::move(**next));
        }
      }
      return out;
    };
    RC_ASSERT(outcome(1) == outcome(noise.size() + 1));
  }));
}

TEST(RespProperty, CommandsAreArraysOfTheirWords) {
  EXPECT_TRUE(rc::check([] {
    const auto words =
        *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
    const auto number = *rc::gen::arbitrary<std::int64_t>();
    std::string bytes;
    append_header(bytes, words.size() + 1);
    for (const auto& word : words) append_bulk(bytes, word);
    append_bulk(bytes, number);

    RespParser parser;
    parser.feed(bytes);
    const auto got = take_all(parser);
    RC_ASSERT(got.size() == 1U);
    RC_ASSERT(got[0].kind == Kind::array);
    RC_ASSERT(got[0].items.size() == words.size() + 1);
    for (std::size_t i = 0; i < words.size(); ++i) RC_ASSERT(got[0].items[i].text == words[i]);
    RC_ASSERT(got[0].items.back().text == std::to_string(number));
  }));
}

}  // namespace
}  // namespace echomq::wire
