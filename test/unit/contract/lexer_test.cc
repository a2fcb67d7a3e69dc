// SPDX-License-Identifier: MIT
#include "contract/lexer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "contract/syntax.h"

namespace echomq::inline v2::contract {
namespace {

std::vector<Token> read(const std::string& text) {
  Problems problems;
  std::vector<Token> tokens = tokenize("x.lua", text, problems);
  EXPECT_TRUE(problems.empty()) << to_string(problems.front());
  return tokens;
}

std::vector<std::string> texts(const std::vector<Token>& tokens) {
  std::vector<std::string> all;
  for (const Token& token : tokens)
    if (token.kind != Token::Kind::end) all.push_back(token.text);
  return all;
}

TEST(Lexer, SplitsNamesNumbersAndOperatorsWithoutBlanksBetween) {
  EXPECT_EQ(texts(read("a=b..c[#d]~=0x1F//1e-3...")),
            (std::vector<std::string>{"a", "=", "b", "..", "c", "[", "#", "d", "]", "~=", "0x1F",
                                      "//", "1e-3", "..."}));
}

TEST(Lexer, DecodesWhatAStringDenotes) {
  EXPECT_EQ(read(R"('a\n\065\"' )")[0].value, "a\nA\"");
  EXPECT_EQ(read(R"("T\73ME")")[0].value, "TIME");
  EXPECT_EQ(read("[[TIME]]")[0].value, "TIME");
  EXPECT_EQ(read("[==[a]]b]=]c]==]")[0].value, "a]]b]=]c");
}

TEST(Lexer, CommentsEndWhereLuaEndsThem) {
  const std::vector<Token> tokens = read("a --[[ x\n y ]] b -- c\n--[ d ]] e\nf");
  EXPECT_EQ(texts(tokens),
            (std::vector<std::string>{"a", "--[[ x\n y ]]", "b", "-- c", "--[ d ]] e", "f"}));
  EXPECT_EQ(tokens[1].last_line, 2);
  EXPECT_EQ(tokens[5].at.line, 4);
}

TEST(Lexer, ReportsWhatIsNotClosedAndGoesOn) {
  for (const char* text :
       {"x = 'abc\ny = 1", "--[[ abc", "x = [==[ abc ]=]", "x = \"abc\\", "x ? y"}) {
    Problems problems;
    const std::vector<Token> tokens = tokenize("x.lua", text, problems);
    EXPECT_EQ(problems.size(), 1U) << text;
    EXPECT_EQ(tokens.back().kind, Token::Kind::end) << text;
  }
}

TEST(Lexer, TokensJoinedByBlanksAreReadBackAlike) {
  EXPECT_TRUE(rc::check("token texts survive", [] {
    const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "local", "x1", "_y", "12", "0.5", "1e9", "'s'", "\"t\\n\"", "[[u]]", "==", "..", "...", "{",
        "]", "--[[c]]", "<<", "::", "end"));
    std::string text;
    for (const std::string& word : words) text += word + "\n";
    RC_ASSERT(texts(read(text)) == words);
  }));
}

// The reader meets drafts: any text must give findings, never a crash or an endless loop.
TEST(Lexer, AnyBytesAndAnyTokensAreReadToTheEnd) {
  EXPECT_TRUE(rc::check("bytes", [](const std::string& text) {
    Problems problems;
    RC_ASSERT(tokenize("x.lua", text, problems).back().kind == Token::Kind::end);
  }));
  EXPECT_TRUE(rc::check("tokens", [] {
    const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "local", "function", "f", "(", ")", "end", "if", "then", "else", "for", "=", "1", ",", "do",
        "in", "x", ".", "[", "]", "return", "while", "repeat", "until", "{", "}", "'s'", "..",
        "not", "-"));
    std::string text;
    for (const std::string& word : words) text += word + " ";
    Problems problems;
    parse(tokenize("x.lua", text, problems), problems);
  }));
}

TEST(Syntax, DeepNestingIsAFindingNotAnOverflow) {
  Problems problems;
  parse(tokenize("x.lua", "x = " + std::string(100000, '('), problems), problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].text.find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace echomq::inline v2::contract
