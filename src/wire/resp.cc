// SPDX-License-Identifier: MIT
#include "wire/resp.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/text.h"

namespace echomq::inline v2::wire {
namespace {

constexpr std::string_view kTypes = "+-:,#_($!=*%~>|";
// An announced count is only believed this far before its elements arrive: one batch.
constexpr std::size_t kReservedElements = 256;

std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && is_digit(text[1]) ? text.substr(1) : text;
}

bool parse_integer(std::string_view text, std::int64_t& out) {
  text = without_plus(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_length(std::string_view text, std::size_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_double(std::string_view text, double& out) {
  const bool negative = text.starts_with('-');
  const auto magnitude = negative || text.starts_with('+') ? text.substr(1) : text;
  if (magnitude == "inf" || magnitude == "nan") {
    out = magnitude == "inf" ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
  } else {
    // from_chars knows further spellings of infinity, which RESP does not.
    if (magnitude.empty() || !is_digit(magnitude[0])) return false;
    const auto* last = magnitude.data() + magnitude.size();
    const auto [end, error] = std::from_chars(magnitude.data(), last, out);
    if (error != std::errc{} || end != last) return false;
  }
  if (negative) out = -out;
  return true;
}

bool is_big_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

void RespParser::feed(std::string_view bytes) {
  if (failed_) return;
  // Moving the rest to the front is paid for by at least as many bytes that were consumed.
  if (at_ == buffer_.size() || at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    searched_ -= std::min(searched_, at_);
    dropped_ += at_;
    at_ = 0;
  }
  buffer_.append(bytes);
}

Result<std::optional<Reply>> RespParser::next() {
  while (!failed_) {
    const Step result = step();
    if (result == Step::more) return std::optional<Reply>();
    if (result != Step::complete || !close_full()) continue;
    std::optional<Reply> reply(std::move(root_.front()));
    root_.clear();
    elements_ = 0;
    return reply;
  }
  return *failed_;
}

// A value is complete: counts it, and each aggregate that it makes full. True when that was the
// reply.
bool RespParser::close_full() {
  while (!open_.empty()) {
    if (--open_.back().missing != 0) return false;
    const bool attribute = open_.back().attribute;
    open_.pop_back();
    if (!attribute) continue;
    // It is no element of anything: what it describes comes next.
    (open_.empty() ? root_ : open_.back().reply->items).pop_back();
    return false;
  }
  return true;
}

// Where the next value belongs.
Reply& RespParser::place(Reply::Kind kind) {
  Reply& reply = (open_.empty() ? root_ : open_.back().reply->items).emplace_back();
  reply.kind = kind;
  return reply;
}

RespParser::Step RespParser::step() {
  if (bulk_) return continue_bulk();
  if (at_ == buffer_.size()) return Step::more;
  const char* const first = buffer_.data() + at_;
  // Told before its line is complete, so that a peer of another protocol is recognised by one byte.
  if (kTypes.find(*first) == std::string_view::npos)
    return fail("a reply begins with an unknown type",
                std::string_view(first, buffer_.size() - at_));
  const std::size_t from = std::max(searched_, at_ + 1);
  const std::size_t newline = std::string_view(buffer_).find('\n', from);
  const bool whole = newline != std::string_view::npos;
  const std::size_t length = (whole ? newline : buffer_.size()) - at_;
  if (length > limits_.line + 2)  // the type before and the CR after are not counted
    return fail("a line is longer than " + std::to_string(limits_.line) + " bytes",
                std::string_view(first, length));
  if (!whole) {
    searched_ = buffer_.size();
    return Step::more;
  }
  if (length < 2 || first[length - 1] != '\r')
    return fail("a line does not end in CR LF", std::string_view(first, length));
  const Step result = begin(*first, std::string_view(first + 1, length - 2));
  if (result == Step::failed) return result;
  at_ += length + 1;
  return bulk_ ? continue_bulk() : result;
}

RespParser::Step RespParser::begin(char type, std::string_view line) {
  switch (type) {
    case '+':
    case '-':
      if (line.find('\r') != std::string_view::npos) return fail("a CR inside a line", line);
      place(type == '+' ? Reply::Kind::text : Reply::Kind::error).text = line;
      return Step::complete;
    case ':':
      if (!parse_integer(line, place(Reply::Kind::integer).integer))
        return fail("not a 64-bit integer", line);
      return Step::complete;
    case ',':
      if (!parse_double(line, place(Reply::Kind::number).number)) return fail("not a double", line);
      return Step::complete;
    case '#':
      if (line != "t" && line != "f") return fail("a boolean is neither t nor f", line);
      place(Reply::Kind::boolean).integer = line == "t" ? 1 : 0;
      return Step::complete;
    case '_':
      if (!line.empty()) return fail("a null with something in it", line);
      place(Reply::Kind::null);
      return Step::complete;
    case '(':
      if (!is_big_number(line)) return fail("not a big number", line);
      place(Reply::Kind::big).text = line;
      return Step::complete;
    case '$':
    case '!':
    case '=': return begin_bulk(type, line);
    default: return begin_aggregate(type, line);
  }
}

// ---- Strings that announce their length ----

RespParser::Step RespParser::begin_bulk(char type, std::string_view line) {
  if (type == '$' && line == "-1") {
    place(Reply::Kind::null);
    return Step::complete;
  }
  if (line == "?") return fail("a streamed string, which was not asked for", line);
  std::size_t length = 0;
  if (!parse_length(line, length)) return fail("the length of a string is not a number", line);
  if (length > limits_.bulk)
    return fail("a string is longer than " + std::to_string(limits_.bulk) + " bytes", line);
  if (type == '=' && length < 4) return fail("a verbatim string without its format", line);
  bulk_ = &place(type == '!' ? Reply::Kind::error : Reply::Kind::text);
  bulk_type_ = type;
  bulk_missing_ = length;
  return Step::open;
}

// Takes over what is there, so that the buffer never holds more of a long string than one feed().
RespParser::Step RespParser::continue_bulk() {
  std::string& text = bulk_->text;
  const std::size_t take = std::min(bulk_missing_, buffer_.size() - at_);
  text.append(buffer_, at_, take);
  bulk_missing_ -= take;
  at_ += take;
  if (bulk_missing_ != 0 || buffer_.size() - at_ < 2) return Step::more;
  if (buffer_[at_] != '\r' || buffer_[at_ + 1] != '\n')
    return fail("a string does not end where its length says",
                std::string_view(buffer_).substr(at_));
  at_ += 2;
  if (bulk_type_ == '=') {
    if (text[3] != ':') return fail("a verbatim string without its format", text);
    text.erase(0, 4);
  }
  bulk_ = nullptr;
  return Step::complete;
}

// ---- Aggregates ----

RespParser::Step RespParser::begin_aggregate(char type, std::string_view line) {
  if (type == '*' && line == "-1") {
    place(Reply::Kind::null);
    return Step::complete;
  }
  if (line == "?") return fail("a streamed aggregate, which was not asked for", line);
  std::size_t count = 0;
  if (!parse_length(line, count)) return fail("the length of an aggregate is not a number", line);
  const bool attribute = type == '|';
  if (count > limits_.elements) count = limits_.elements + 1;  // keeps the doubling from wrapping
  if (type == '%' || attribute) count *= 2;
  if (count > limits_.elements - elements_)
    return fail("a reply has more than " + std::to_string(limits_.elements) + " elements", line);
  if (open_.size() >= limits_.depth)
    return fail("a reply is nested deeper than " + std::to_string(limits_.depth) + " levels", line);
  if (type == '>' && !open_.empty()) return fail("a push message inside a reply", line);
  if (attribute && count == 0) return Step::open;  // describes nothing
  elements_ += count;
  Reply& reply = place(type == '*'   ? Reply::Kind::array
                       : type == '~' ? Reply::Kind::set
                       : type == '>' ? Reply::Kind::push
                                     : Reply::Kind::map);
  if (count == 0) return Step::complete;
  reply.items.reserve(std::min(count, kReservedElements));
  open_.push_back({&reply, count, attribute});
  return Step::open;
}

RespParser::Step RespParser::fail(std::string_view what, std::string_view value) {
  const std::string offset = std::to_string(dropped_ + at_);
  failed_ = Error{ErrorCode::protocol,
                  "the answer is not RESP: " + std::string(what) + ", found " + quoted(value) +
                      " at byte " + offset + "; is this a Redis or Valkey server?",
                  {{"value", std::string(value.substr(0, 64))}, {"offset", offset}}};
  bulk_ = nullptr;
  open_.clear();
  root_.clear();
  buffer_.clear();
  return Step::failed;
}

}  // namespace echomq::inline v2::wire
