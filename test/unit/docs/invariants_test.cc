// SPDX-License-Identifier: MIT
// docs/invariants.md promises that each rule has a test that fails when the rule breaks. Here the
// promise is held: a rule without a test, and a test that does not exist, are failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test_names.h"
#include "tree.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One rule: a heading "## INV3 ..." or "## R 5.4 ...", and the tests that its paragraph "Tests:
// ..." names.
struct Rule {
  std::string name;  // "INV3", "R 5.4"
  std::vector<std::string> tests;
};

std::vector<Rule> rules_of(const std::string& text) {
  std::vector<Rule> rules;
  bool naming = false;
  for (const auto& line : docs::lines(text)) {
    if (line.starts_with("## ")) {
      auto name = line.substr(3);
      const auto end = name.find(' ', name.starts_with("R ") ? 2 : 0);
      rules.push_back({name.substr(0, end), {}});
      naming = false;
    } else if (line.empty()) {
      naming = false;
    } else if (line.starts_with("Tests:")) {
      naming = true;
    }
    if (naming && !rules.empty())
      for (const auto& word : docs::quoted(line)) rules.back().tests.push_back(word);
  }
  return rules;
}

// "3" for a test such as Fence.INV3_Holds, INV3Fence.Holds or Key.Invariant3Holds; empty for
// others.
std::string invariant_of(const std::string& test) {
  const auto name = test.substr(test.find('.') + 1);
  for (const auto& [text, word] :
       {std::pair(test, std::string("INV")), std::pair(name, std::string("INV")),
        std::pair(name, std::string("Invariant"))})
    if (text.starts_with(word) && text.size() > word.size() && text[word.size()] >= '1' &&
        text[word.size()] <= '9')
      return text.substr(word.size(), 1);
  return {};
}

std::vector<std::string> problems(const std::vector<Rule>& rules,
                                  const std::set<std::string>& tests) {
  std::vector<std::string> found;
  for (const auto& rule : rules) {
    if (rule.tests.empty()) found.push_back(rule.name + " names no test");
    for (const auto& test : rule.tests)
      if (!tests.contains(test))
        found.push_back(rule.name + " names " + test + ", which does not exist");
  }
  // Of the tests that carry an invariant's number in their names, each suite is represented there.
  for (const auto& test : tests) {
    const auto number = invariant_of(test);
    if (number.empty()) continue;
    const auto suite = test.substr(0, test.find('.') + 1);
    const auto listed = [&](const Rule& rule) {
      return rule.name == "INV" + number &&
             std::any_of(rule.tests.begin(), rule.tests.end(),
                         [&suite](const std::string& named) { return named.starts_with(suite); });
    };
    if (std::none_of(rules.begin(), rules.end(), listed))
      found.push_back("INV" + number + " names no test of the suite of " + test);
  }
  return found;
}

TEST(Invariants, EachNamesItsTestsAndTheyExist) {
  EXPECT_THAT(problems(rules_of(docs::read("docs/invariants.md")), docs::all_tests()), IsEmpty());
}

TEST(Invariants, AllSevenAreThereAndInOrder) {
  std::vector<std::string> names;
  for (const auto& rule : rules_of(docs::read("docs/invariants.md")))
    if (rule.name.starts_with("INV")) names.push_back(rule.name);
  EXPECT_THAT(names, ElementsAre("INV1", "INV2", "INV3", "INV4", "INV5", "INV6", "INV7"));
}

TEST(Invariants, EachFurtherRuleIsASectionOfTheProtocol) {
  const auto protocol = docs::read("docs/protocol.md");
  std::size_t count = 0;
  for (const auto& rule : rules_of(docs::read("docs/invariants.md"))) {
    if (!rule.name.starts_with("R ")) continue;
    ++count;
    const auto number = rule.name.substr(2);
    const bool sub = number.find('.') != std::string::npos;
    const auto heading = (sub ? "\n### " : "\n## ") + number + (sub ? " " : ". ");
    EXPECT_NE(protocol.find(heading), std::string::npos) << rule.name;
  }
  EXPECT_GE(count, 10U);
}

// INV6: interoperation is claimed only where a test ran it.
TEST(Invariants, Invariant6ARuntimeIsListedOnlyWithATestThatExists) {
  const auto tests = docs::all_tests();
  const auto part =
      docs::section(docs::read("docs/protocol.md"), "## 13. Runtimes that speak this wire");
  std::size_t runtimes = 0;
  for (const auto& line : docs::lines(part)) {
    if (!line.starts_with("| ") || line.starts_with("| runtime ")) continue;
    ++runtimes;
    std::size_t named = 0;
    for (const auto& word : docs::quoted(line)) {
      if (!docs::looks_like_a_test(word)) continue;
      ++named;
      EXPECT_TRUE(tests.contains(word)) << line;
    }
    EXPECT_GE(named, 1U) << line;
  }
  EXPECT_GE(runtimes, 1U);
}

// "Not run: Valkey, ..." up to the end of its paragraph; empty where a text has none.
std::string not_run(const std::string& text) {
  const auto from = text.find("\nNot run: ");
  return from == std::string::npos ? std::string()
                                   : text.substr(from, text.find("\n\n", from) - from);
}

TEST(Invariants, Invariant6WhatIsNamedAndWasNotRunIsSaidToBe) {
  const auto table =
      docs::section(docs::read("docs/protocol.md"), "## 13. Runtimes that speak this wire");
  for (const auto& [where, text] :
       {std::pair("docs/protocol.md, section 13", table),
        std::pair("README.md", docs::read("README.md")),
        std::pair("clients/node/README.md", docs::read("clients/node/README.md"))}) {
    const auto said = not_run(text);
    EXPECT_THAT(said, HasSubstr("runtimes other than")) << where;
    for (const auto* const server : {"Valkey", "Dragonfly"}) {
      // A row with a test (see above) is what takes a server off this list.
      if (table.find(std::string("\n| ") + server) == std::string::npos) {
        EXPECT_THAT(said, HasSubstr(server)) << where;
      } else {
        EXPECT_THAT(said, Not(HasSubstr(server))) << where;
      }
    }
  }
}

TEST(Invariants, ARuleWithoutATestAndATestThatIsNotThereAreFound) {
  const auto rules = rules_of(
      "# Rules\n\n## INV1 First\nWords with `A.Word` that is no test.\n\nTests: "
      "`Suite.One`,\n`Suite.Two`\n\n"
      "## INV2 Second\nWords.\n\n## R 5.4 Third\n\nTests: `Suite.Gone`\n");
  EXPECT_THAT(problems(rules, {"Suite.One", "Suite.Two", "Suite.INV1_Holds", "INV2Fence.Holds",
                               "Other.Invariant2Holds"}),
              ElementsAre("INV2 names no test", "R 5.4 names Suite.Gone, which does not exist",
                          "INV2 names no test of the suite of INV2Fence.Holds",
                          "INV2 names no test of the suite of Other.Invariant2Holds"));
}

TEST(Invariants, TestsAreFoundInTheirSourcesHoweverTheyAreBroken) {
  std::set<std::string> tests;
  docs::collect_tests(
      "TEST(A, One) {}\nTEST_F(B,\n       Two) {}\n  TEST_P( C , Three ) {}\n// TEST(D, "
      "Four)\nTESTS(E, Five)\n",
      tests);
  EXPECT_THAT(tests, ElementsAre("A.One", "B.Two", "C.Three"));
}

}  // namespace
