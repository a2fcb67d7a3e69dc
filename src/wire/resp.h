// SPDX-License-Identifier: MIT
// RESP, the protocol that a server answers in: bytes in, whole replies out. No I/O, no clock:
// whoever owns the socket feeds what it read, in pieces of any size, and takes the replies that are
// complete.
//
//   parser.feed(bytes);
//   while (true) {
//     auto next = parser.next();
//     if (!next) return drop_connection(next.error());
//     if (!*next) break;  // the rest has not arrived yet
//     take(std::move(**next));
//   }
//
// All of RESP2 and RESP3 is read, except the streamed forms ("$?", "*?", ...), which no server
// sends unasked. Attributes ("|") describe the value after them and are skipped.
//
// A byte is looked at once, however small the pieces: half a reply stays on a stack of open
// aggregates and is never parsed again. What the other side merely announces costs next to no
// memory.
//
// Thread-safety: plain values; one parser belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "echomq/result.h"

namespace echomq::inline v2::wire {

struct Reply {
  enum class Kind : std::uint8_t {
    null,     // "_", and RESP2's "$-1" and "*-1"
    integer,  // in `integer`
    number,   // a double, in `number`
    boolean,  // 0 or 1 in `integer`
    text,     // simple, bulk and verbatim strings alike (the last without "txt:"), in `text`
    error,    // simple and bulk errors, class word first, in `text`
    array,    // in `items`
    map,      // in `items`: key, value, key, value...
    set,      // in `items`
    push,     // in `items`; answers no command
    big,      // an integer beyond 64 bits, its digits in `text`
  };

  Kind kind = Kind::null;
  std::int64_t integer = 0;
  double number = 0;
  std::string text{};
  std::vector<Reply> items{};

  [[nodiscard]] bool is_error() const noexcept { return kind == Kind::error; }
  [[nodiscard]] bool is_null() const noexcept { return kind == Kind::null; }
  [[nodiscard]] std::string_view str() const noexcept { return text; }

  friend bool operator==(const Reply&, const Reply&) = default;
};

// What a parser accepts at most. Beyond it stands a broken or hostile peer, not a large answer.
struct RespLimits {
  std::size_t depth = 128;                      // aggregates inside each other
  std::size_t bulk = std::size_t{512} << 20;    // bytes of one string
  std::size_t elements = std::size_t{1} << 22;  // values in one reply, on all levels together
  std::size_t line = std::size_t{64} << 10;     // bytes of a simple string, error, number or length
};

class RespParser {
 public:
  explicit RespParser(RespLimits limits = {}) : limits_(limits) {}
  // Moved and not copied: a half-built reply is pointed into.
  RespParser(RespParser&&) = default;
  RespParser& operator=(RespParser&&) = default;

  // Takes bytes over. After an error they are dropped.
  void feed(std::string_view bytes);

  // The next complete reply; nullopt when the bytes so far do not hold one. ErrorCode::protocol:
  // these bytes are not RESP, or over a limit. Nobody knows then where the next reply begins, so
  // the connection must be dropped; the parser answers the same error from then on.
  Result<std::optional<Reply>> next();

 private:
  enum class Step { complete, open, more, failed };

  // An aggregate whose elements are still arriving. It stays where it is: its parent gets no
  // further element before it is full.
  struct Open {
    Reply* reply;
    std::size_t missing;
    bool attribute;
  };

  Step step();
  Step begin(char type, std::string_view line);
  Step begin_bulk(char type, std::string_view line);
  Step continue_bulk();
  Step begin_aggregate(char type, std::string_view line);
  bool close_full();
  Reply& place(Reply::Kind kind);
  Step fail(std::string_view what, std::string_view value);

  RespLimits limits_;
  std::string buffer_;
  std::size_t at_ = 0;         // of buffer_, what is consumed
  std::size_t searched_ = 0;   // of buffer_, what is known to hold no end of line
  std::uint64_t dropped_ = 0;  // bytes of the stream before buffer_, for error messages
  std::vector<Reply>
      root_;  // the reply at hand, once it has begun; a vector so that it stays in place
  std::vector<Open> open_;
  std::size_t elements_ = 0;  // announced in the reply at hand
  Reply* bulk_ = nullptr;     // the string that is arriving
  char bulk_type_ = 0;
  std::size_t bulk_missing_ = 0;
  std::optional<Error> failed_;
};

}  // namespace echomq::inline v2::wire
