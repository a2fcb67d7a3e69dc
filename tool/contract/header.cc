// SPDX-License-Identifier: MIT
#include "contract/header.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string_view>

namespace echomq::inline v2::contract {
namespace {

constexpr std::array<std::string_view, 11> kTags = {"KEYS",      "ITEM KEYS", "MORE KEYS", "ARGV",
                                                    "ITEM ARGV", "RETURNS",   "STATUS",    "ERRORS",
                                                    "EMITS",     "COST",      "USES"};
constexpr std::array<std::string_view, 5> kRequired = {"KEYS", "ARGV", "RETURNS", "ERRORS", "COST"};

// The names become members of generated structs, which have an each(f) and stand beside `script`.
constexpr std::string_view kReserved[] = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char8_t",
                                          "char16_t",
                                          "char32_t",
                                          "class",
                                          "compl",
                                          "concept",
                                          "const",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "const_cast",
                                          "continue",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq",
                                          "reinterpret_cast",
                                          "each",
                                          "script",
                                          "f",
                                          "std",
                                          "linux"};

struct Tag {
  std::string name;
  std::string text;  // with its continuation lines, joined by blanks
  Position at;
};

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

std::string join(const Words& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

Words split(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The tag that a line begins with: the longest, so that "ITEM KEYS" is not read as prose.
std::string_view tag_of(std::string_view line) {
  std::string_view found;
  for (std::string_view tag : kTags)
    if (line.starts_with(tag) && (line.size() == tag.size() || line[tag.size()] == ' ') &&
        tag.size() > found.size())
      found = tag;
  return found;
}

// "FOO   text" in the place of a tag: a word in capitals and more than one blank.
bool looks_like_tag(std::string_view line) {
  const std::size_t end = line.find("  ");
  const std::string_view word = line.substr(0, std::min(end, line.size()));
  return end != std::string_view::npos && word.size() > 1 &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == std::string_view::npos;
}

// The comment lines that open the file. A license line may stand before them, and a shebang line
// (refused by the bundle) reads as a comment here.
std::vector<Token> top_block(const std::vector<Token>& tokens) {
  std::vector<Token> lines;
  int expected = 1;
  for (const Token& token : tokens) {
    if (token.kind != Token::Kind::comment || token.at.line != expected) break;
    ++expected;
    const bool ahead = token.text.find("SPDX-License-Identifier") != std::string::npos ||
                       token.text.starts_with("--#");
    if (lines.empty() && ahead) continue;
    lines.push_back(token);
  }
  return lines;
}

std::vector<Tag> read_tags(const std::string& name, const std::vector<Token>& lines,
                           Problems& problems) {
  const std::string opening = "-- " + name + ": ";
  if (!lines.front().text.starts_with(opening) || lines.front().text.size() == opening.size())
    report(
        problems, lines.front().at,
        "the header must open with '" + opening + "' and a sentence: the name is the file's path");
  std::vector<Tag> tags;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    const std::size_t start = text.find_first_not_of(' ', 2);
    if (start == std::string::npos) continue;
    const std::string content = text.substr(start);
    const std::string_view tag = start == 3 ? tag_of(content) : std::string_view();
    if (!tag.empty()) {
      tags.push_back({std::string(tag), content.substr(tag.size()), lines[i].at});
    } else if (!tags.empty() && start > 3) {
      tags.back().text += " " + content;
    } else if (!tags.empty() || looks_like_tag(content)) {
      report(problems, lines[i].at,
             "unknown tag in the header: '" + content +
                 "' (a continuation line is indented more "
                 "than its tag, prose stands before KEYS)");
    }
  }
  return tags;
}

void check_order(const std::vector<Tag>& tags, const Position& top, Problems& problems) {
  std::size_t last = 0;
  Words seen;
  for (const Tag& tag : tags) {
    const auto place =
        static_cast<std::size_t>(std::find(kTags.begin(), kTags.end(), tag.name) - kTags.begin());
    if (has(seen, tag.name))
      report(problems, tag.at, tag.name + " stands twice in the header");
    else if (place < last)
      report(problems, tag.at,
             tag.name +
                 " is out of order: KEYS, ITEM KEYS, MORE KEYS, ARGV, "
                 "ITEM ARGV, RETURNS, STATUS, ERRORS, EMITS, COST, USES");
    last = std::max(last, place);
    seen.push_back(tag.name);
    if (split(tag.text).empty()) report(problems, tag.at, tag.name + " says nothing");
  }
  for (std::string_view tag : kRequired)
    if (!has(seen, tag)) report(problems, top, "the header lacks " + std::string(tag));
}

void check_names(const Tag& tag, const Words& names, Problems& problems) {
  Words seen;
  for (const std::string& name : names) {
    const bool identifier =
        name[0] >= 'a' && name[0] <= 'z' &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!identifier)
      report(problems, tag.at,
             "'" + name + "' in " + tag.name +
                 " is not a name: use a-z, 0-9 and _ ('_' stands for "
                 "'-' and ':')");
    else if (has(kReserved, name))
      report(problems, tag.at,
             "'" + name + "' in " + tag.name + " is a reserved word of the generated C++");
    if (has(seen, name)) report(problems, tag.at, "'" + name + "' stands twice in " + tag.name);
    seen.push_back(name);
  }
}

void check_members(const Tag& tag, const Words& words, const Words& closed, Problems& problems) {
  Words seen;
  for (const std::string& word : words) {
    if (!has(closed, word))
      report(problems, tag.at, "'" + word + "' in " + tag.name + " is not one of: " + join(closed));
    if (has(seen, word)) report(problems, tag.at, "'" + word + "' stands twice in " + tag.name);
    seen.push_back(word);
  }
}

}  // namespace

const Words& class_words() {
  static const Words words = {"EMQFENCE", "EMQFULL", "EMQARG", "EMQRATE"};
  return words;
}

const Words& status_words() {
  static const Words words = {"ok",  "stale", "state", "gone",  "lock",
                              "dup", "moved", "done",  "owned", "full"};
  return words;
}

Header read_header(const std::string& name, const std::vector<Token>& tokens, Problems& problems) {
  Header header;
  const std::vector<Token> lines = top_block(tokens);
  if (lines.empty()) {
    report(problems, {tokens.front().at.file, 1},
           "no header: the file must open with '-- " + name + ": ' and its tags");
    return header;
  }
  const Position top = lines.front().at;
  header.keys_at = header.args_at = header.statuses_at = header.errors_at = header.emits_at =
      header.uses_at = top;
  const std::vector<Tag> tags = read_tags(name, lines, problems);
  check_order(tags, top, problems);

  const auto take = [](const Tag& tag, Words& into, Position& at) {
    into = split(tag.text);
    at = tag.at;
  };
  Position item_at;
  for (const Tag& tag : tags) {
    const Words words = split(tag.text);
    if (tag.name == "KEYS") take(tag, header.keys, header.keys_at);
    if (tag.name == "ITEM KEYS") take(tag, header.item_keys, item_at);
    if (tag.name == "MORE KEYS") take(tag, header.more_keys, item_at);
    if (tag.name == "ARGV") take(tag, header.args, header.args_at);
    if (tag.name == "ITEM ARGV") take(tag, header.item_args, item_at);
    if (tag.name == "STATUS") take(tag, header.statuses, header.statuses_at);
    if (tag.name == "ERRORS") take(tag, header.errors, header.errors_at);
    if (tag.name == "EMITS") take(tag, header.emits, header.emits_at);
    if (tag.name == "USES") take(tag, header.uses, header.uses_at);
    if (tag.name == "STATUS") check_members(tag, words, status_words(), problems);
    if (tag.name == "ERRORS") check_members(tag, words, class_words(), problems);
    if (tag.name.ends_with("KEYS") || tag.name.ends_with("ARGV")) check_names(tag, words, problems);
  }
  return header;
}

}  // namespace echomq::inline v2::contract
