// SPDX-License-Identifier: MIT
// RESP as hiredis reads it: the same bytes, whole and cut, through redisReader and through our
// parser, must give the same replies. hiredis is what most clients stand on, and was written by
// other people: a mistake that our parser and our tests share shows here.
//
// RESP3 is compared where hiredis reads it, from 1.0 on. Where the two differ they do so on
// purpose; HiredisDifferences holds each difference with its reason.
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/resp.h"

#define ECHOMQ_HIREDIS_RESP3 (HIREDIS_MAJOR >= 1)
// From 1.1 on it refuses what we do in a line.
#define ECHOMQ_HIREDIS_STRICT_LINES \
  (HIREDIS_MAJOR > 1 || (HIREDIS_MAJOR == 1 && HIREDIS_MINOR >= 1))

namespace echomq::wire {
namespace {

// What one of the two made of a stream.
struct ReadByEither {
  std::vector<Reply> replies;
  std::string refusal{};  // empty: it takes the stream for RESP
};

// The sizes of the pieces that a stream comes in; what is left after the last one comes whole.
using StreamPieces = std::vector<std::size_t>;

template <class Feed>
void in_pieces(std::string_view stream, const StreamPieces& pieces, Feed feed) {
  for (const auto size : pieces) {
    const auto piece = stream.substr(0, size);
    stream.remove_prefix(piece.size());
    if (!feed(piece)) return;
  }
  feed(stream);
}

Reply of_hiredis(const redisReply& theirs) {
  using Kind = Reply::Kind;
  Reply reply;
  const auto text = [&](Kind kind) {
    reply.kind = kind;
    reply.text.assign(theirs.str, static_cast<std::size_t>(theirs.len));
  };
  const auto items = [&](Kind kind) {
    reply.kind = kind;
    for (std::size_t i = 0; i < theirs.elements; ++i)
      reply.items.push_back(of_hiredis(*theirs.element[i]));
  };
  switch (theirs.type) {
    case REDIS_REPLY_NIL: break;
    case REDIS_REPLY_INTEGER:
      reply.kind = Kind::integer;
      reply.integer = theirs.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS: text(Kind::text); break;
    case REDIS_REPLY_ERROR: text(Kind::error); break;
    case REDIS_REPLY_ARRAY: items(Kind::array); break;
#if ECHOMQ_HIREDIS_RESP3
    case REDIS_REPLY_BOOL:
      reply.kind = Kind::boolean;
      reply.integer = theirs.integer;
      break;
    case REDIS_REPLY_DOUBLE:
      reply.kind = Kind::number;
      reply.number = theirs.dval;
      break;
    case REDIS_REPLY_VERB: text(Kind::text); break;
    case REDIS_REPLY_MAP: items(Kind::map); break;
    case REDIS_REPLY_SET: items(Kind::set); break;
    case REDIS_REPLY_PUSH: items(Kind::push); break;
#endif
    default: ADD_FAILURE() << "hiredis answers an unknown type " << theirs.type;
  }
  return reply;
}

ReadByEither read_by_hiredis(std::string_view stream, const StreamPieces& pieces) {
  struct Free {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  const std::unique_ptr<redisReader, Free> reader(redisReaderCreate());
  ReadByEither out;
  in_pieces(stream, pieces, [&](std::string_view piece) {
    redisReaderFeed(reader.get(), piece.data(), piece.size());
    while (true) {
      void* taken = nullptr;
      if (redisReaderGetReply(reader.get(), &taken) != REDIS_OK) {
        out.refusal = reader->errstr;
        return false;
      }
      if (taken == nullptr) return true;
      const std::unique_ptr<redisReply, Free> reply(static_cast<redisReply*>(taken));
      out.replies.push_back(of_hiredis(*reply));
    }
  });
  return out;
}

ReadByEither read_by_us(std::string_view stream, const StreamPieces& pieces) {
  RespParser parser;
  ReadByEither out;
  in_pieces(stream, pieces, [&](std::string_view piece) {
    parser.feed(piece);
    while (true) {
      auto next = parser.next();
      if (!next) {
        out.refusal = next.error().detail;
        return false;
      }
      if (!*next) return true;
      out.replies.push_back(std::move(**next));
    }
  });
  return out;
}

// ---- The differences ----

// Words of the refusals of which the other side may know nothing.
constexpr std::array<std::string_view, 3> kOnlyWeRefuse{
    "a CR inside a line", "a line does not end in CR LF",
    "a string does not end where its length says"};
constexpr std::array<std::string_view, 4> kOnlyHiredisRefuses{
    "Bad integer value", "Bad bulk string length", "Bad multi-bulk length", "with depth > 7"};

bool is_one_of(const auto& refusals, const std::string& refusal) {
  return std::any_of(refusals.begin(), refusals.end(), [&](std::string_view known) {
    return refusal.find(known) != std::string::npos;
  });
}

struct HiredisDifference {
  std::string_view stream;
  std::string_view we_refuse;        // empty: we take it
  std::string_view hiredis_refuses;  // empty: hiredis takes it
  std::string_view reason;

  friend std::ostream& operator<<(std::ostream& out, const HiredisDifference& difference) {
    return out << difference.reason;
  }
};

class HiredisDifferences : public testing::TestWithParam<HiredisDifference> {};

TEST_P(HiredisDifferences, AreTheseAndStillThere) {
  const auto& [stream, we_refuse, hiredis_refuses, reason] = GetParam();
  const auto ours = read_by_us(stream, {});
  const auto theirs = read_by_hiredis(stream, {});
  EXPECT_EQ(ours.refusal.empty(), we_refuse.empty()) << ours.refusal;
  EXPECT_NE(ours.refusal.find(we_refuse), std::string::npos) << ours.refusal;
  EXPECT_EQ(theirs.refusal.empty(), hiredis_refuses.empty()) << theirs.refusal;
  EXPECT_NE(theirs.refusal.find(hiredis_refuses), std::string::npos) << theirs.refusal;
  EXPECT_NE(ours.replies.size(), theirs.replies.size()) << "there is no difference any more";
}

std::vector<HiredisDifference> hiredis_differences() {
  std::vector<HiredisDifference> all{
      {":+7\r\n", "", "Bad integer value", "the specification allows a sign before an integer"},
      {":007\r\n", "", "Bad integer value", "it allows any digits, zeros in front too"},
      {":-0\r\n", "", "Bad integer value", "and so a zero with a sign"},
      {"$01\r\na\r\n", "", "Bad bulk string length", "the same for a length"},
      {"*01\r\n:1\r\n", "", "Bad multi-bulk length", "and for a count"},
      {"$2\r\nabcd+x\r\n", "a string does not end where its length says", "",
       "hiredis skips the two bytes after a string without a look; to read on from a length that "
       "is "
       "wrong takes data for replies"}};
#if !ECHOMQ_HIREDIS_STRICT_LINES
  all.push_back({"+a\rb\r\n", "a CR inside a line", "",
                 "a line holds no CR: a value that does belongs into a string with its length"});
  all.push_back({"+a\nb\r\n", "a line does not end in CR LF", "", "and no LF"});
#endif
#if !ECHOMQ_HIREDIS_RESP3
  all.push_back({"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "",
                 "with depth > 7", "hiredis before 1.0 nests eight arrays, we 128"});
#endif
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, HiredisDifferences, testing::ValuesIn(hiredis_differences()));

// ---- Generated streams ----

constexpr int kStreamsPerCase = 10;  // of each of rapidcheck's cases

// 0 to `end` - 1, each as likely: rapidcheck begins with small numbers, and few of a hundred
// streams would hold more than a line.
template <class Number>
Number any_below(Number end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Number>(0, end));
}

std::string text_of_letters(std::string_view letters, std::size_t longest) {
  std::string text;
  const auto size = any_below(longest + 1);
  while (text.size() < size) text += letters[any_below(letters.size())];
  return text;
}

std::string any_resp_text(std::size_t longest) {
  return *rc::gen::resize(static_cast<int>(longest),
                          rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
}

std::string without_line_ends(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  return text;
}

std::string resp_bulk(char type, const std::string& text) {
  return type + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// Of any length.
std::int64_t any_resp_integer() {
  const auto bits = *rc::gen::resize(1'000, rc::gen::arbitrary<std::int64_t>());
  return bits >> any_below(64);
}

std::string any_resp2(int depth) {
  switch (any_below(depth > 0 ? 11 : 6)) {
    case 0: return "+" + without_line_ends(any_resp_text(20)) + "\r\n";
    case 1: return "-" + without_line_ends(any_resp_text(20)) + "\r\n";
    case 2: return ":" + std::to_string(any_resp_integer()) + "\r\n";
    case 3: return resp_bulk('$', any_resp_text(40));
    case 4: return "$-1\r\n";
    case 5: return "*-1\r\n";
    default: break;
  }
  const auto count = any_below(5);
  std::string bytes = "*" + std::to_string(count) + "\r\n";
  for (int i = 0; i < count; ++i) bytes += any_resp2(depth - 1);
  return bytes;
}

template <class Generate>
std::string any_resp_stream(Generate generate) {
  std::string stream;
  const auto count = 1 + any_below(4);
  for (int i = 0; i < count; ++i) stream += generate();
  return stream;
}

StreamPieces any_pieces_of(const std::string& stream) {
  StreamPieces pieces;
  const auto longest = *rc::gen::element<std::size_t>(1, 4, 40);
  for (std::size_t at = 0; at < stream.size(); at += pieces.back())
    pieces.push_back(1 + any_below(longest));
  return pieces;
}

void assert_same_replies(const std::string& stream) {
  for (const auto& pieces :
       {StreamPieces{}, StreamPieces(stream.size(), 1), any_pieces_of(stream)}) {
    const auto ours = read_by_us(stream, pieces);
    const auto theirs = read_by_hiredis(stream, pieces);
    if (!ours.refusal.empty()) RC_FAIL(ours.refusal);
    if (!theirs.refusal.empty()) RC_FAIL(theirs.refusal);
    RC_ASSERT(ours.replies == theirs.replies);
  }
}

TEST(HiredisOracle, ReadsTheSameRepliesOfResp2) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < kStreamsPerCase; ++i)
      assert_same_replies(any_resp_stream([] { return any_resp2(5); }));
  }));
}

#if ECHOMQ_HIREDIS_RESP3

std::string shortest_digits(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

// Attributes, bulk errors and big numbers came to hiredis one after the other, or not at all.
std::string any_resp3(int depth) {
  switch (any_below(depth > 0 ? 8 : 5)) {
    case 0: return "_\r\n";
    case 1: return *rc::gen::element<std::string>("#t\r\n", "#f\r\n");
    case 2: return "," + shortest_digits(*rc::gen::arbitrary<double>()) + "\r\n";
    case 3: return *rc::gen::element<std::string>(",inf\r\n", ",-inf\r\n");
    case 4: return any_resp2(0);
    case 5: return resp_bulk('=', "txt:" + any_resp_text(20));
    default: break;
  }
  const auto count = any_below(4);
  const auto type = *rc::gen::element('*', '%', '~');
  std::string bytes = type + std::to_string(count) + "\r\n";
  for (int i = 0; i < (type == '%' ? 2 * count : count); ++i) bytes += any_resp3(depth - 1);
  return bytes;
}

TEST(HiredisOracle, ReadsTheSameRepliesOfResp3) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < kStreamsPerCase; ++i)
      assert_same_replies(any_resp_stream(
          [] { return any_below(6) == 0 ? ">2\r\n+message\r\n" + any_resp3(3) : any_resp3(5); }));
  }));
}

#endif

// ---- Damaged streams ----

// Only bytes that mean something in RESP2, so that the damage is not noticed at once; and short
// numbers, of which no damage makes a count that hiredis would allocate gigabytes for.
constexpr std::string_view kDamage = "+-:$*0123456789\r\n\r\nab";

std::string any_small_resp2(int depth) {
  switch (any_below(depth > 0 ? 8 : 5)) {
    case 0: return "+" + without_line_ends(text_of_letters(kDamage, 5)) + "\r\n";
    case 1: return ":" + std::to_string(any_below(1'999) - 999) + "\r\n";
    case 2: return resp_bulk('$', text_of_letters(kDamage, 5));
    case 3: return "$-1\r\n";
    case 4: return "*-1\r\n";
    default: break;
  }
  const auto count = any_below(4);
  std::string bytes = "*" + std::to_string(count) + "\r\n";
  for (int i = 0; i < count; ++i) bytes += any_small_resp2(depth - 1);
  return bytes;
}

std::string damaged_resp(std::string stream) {
  const auto times = 1 + any_below(3);
  for (int i = 0; i < times && !stream.empty(); ++i) {
    const auto at = any_below(stream.size());
    const char byte = kDamage[any_below(kDamage.size())];
    switch (any_below(4)) {
      case 0: stream.erase(at, 1); break;
      case 1: stream.insert(at, 1, byte); break;
      case 2: stream.resize(at); break;
      default: stream[at] = byte;
    }
  }
  return stream;
}

// The same replies up to where one of them refuses the stream; only a known difference lets the
// other one read on from there.
void assert_same_or_known(const std::string& stream, const StreamPieces& pieces) {
  const auto ours = read_by_us(stream, pieces);
  const auto theirs = read_by_hiredis(stream, pieces);
  const auto common = std::min(ours.replies.size(), theirs.replies.size());
  RC_ASSERT(std::equal(ours.replies.begin(),
                       ours.replies.begin() + static_cast<std::ptrdiff_t>(common),
                       theirs.replies.begin()));
  const bool we_stop = !ours.refusal.empty() && ours.replies.size() == common;
  const bool they_stop = !theirs.refusal.empty() && theirs.replies.size() == common;
  if (we_stop && they_stop) return;
  if (we_stop) {
    if (!is_one_of(kOnlyWeRefuse, ours.refusal)) RC_FAIL("only we say: " + ours.refusal);
  } else if (they_stop) {
    if (!is_one_of(kOnlyHiredisRefuses, theirs.refusal))
      RC_FAIL("only hiredis says: " + theirs.refusal);
  } else {
    RC_ASSERT(ours.replies.size() == theirs.replies.size());
  }
}

TEST(HiredisOracle, RefusesTheSameDamagedStreamsButForTheDifferences) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < kStreamsPerCase; ++i) {
      const auto stream = damaged_resp(any_resp_stream([] { return any_small_resp2(3); }));
      for (const auto& pieces :
           {StreamPieces{}, StreamPieces(stream.size(), 1), any_pieces_of(stream)})
        assert_same_or_known(stream, pieces);
    }
  }));
}

}  // namespace
}  // namespace echomq::wire
