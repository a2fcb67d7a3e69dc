// SPDX-License-Identifier: MIT
// Every rule can fail: each script of bad/ breaks one family of rules, and ends with lines that say
// which findings it must give, at which of its lines. No finding may be missing and none may be
// added.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "sample.h"

namespace echomq::inline v2::contract {
namespace {

constexpr std::string_view kExpectation = "-- refused at ";

struct Expected {
  int line = 0;
  std::string text;
};

std::vector<SourceFile> bad_scripts() {
  std::vector<SourceFile> files =
      read_sources(std::filesystem::path(__FILE__).parent_path() / "bad");
  for (SourceFile& file : files) file.path = file.path.substr(0, file.path.size() - 4);
  return files;
}

std::vector<Expected> expectations(const std::string& text) {
  std::vector<Expected> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kExpectation)) continue;
    const std::size_t colon = line.find(": ");
    all.push_back({std::stoi(line.substr(kExpectation.size())), line.substr(colon + 2)});
  }
  return all;
}

// Which file of the sample set the bad one takes the place of.
std::string place_of(const SourceFile& bad) {
  if (bad.path.starts_with("lib_")) return "lib/emit.lua";
  return bad.text.starts_with("-- node/") ? "node/sample.lua" : "job/sample.lua";
}

class BadScripts : public testing::TestWithParam<SourceFile> {};

TEST_P(BadScripts, EachFindingIsReportedAtItsLineAndNoOther) {
  const std::vector<Expected> expected = expectations(GetParam().text);
  ASSERT_FALSE(expected.empty()) << "the script does not say what is wrong with it";
  const std::string place = place_of(GetParam());
  Problems found = problems_of(sample_set_with(place, GetParam().text));
  for (const Expected& one : expected) {
    const auto match = std::find_if(found.begin(), found.end(), [&](const Problem& problem) {
      return problem.at == Position{place, one.line} &&
             problem.text.find(one.text) != std::string::npos;
    });
    if (match == found.end())
      ADD_FAILURE() << "not found at line " << one.line << ": " << one.text;
    else
      found.erase(match);
  }
  EXPECT_EQ(listing(found), "") << "(findings that the script does not announce)";
}

INSTANTIATE_TEST_SUITE_P(Contract, BadScripts, testing::ValuesIn(bad_scripts()),
                         [](const auto& one) { return one.param.path; });

TEST(Contract, AScriptThatObeysEveryRulePasses) {
  EXPECT_EQ(listing(problems_of(sample_set())), "");
}

TEST(Contract, EachFamilyOfRulesHasItsBadScript) {
  std::set<std::string> families;
  for (const SourceFile& file : bad_scripts())
    families.insert(file.path.substr(0, file.path.find('_')));
  EXPECT_EQ(families, (std::set<std::string>{"command", "fence", "header", "index", "key",
                                             "language", "lib", "redis", "spelling", "words"}));
}

}  // namespace
}  // namespace echomq::inline v2::contract
