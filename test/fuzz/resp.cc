// SPDX-License-Identifier: MIT
// RESP. An input is one control byte and then what a server sends. The control byte:
//
//   bit 0      tight limits instead of the default ones, so that short inputs reach them
//   bit 1      asked for replies after each piece, or only now and then
//   bits 2..7  where the stream is cut
//
// Printable letters do: "a" (0x61) is tight, "d" (0x64) is not.
#include "wire/resp.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/errors.h"
#include "fuzz/heap.h"
#include "fuzz/target.h"

namespace echomq::fuzz {
namespace {

using wire::Reply;
using wire::RespLimits;
using wire::RespParser;

constexpr RespLimits kTight{.depth = 3, .bulk = 16, .elements = 12, .line = 16};

// What a stream of replies ended in.
struct RespOutcome {
  std::vector<Reply> replies;
  std::optional<Error> error;
};

// Takes what is complete. False once the parser has failed.
bool take_replies(RespParser& parser, RespOutcome& out) {
  while (true) {
    auto next = parser.next();
    if (!next) {
      out.error = next.error();
      return false;
    }
    if (!*next) return true;
    out.replies.push_back(std::move(**next));
  }
}

// Equal, and a NaN equals a NaN.
bool same_reply(const Reply& a, const Reply& b) {
  const bool same_number = a.number == b.number || (std::isnan(a.number) && std::isnan(b.number));
  return a.kind == b.kind && a.integer == b.integer && same_number && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_reply);
}

// "the answer is not RESP: <reason>", without the bytes that were found: of those, fewer have
// arrived when a stream comes in pieces.
std::string_view reason_of(const Error& error) {
  return std::string_view(error.detail).substr(0, error.detail.find(", found "));
}

void require_same_outcome(const RespOutcome& got, const RespOutcome& whole) {
  require(std::equal(got.replies.begin(), got.replies.end(), whole.replies.begin(),
                     whole.replies.end(), same_reply),
          "a stream in pieces gives the replies of the whole stream");
  require(got.error.has_value() == whole.error.has_value(),
          "a stream in pieces fails when the whole stream does",
          got.error     ? got.error->detail
          : whole.error ? whole.error->detail
                        : "");
  if (!got.error) return;
  require(*got.error->field("offset") == *whole.error->field("offset"),
          "a stream in pieces fails at the same byte", got.error->detail);
  require(reason_of(*got.error) == reason_of(*whole.error),
          "a stream in pieces fails for the same reason", got.error->detail);
}

void require_within(const Reply& reply, const RespLimits& limits, std::size_t level,
                    std::size_t& elements) {
  using Kind = Reply::Kind;
  const bool aggregate = reply.kind == Kind::array || reply.kind == Kind::map ||
                         reply.kind == Kind::set || reply.kind == Kind::push;
  require(aggregate || reply.items.empty(), "only aggregates have elements");
  require(!aggregate || level < limits.depth, "nesting ends at its limit");
  require(reply.kind != Kind::push || level == 0, "a push message is no element");
  require(reply.kind != Kind::map || reply.items.size() % 2 == 0, "a map has values for its keys");
  require(reply.kind != Kind::boolean || reply.integer == 0 || reply.integer == 1,
          "a boolean is 0 or 1");
  const bool string = reply.kind == Kind::text || reply.kind == Kind::error;
  require(reply.text.size() <= (string ? std::max(limits.bulk, limits.line) : limits.line),
          "a string ends at its limit");
  elements += reply.items.size();
  require(elements <= limits.elements, "the elements of a reply end at their limit");
  for (const auto& item : reply.items) require_within(item, limits, level + 1, elements);
}

// Of RESP3 the shortest form of each type.
void write_reply(std::string& out, const Reply& reply) {
  using Kind = Reply::Kind;
  const auto line = [&out](char type, std::string_view text) {
    out += type;
    out.append(text).append("\r\n");
  };
  const auto bulk = [&](char type) {
    line(type, std::to_string(reply.text.size()));
    out.append(reply.text).append("\r\n");
  };
  const auto aggregate = [&](char type, std::size_t count) {
    line(type, std::to_string(count));
    for (const auto& item : reply.items) write_reply(out, item);
  };
  switch (reply.kind) {
    case Kind::null: return line('_', "");
    case Kind::integer: return line(':', std::to_string(reply.integer));
    case Kind::number: {
      char digits[32];
      const auto end = std::to_chars(digits, digits + sizeof digits, reply.number).ptr;
      // A NaN's sign means nothing.
      return line(',', std::isnan(reply.number) ? "nan" : std::string_view(digits, end));
    }
    case Kind::boolean: return line('#', reply.integer != 0 ? "t" : "f");
    case Kind::text: return bulk('$');
    case Kind::error: return bulk('!');
    case Kind::array: return aggregate('*', reply.items.size());
    case Kind::map: return aggregate('%', reply.items.size() / 2);
    case Kind::set: return aggregate('~', reply.items.size());
    case Kind::push: return aggregate('>', reply.items.size());
    case Kind::big: return line('(', reply.text);
  }
}

void require_round_trip(const Reply& reply) {
  std::string bytes;
  write_reply(bytes, reply);
  RespParser parser;
  parser.feed(bytes);
  RespOutcome again;
  take_replies(parser, again);
  require(again.replies.size() == 1 && !again.error && same_reply(again.replies[0], reply),
          "a reply that is written and read again is the same", bytes);
}

// Memory follows the bytes that came, not those that were announced. The factor is the worst there
// is, a Reply in a vector that has just doubled for the three bytes of "_\r\n", here and in
// RespOutcome; the rest is what each open aggregate reserves.
class RespMemory {
 public:
  explicit RespMemory(const RespLimits& limits)
      : fixed_((limits.depth + 1) * 256 * sizeof(Reply) + 65'536), before_(heap_bytes()) {}

  void require_bounded(std::size_t fed) const {
    const auto now = heap_bytes();
    const auto held = now > before_ ? now - before_ : 0;
    require(held <= fixed_ + 128 * fed, "memory follows the bytes that came",
            std::to_string(held) + " bytes held after " + std::to_string(fed));
  }

 private:
  std::size_t fixed_;
  std::size_t before_;
};

// What the control byte says.
class RespCuts {
 public:
  explicit RespCuts(std::uint8_t control)
      : state_(control * 0x9E3779B97F4A7C15U + 1), always_asked_((control & 2U) != 0) {}

  std::size_t next_size() { return draw() % 4 == 0 ? draw() % 40 : draw() % 4; }
  bool asked() { return always_asked_ || draw() % 3 == 0; }

 private:
  std::uint64_t draw() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_ >> 11U;
  }

  std::uint64_t state_;
  bool always_asked_;
};

RespOutcome read_whole(std::string_view stream, const RespLimits& limits) {
  RespParser parser(limits);
  parser.feed(stream);
  RespOutcome out;
  if (take_replies(parser, out)) return out;
  require_loggable(*out.error);
  require(out.error->code == ErrorCode::protocol, "what is no RESP is a protocol error");
  require(out.error->field("value") != nullptr && out.error->field("offset") != nullptr,
          "the error says what was found, and where");
  parser.feed("+OK\r\n");
  const auto again = parser.next();
  require(!again && again.error().message() == out.error->message(),
          "a parser that failed stays failed");
  return out;
}

RespOutcome read_bytewise(std::string_view stream, const RespLimits& limits) {
  const RespMemory memory(limits);
  RespParser parser(limits);
  RespOutcome out;
  for (std::size_t at = 0; at < stream.size(); ++at) {
    parser.feed(stream.substr(at, 1));
    memory.require_bounded(at + 1);
    const bool going_on = take_replies(parser, out);
    memory.require_bounded(at + 1);
    if (!going_on) break;
  }
  return out;
}

RespOutcome read_in_pieces(std::string_view stream, const RespLimits& limits, RespCuts cuts) {
  RespParser parser(limits);
  RespOutcome out;
  for (std::size_t at = 0; at < stream.size();) {
    const auto piece = stream.substr(at, cuts.next_size());
    at += piece.size();
    parser.feed(piece);
    if (cuts.asked() && !take_replies(parser, out)) return out;
  }
  take_replies(parser, out);
  return out;
}

}  // namespace

void resp(std::string_view input) {
  if (input.empty()) return;
  const auto control = static_cast<std::uint8_t>(input.front());
  const auto stream = input.substr(1);
  const RespLimits limits = (control & 1U) != 0 ? kTight : RespLimits{};

  const auto whole = read_whole(stream, limits);
  for (const auto& reply : whole.replies) {
    std::size_t elements = 0;
    require_within(reply, limits, 0, elements);
    require_round_trip(reply);
  }
  require_same_outcome(read_bytewise(stream, limits), whole);
  require_same_outcome(read_in_pieces(stream, limits, RespCuts(control)), whole);
}

}  // namespace echomq::fuzz
