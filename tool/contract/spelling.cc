// SPDX-License-Identifier: MIT
#include "contract/spelling.h"

#include <cstdlib>
#include <string>

namespace echomq::inline v2::contract {
namespace {

constexpr double kTwoTo53 = 9007199254740992.0;

void check_number(const Token& token, Problems& problems) {
  const std::string& text = token.text;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0') {
    report(problems, token.at, "malformed number " + text);
  } else if (hex && text.find_first_of(".pP") != std::string::npos) {
    report(problems, token.at, "hexadecimal fraction " + text + ": Lua 5.1 cannot read it");
  } else if (value > kTwoTo53) {
    report(problems, token.at,
           "number " + text +
               " is above 2^53: Lua 5.1 rounds it and Lua 5.4 does not; pass it as a "
               "string in ARGV");
  }
}

// Letters behind a backslash that both languages read alike.
void check_escapes(const Token& token, Problems& problems) {
  if (token.text.starts_with("[")) return;  // long brackets know no escapes
  for (std::size_t i = 0; i + 1 < token.text.size(); ++i) {
    if (token.text[i] != '\\') continue;
    const char c = token.text[++i];
    if (std::string_view("abfnrtv\\\"'0123456789\n").find(c) == std::string_view::npos)
      report(problems, token.at,
             std::string("escape \\") + c +
                 ": Lua 5.1 and 5.4 disagree on it; write \\ddd in decimal");
  }
}

void check_lines(const Token& token, Problems& problems) {
  if (token.last_line == token.at.line) return;
  const bool comment = token.kind == Token::Kind::comment;
  report(problems, token.at,
         comment
             ? "comment over several lines: begin each line with --, so that it can be left out "
               "of what is sent"
             : "string over several lines: write it on one, with \\n");
}

void check_operator(const Token& token, Problems& problems) {
  const std::string& op = token.text;
  if (op == "//")
    report(problems, token.at, "'//' exists only since Lua 5.3: write math.floor(a / b)");
  if (op == "&" || op == "|" || op == "~" || op == "<<" || op == ">>")
    report(problems, token.at,
           "bit operator '" + op + "' exists only since Lua 5.3: use / and % by powers of two");
  if (op == "::") report(problems, token.at, "labels and goto exist only since Lua 5.2");
}

}  // namespace

void check_spelling(const std::vector<Token>& tokens, Problems& problems) {
  for (const Token& token : tokens) {
    switch (token.kind) {
      case Token::Kind::number: check_number(token, problems); break;
      case Token::Kind::string:
        check_escapes(token, problems);
        check_lines(token, problems);
        break;
      case Token::Kind::comment: check_lines(token, problems); break;
      case Token::Kind::op: check_operator(token, problems); break;
      case Token::Kind::name:
        if (token.text == "goto")
          report(problems, token.at, "goto: Lua 5.1 has none, and a loop must be a bounded for");
        break;
      case Token::Kind::keyword:
      case Token::Kind::end: break;
    }
  }
}

}  // namespace echomq::inline v2::contract
