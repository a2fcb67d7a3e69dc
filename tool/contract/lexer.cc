// SPDX-License-Identifier: MIT
#include "contract/lexer.h"

#include <algorithm>
#include <array>

namespace echomq::inline v2::contract {
namespace {

constexpr std::array<std::string_view, 21> kKeywords = {
    "and",   "break", "do",  "else", "elseif", "end",    "false", "for",  "function", "if",   "in",
    "local", "nil",   "not", "or",   "repeat", "return", "then",  "true", "until",    "while"};

// Longest first: the first that matches is the operator.
constexpr std::array<std::string_view, 33> kOperators = {
    "...", "..", "==", "~=", "<=", ">=", "//", "<<", ">>", "::", "+", "-", "*", "/", "%", "^", "#",
    "&",   "|",  "~",  "<",  ">",  "=",  "(",  ")",  "{",  "}",  "[", "]", ";", ":", ",", "."};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Lexer {
 public:
  Lexer(const std::string& file, std::string_view text, Problems& problems)
      : file_(file), text_(text), problems_(problems) {}

  std::vector<Token> run() {
    for (skip_space(); at_ < text_.size(); skip_space()) next();
    start();
    take(Token::Kind::end, 0);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool sees(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }

  void skip_space() {
    for (; at_ < text_.size() && is_space(text_[at_]); ++at_)
      if (text_[at_] == '\n') ++line_;
  }

  void start() { token_ = Token{Token::Kind::end, "", "", {file_, line_}, line_}; }

  // Closes the token begun by start(): it is the next `length` bytes.
  void take(Token::Kind kind, std::size_t length) {
    token_.kind = kind;
    token_.text = std::string(text_.substr(at_, length));
    line_ += static_cast<int>(std::count(token_.text.begin(), token_.text.end(), '\n'));
    token_.last_line = line_;
    at_ += length;
    tokens_.push_back(token_);
  }

  void next() {
    start();
    if (sees("--")) return comment();
    if (peek() == '"' || peek() == '\'') return quoted(peek());
    if (peek() == '[' && bracket_level(at_) >= 0) return bracketed();
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (is_word(peek())) return word();
    for (std::string_view op : kOperators)
      if (sees(op)) return take(Token::Kind::op, op.size());
    report(problems_, token_.at, std::string("unreadable character '") + peek() + "'");
    ++at_;
  }

  // The number of '=' in an opening long bracket at `from`, or -1 where none opens.
  [[nodiscard]] int bracket_level(std::size_t from) const {
    int level = 0;
    while (from + 1 < text_.size() && text_[++from] == '=') ++level;
    return from < text_.size() && text_[from] == '[' ? level : -1;
  }

  // The offset behind the long bracket that opens at `from`.
  std::size_t bracket_end(std::size_t from, int level, const char* what) {
    const std::string close = "]" + std::string(static_cast<std::size_t>(level), '=') + "]";
    const std::size_t found = text_.find(close, from);
    if (found != std::string_view::npos) return found + close.size();
    report(problems_, token_.at, std::string("unclosed long ") + what);
    return text_.size();
  }

  void comment() {
    const std::size_t open = at_ + 2;
    if (open < text_.size() && text_[open] == '[' && bracket_level(open) >= 0)
      return take(Token::Kind::comment, bracket_end(open, bracket_level(open), "comment") - at_);
    take(Token::Kind::comment, std::min(text_.find('\n', at_), text_.size()) - at_);
  }

  void bracketed() {
    const int level = bracket_level(at_);
    const std::size_t end = bracket_end(at_, level, "string");
    const auto edge = static_cast<std::size_t>(level) + 2;
    if (end - at_ >= 2 * edge)
      token_.value = std::string(text_.substr(at_ + edge, end - at_ - 2 * edge));
    take(Token::Kind::string, end - at_);
  }

  void quoted(char quote) {
    std::size_t i = at_ + 1;
    for (; i < text_.size() && text_[i] != quote && text_[i] != '\n'; ++i) {
      if (text_[i] == '\\' && i + 1 < text_.size()) {
        i = escape(i + 1);
      } else {
        token_.value += text_[i];
      }
    }
    if (i >= text_.size() || text_[i] != quote) {
      report(problems_, token_.at, "unclosed string");
      return take(Token::Kind::string, std::min(i, text_.size()) - at_);
    }
    take(Token::Kind::string, i + 1 - at_);
  }

  // Appends what the escape at `i` (behind the backslash) denotes; returns its last byte.
  std::size_t escape(std::size_t i) {
    constexpr std::string_view kFrom = "abfnrtv";
    constexpr std::string_view kTo = "\a\b\f\n\r\t\v";
    if (is_digit(text_[i])) {
      int code = 0;
      std::size_t digits = 0;
      for (; digits < 3 && i + digits < text_.size() && is_digit(text_[i + digits]); ++digits)
        code = code * 10 + (text_[i + digits] - '0');
      token_.value += static_cast<char>(code & 0xff);
      return i + digits - 1;
    }
    const std::size_t known = kFrom.find(text_[i]);
    token_.value += known == std::string_view::npos ? text_[i] : kTo[known];
    return i;
  }

  void number() {
    std::size_t i = at_;
    const bool hex = text_[i] == '0' && (peek(1) == 'x' || peek(1) == 'X');
    for (; i < text_.size(); ++i) {
      const char c = text_[i];
      const char before = i > at_ ? text_[i - 1] : ' ';
      const bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
      if (!is_word(c) && c != '.' && !((c == '+' || c == '-') && exponent)) break;
      if (c == '.' && i + 1 < text_.size() && text_[i + 1] == '.') break;
    }
    take(Token::Kind::number, i - at_);
  }

  void word() {
    std::size_t i = at_;
    while (i < text_.size() && is_word(text_[i])) ++i;
    const std::string_view text = text_.substr(at_, i - at_);
    const bool keyword = std::find(kKeywords.begin(), kKeywords.end(), text) != kKeywords.end();
    take(keyword ? Token::Kind::keyword : Token::Kind::name, text.size());
  }

  const std::string& file_;
  std::string_view text_;
  Problems& problems_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token token_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const std::string& file, std::string_view text, Problems& problems) {
  return Lexer(file, text, problems).run();
}

}  // namespace echomq::inline v2::contract
