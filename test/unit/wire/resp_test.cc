// SPDX-License-Identifier: MIT
// The parser by tables: what each type of RESP becomes, what is refused, and where the limits are.
#include "wire/resp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace echomq::wire {
namespace {

using Kind = Reply::Kind;

Reply of(Kind kind) {
  Reply reply;
  reply.kind = kind;
  return reply;
}
Reply integer(std::int64_t number, Kind kind = Kind::integer) {
  Reply reply = of(kind);
  reply.integer = number;
  return reply;
}
Reply number(double value) {
  Reply reply = of(Kind::number);
  reply.number = value;
  return reply;
}
Reply text(std::string_view value, Kind kind = Kind::text) {
  Reply reply = of(kind);
  reply.text = value;
  return reply;
}
Reply many(Kind kind, std::vector<Reply> items) {
  Reply reply = of(kind);
  reply.items = std::move(items);
  return reply;
}

struct Read {
  std::vector<Reply> replies;
  std::optional<Error> error;
};

// Everything that `bytes` hold, fed in pieces of `piece` bytes.
Read read(std::string_view bytes, std::size_t piece, RespLimits limits = {}) {
  RespParser parser(limits);
  Read out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    parser.feed(bytes.substr(at, piece));
    while (true) {
      auto next = parser.next();
      if (!next) {
        out.error = next.error();
        return out;
      }
      if (!*next) break;
      out.replies.push_back(std::move(**next));
    }
  }
  return out;
}

Read read(std::string_view bytes, RespLimits limits = {}) {
  return read(bytes, bytes.size(), limits);
}

struct Case {
  std::string_view bytes;
  Reply reply;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.bytes; }
};

class RespType : public testing::TestWithParam<Case> {};

TEST_P(RespType, IsReadWholeAndByteByByte) {
  const auto& [bytes, reply] = GetParam();
  for (const std::size_t piece : {bytes.size(), std::size_t{1}, std::size_t{3}}) {
    const auto got = read(bytes, piece);
    ASSERT_FALSE(got.error) << got.error->message();
    ASSERT_EQ(got.replies.size(), 1U) << "in pieces of " << piece;
    EXPECT_EQ(got.replies[0], reply) << "in pieces of " << piece;
  }
}

TEST_P(RespType, IsIncompleteWithoutItsLastByte) {
  const auto bytes = GetParam().bytes;
  const auto got = read(bytes.substr(0, bytes.size() - 1));
  EXPECT_FALSE(got.error);
  EXPECT_TRUE(got.replies.empty());
}

const double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All, RespType,
    testing::Values(
        Case{"+OK\r\n", text("OK")}, Case{"+\r\n", text("")},
        Case{"-ERR no\r\n", text("ERR no", Kind::error)}, Case{":0\r\n", integer(0)},
        Case{":+7\r\n", integer(7)}, Case{":-7\r\n", integer(-7)},
        Case{":9223372036854775807\r\n", integer(std::numeric_limits<std::int64_t>::max())},
        Case{":-9223372036854775808\r\n", integer(std::numeric_limits<std::int64_t>::min())},
        Case{"$5\r\nhello\r\n", text("hello")}, Case{"$0\r\n\r\n", text("")},
        Case{"$4\r\n\r\n\r\n\r\n", text("\r\n\r\n")},
        Case{std::string_view("$3\r\na\0b\r\n", 9), text(std::string_view("a\0b", 3))},
        Case{"$-1\r\n", of(Kind::null)}, Case{"*-1\r\n", of(Kind::null)},
        Case{"_\r\n", of(Kind::null)}, Case{"#t\r\n", integer(1, Kind::boolean)},
        Case{"#f\r\n", integer(0, Kind::boolean)}, Case{",1.5\r\n", number(1.5)},
        Case{",-1e-3\r\n", number(-0.001)}, Case{",+10\r\n", number(10)},
        Case{",inf\r\n", number(kInfinity)}, Case{",-inf\r\n", number(-kInfinity)},
        Case{",5e-324\r\n", number(std::numeric_limits<double>::denorm_min())},
        Case{"(-3492890328409238509324850943850943825024385\r\n",
             text("-3492890328409238509324850943850943825024385", Kind::big)},
        Case{"!8\r\nERR a\r\nb\r\n", text("ERR a\r\nb", Kind::error)},
        Case{"=9\r\ntxt:hello\r\n", text("hello")}, Case{"=4\r\nmkd:\r\n", text("")},
        Case{"*0\r\n", many(Kind::array, {})},
        Case{"*3\r\n:1\r\n$-1\r\n+x\r\n",
             many(Kind::array, {integer(1), of(Kind::null), text("x")})},
        Case{"*2\r\n*1\r\n*0\r\n*-1\r\n",
             many(Kind::array, {many(Kind::array, {many(Kind::array, {})}), of(Kind::null)})},
        Case{"~2\r\n+a\r\n+b\r\n", many(Kind::set, {text("a"), text("b")})},
        Case{"%0\r\n", many(Kind::map, {})},
        Case{"%2\r\n+a\r\n:1\r\n+b\r\n%1\r\n+c\r\n:2\r\n",
             many(Kind::map,
                  {text("a"), integer(1), text("b"), many(Kind::map, {text("c"), integer(2)})})},
        Case{">2\r\n+message\r\n+x\r\n", many(Kind::push, {text("message"), text("x")})}));

TEST(Resp, NotANumberIsRead) {
  for (const auto* bytes : {",nan\r\n", ",-nan\r\n"}) {
    const auto got = read(bytes);
    ASSERT_EQ(got.replies.size(), 1U);
    EXPECT_TRUE(std::isnan(got.replies[0].number));
  }
}

TEST(Resp, AttributesAreSkippedWhereverTheyStand) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
    const auto got = read(
        "|1\r\n+ttl\r\n*2\r\n:1\r\n:2\r\n+first\r\n"          // before a reply
        "*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n|0\r\n:2\r\n"          // before elements
        "|1\r\n+a\r\n|1\r\n+inner\r\n+x\r\n+b\r\n+last\r\n",  // inside each other
        piece);
    ASSERT_FALSE(got.error) << got.error->message();
    const std::vector<Reply> expected{text("first"), many(Kind::array, {integer(1), integer(2)}),
                                      text("last")};
    EXPECT_EQ(got.replies, expected);
  }
}

TEST(Resp, RepliesInOneFeedComeOutInOrder) {
  const auto got = read("+a\r\n$1\r\nb\r\n*1\r\n+c\r\n:4\r\n+unfinished");
  const std::vector<Reply> expected{text("a"), text("b"), many(Kind::array, {text("c")}),
                                    integer(4)};
  EXPECT_EQ(got.replies, expected);
}

TEST(Resp, TheHelpersSayWhatTheReplyIs) {
  const auto error = read("-NOSCRIPT none\r\n").replies.at(0);
  EXPECT_TRUE(error.is_error());
  EXPECT_FALSE(error.is_null());
  EXPECT_EQ(error.str(), "NOSCRIPT none");
  EXPECT_TRUE(read("$-1\r\n").replies.at(0).is_null());
}

// ---- What is no RESP ----

struct Bad {
  std::string_view bytes;
  std::string_view says;

  friend std::ostream& operator<<(std::ostream& out, const Bad& bad) { return out << bad.bytes; }
};

class RespMalformed : public testing::TestWithParam<Bad> {};

TEST_P(RespMalformed, IsAProtocolErrorForGood) {
  const auto& [bytes, says] = GetParam();
  for (const std::size_t piece : {bytes.size(), std::size_t{1}}) {
    const auto got = read(bytes, piece);
    ASSERT_TRUE(got.error) << "in pieces of " << piece;
    EXPECT_EQ(got.error->code, ErrorCode::protocol);
    EXPECT_NE(got.error->detail.find(says), std::string::npos) << got.error->detail;
    EXPECT_TRUE(got.replies.empty());
    ASSERT_NE(got.error->field("value"), nullptr);
    ASSERT_NE(got.error->field("offset"), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RespMalformed,
    testing::Values(
        Bad{"HTTP/1.1 400 Bad Request\r\n", "unknown type"}, Bad{"\r\n", "unknown type"},
        Bad{std::string_view("\0", 1), "unknown type"}, Bad{"*1\r\nx", "unknown type"},
        Bad{"+a\n", "CR LF"}, Bad{"+\n", "CR LF"}, Bad{"+a\rb\r\n", "CR inside"},
        Bad{":\r\n", "integer"}, Bad{":1x\r\n", "integer"}, Bad{": 1\r\n", "integer"},
        Bad{":+-1\r\n", "integer"}, Bad{":+\r\n", "integer"},
        Bad{":9223372036854775808\r\n", "integer"}, Bad{",\r\n", "double"},
        Bad{",1.5x\r\n", "double"}, Bad{",infinity\r\n", "double"}, Bad{",--1\r\n", "double"},
        Bad{",1e999\r\n", "double"}, Bad{"#\r\n", "boolean"}, Bad{"#true\r\n", "boolean"},
        Bad{"_x\r\n", "null"}, Bad{"(\r\n", "big number"}, Bad{"(-\r\n", "big number"},
        Bad{"(12a\r\n", "big number"}, Bad{"$\r\n", "length of a string"},
        Bad{"$-2\r\n", "length of a string"}, Bad{"$+5\r\n", "length of a string"},
        Bad{"$5x\r\n", "length of a string"}, Bad{"!-1\r\n", "length of a string"},
        Bad{"=-1\r\n", "length of a string"},
        Bad{"$99999999999999999999\r\n", "length of a string"},
        Bad{"$2\r\nabcd\r\n", "where its length says"},
        Bad{"$2\r\nab\n\r", "where its length says"}, Bad{"=3\r\ntxt\r\n", "verbatim"},
        Bad{"=5\r\nhello\r\n", "verbatim"}, Bad{"*\r\n", "length of an aggregate"},
        Bad{"*-2\r\n", "length of an aggregate"}, Bad{"%-1\r\n", "length of an aggregate"},
        Bad{"~-1\r\n", "length of an aggregate"}, Bad{">-1\r\n", "length of an aggregate"},
        Bad{"*1x\r\n", "length of an aggregate"}, Bad{"*1\r\n>1\r\n+x\r\n", "push"},
        Bad{"$?\r\n", "streamed"}, Bad{"*?\r\n", "streamed"}, Bad{"%?\r\n", "streamed"},
        Bad{"~?\r\n", "streamed"}));

TEST(Resp, AfterAnErrorTheParserStaysFailed) {
  RespParser parser;
  parser.feed("+good\r\n:bad\r\n+good\r\n");
  EXPECT_EQ((*parser.next())->text, "good");
  const auto first = parser.next();
  ASSERT_FALSE(first);
  EXPECT_EQ(*first.error().field("offset"), "7");
  parser.feed("+good\r\n");
  const auto second = parser.next();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(), first.error().message());
}

TEST(Resp, AMessageQuotesNoRawBytesAndNotAllOfThem) {
  const auto got = read("\x01\x02\"" + std::string(500, 'z'));
  ASSERT_TRUE(got.error);
  EXPECT_NE(got.error->detail.find(R"(\x01\x02\x22zzz)"), std::string::npos) << got.error->detail;
  EXPECT_LT(got.error->detail.size(), 300U);
}

// ---- Limits ----

std::string nested(std::size_t levels) {
  std::string out;
  for (std::size_t i = 0; i < levels; ++i) out += "*1\r\n";
  return out + ":1\r\n";
}

TEST(Resp, NestingEndsAtTheDepthLimit) {
  EXPECT_EQ(read(nested(128)).replies.size(), 1U);
  const auto got = read(nested(129));
  ASSERT_TRUE(got.error);
  EXPECT_NE(got.error->detail.find("128 levels"), std::string::npos) << got.error->detail;
}

TEST(Resp, AStringMayBeAsLongAsItsLimit) {
  const RespLimits limits{.bulk = 10};
  EXPECT_EQ(read("$10\r\n0123456789\r\n", limits).replies.size(), 1U);
  EXPECT_TRUE(read("$11\r\n", limits).error);
  EXPECT_FALSE(read("$536870912\r\n").error);
  EXPECT_TRUE(read("$536870913\r\n").error);
  EXPECT_TRUE(read("!536870913\r\n").error);
}

TEST(Resp, ElementsCountOnAllLevelsTogether) {
  const RespLimits limits{.elements = 6};
  EXPECT_EQ(read("*2\r\n*2\r\n:1\r\n:2\r\n%1\r\n:1\r\n:2\r\n", limits).replies.size(), 1U);
  EXPECT_TRUE(read("*2\r\n*2\r\n:1\r\n:2\r\n*3\r\n", limits).error);
  EXPECT_TRUE(read("%4\r\n", limits).error);
  // Each reply starts afresh.
  EXPECT_EQ(
      read("*1\r\n*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n*1\r\n*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
           limits)
          .replies.size(),
      2U);
  for (const auto* huge :
       {"*18446744073709551615\r\n", "%9223372036854775808\r\n", "%18446744073709551615\r\n"})
    EXPECT_TRUE(read(huge).error) << huge;
}

TEST(Resp, ALineMayBeAsLongAsItsLimit) {
  const RespLimits limits{.line = 8};
  EXPECT_EQ(read("+12345678\r\n", limits).replies.size(), 1U);
  EXPECT_EQ(read("+12345678\r\n", 1, limits).replies.size(), 1U);
  EXPECT_TRUE(read("+123456789\r\n", limits).error);
  EXPECT_TRUE(read("+12345678901234567890", 1, limits).error)
      << "must not wait for an end for ever";
}

// ---- Large replies ----

TEST(Resp, ALargeReplyInSmallPiecesIsReadOnce) {
  // Parsing again from the start with each piece would look at 10^11 bytes here.
  constexpr std::size_t kElements = 60'000;
  std::string bytes = "*" + std::to_string(kElements) + "\r\n";
  for (std::size_t i = 0; i < kElements; ++i) bytes += "$20\r\n12345678901234567890\r\n";
  const auto got = read(bytes, 16);
  ASSERT_EQ(got.replies.size(), 1U);
  EXPECT_EQ(got.replies[0].items.size(), kElements);
  EXPECT_EQ(got.replies[0].items.back().text, "12345678901234567890");
}

TEST(Resp, ALongStringInSmallPiecesIsWhole) {
  std::string payload(3'000'000, '\0');
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(i * 31 >> 3U);
  const auto got = read("$3000000\r\n" + payload + "\r\n+next\r\n", 1000);
  ASSERT_EQ(got.replies.size(), 2U);
  EXPECT_TRUE(got.replies[0].text == payload);
  EXPECT_EQ(got.replies[1].text, "next");
}

}  // namespace
}  // namespace echomq::wire
