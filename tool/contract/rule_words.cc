// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "contract/rules.h"

namespace echomq::inline v2::contract {
namespace {

using Kind = Expression::Kind;
using Found = std::map<std::string, Position>;

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The class word that a text leads with, or nothing.
std::string leading_class(const std::string& text) {
  if (!text.starts_with("EMQ")) return {};
  return text.substr(0, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
}

// The literals that the value may be: through `a and 'x' or 'y'` and parentheses.
void collect_literals(const Expression& e, Found& into) {
  if (e.kind == Kind::string) into.emplace(e.text, e.at);
  if (e.kind == Kind::group || (e.kind == Kind::binary && (e.text == "and" || e.text == "or")))
    for (const Expression* part : e.parts) collect_literals(*part, into);
}

void check_error_reply(const Expression& call, Problems& problems) {
  const Expression* first = call.parts.size() > 1 ? call.parts[1] : nullptr;
  while (first != nullptr && first->kind == Kind::binary && first->text == "..")
    first = first->parts[0];
  if (first == nullptr || first->kind != Kind::string || leading_class(first->text).empty())
    report(problems, call.at,
           "an error reply must lead with a class word, literally: EMQFENCE, ...");
}

void compare(const Found& found, const Words& declared, const char* tag, const Position& at,
             const Found& also_there, Problems& problems) {
  for (const auto& [word, where] : found)
    if (!has(declared, word))
      report(problems, where, "'" + word + "' is not in the header's " + tag);
  for (const std::string& word : declared)
    if (!found.contains(word) && !also_there.contains(word))
      report(problems, at,
             std::string(tag) + " names '" + word + "', which the script never gives");
}

}  // namespace

void check_words(const Reading& reading, Problems& problems) {
  Found classes;
  Found statuses;
  Found lib_statuses;
  Found events;
  for (const Use& use : reading.tree.uses) {
    const Expression& e = *use.expression;
    if (e.kind == Kind::string) {
      if (const std::string word = leading_class(e.text); !word.empty()) {
        classes.emplace(word, e.at);
        if (!has(class_words(), word))
          report(problems, e.at, "'" + word + "' is not in the closed list of class words");
      }
      if (has(status_words(), e.text))
        (reading.in_body(e.at) ? statuses : lib_statuses).emplace(e.text, e.at);
    }
    if (e.kind != Kind::call) continue;
    if (e.parts[0]->is_field("redis", "error_reply")) check_error_reply(e, problems);
    const bool through_pcall = e.parts[0]->is_global("pcall") && e.parts.size() > 1;
    const Expression& callee = through_pcall ? *e.parts[1] : *e.parts[0];
    if (callee.kind == Kind::name && callee.text == "emit")
      for (std::size_t i = through_pcall ? 2 : 1; i < e.parts.size(); ++i)
        collect_literals(*e.parts[i], events);
  }
  const Header& header = reading.script.header;
  compare(classes, header.errors, "ERRORS", header.errors_at, {}, problems);
  compare(statuses, header.statuses, "STATUS", header.statuses_at, lib_statuses, problems);
  compare(events, header.emits, "EMITS", header.emits_at, {}, problems);
}

}  // namespace echomq::inline v2::contract
