// SPDX-License-Identifier: MIT
// docs/parity.md answers each line in its own words, and the tests that it names exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "test_names.h"
#include "tree.h"

namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// What is wrong with the tables of answers: "| behaviour | answer | what shows it |".
std::vector<std::string> wrong_answers(const std::string& document,
                                       const std::set<std::string>& tests) {
  static const std::regex answers(R"((has it|differs|elsewhere|no)(, (differs|elsewhere|no))?)");
  std::vector<std::string> wrong;
  for (const auto& line : docs::lines(document)) {
    if (!line.starts_with("| ") || line.starts_with("| behaviour ")) continue;
    const auto first = line.find(" | ");
    const auto second = line.find(" |", first + 3);
    if (first == std::string::npos || second == std::string::npos) {
      wrong.push_back("not three columns: " + line);
      continue;
    }
    const auto answer = line.substr(first + 3, second - first - 3);
    if (!std::regex_match(answer, answers)) wrong.push_back("no answer: " + line);
    const auto words = docs::quoted(line.substr(second));
    if (answer.starts_with("has it") && words.empty()) wrong.push_back("shows nothing: " + line);
    for (const auto& word : words)
      if (docs::looks_like_a_test(word) && !tests.contains(word))
        wrong.push_back("there is no test " + word);
  }
  return wrong;
}

TEST(Parity, AnswersEachLineAndNamesTestsThatExist) {
  EXPECT_THAT(wrong_answers(docs::read("docs/parity.md"), docs::all_tests()), IsEmpty());
}

TEST(Parity, AWrongAnswerAMissingTestAndAnEmptyClaimAreFound) {
  const std::set<std::string> tests{"A.One"};
  EXPECT_THAT(wrong_answers("| x | has it, differs | `A.One` |\n| y | elsewhere | |\n", tests),
              IsEmpty());
  EXPECT_THAT(wrong_answers("| x | not yet | |\n", tests), SizeIs(1));
  EXPECT_THAT(wrong_answers("| x | has it | `A.Two` |\n", tests), SizeIs(1));
  EXPECT_THAT(wrong_answers("| x | has it | |\n", tests), SizeIs(1));
  EXPECT_THAT(wrong_answers("| x |\n", tests), SizeIs(1));
}

}  // namespace
