// SPDX-License-Identifier: MIT
// The fence's table, that of its document, and the tests of its cells are one and the same.
#include "fence/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "fence/versions.h"
#include "unit/docs/test_names.h"
#include "unit/docs/tree.h"

namespace echomq {
namespace {

using ::testing::ElementsAreArray;

std::string cell_text(FenceSide side, FenceState state) {
  const auto& cell = fence_cell(side, state);
  return std::string(name(cell.outcome)) + ": " + std::string(cell.words);
}

// "being-migrated" -> "BeingMigrated"
std::string camel(std::string_view word) {
  std::string out;
  bool up = true;
  for (const char c : word) {
    if (c != '-') out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = c == '-';
  }
  return out;
}

TEST(FenceMatrix, IsTheTableOfItsDocument) {
  std::vector<std::string> expected;
  for (const auto state : fence::kStates)
    expected.push_back("| `" + std::string(name(state)) + "` | " + cell_text(FenceSide::v1, state) +
                       " | " + cell_text(FenceSide::v2, state) + " |");
  std::vector<std::string> rows;
  for (const auto& line : docs::lines(docs::section(docs::read("docs/fence.md"), "## The matrix")))
    if (line.starts_with("| `")) rows.push_back(line);
  EXPECT_THAT(rows, ElementsAreArray(expected));
}

TEST(FenceMatrix, HasALiveTestForEachCell) {
  const auto tests = docs::all_tests();
  for (const auto& cell : fence::kMatrix) {
    const auto test =
        "FenceMatrix." + camel(name(cell.worker)) + "WorkerOn" + camel(name(cell.keyspace));
    EXPECT_TRUE(tests.contains(test)) << test;
  }
}

TEST(FenceVersions, AreToldApart) {
  EXPECT_TRUE(fence::is_v1("bullmq:5.65.1"));
  EXPECT_TRUE(fence::is_v1("bullmq-pro:7.1.0"));
  EXPECT_FALSE(fence::is_v1("echomq:2.0.0"));
  for (const auto* later :
       {"echomq:2.0.1", "echomq:2.1.0", "echomq:3.0.0", "echomq:10", "echomq:2.1"})
    EXPECT_TRUE(fence::is_later(later)) << later;
  for (const auto* other : {"echomq:2.0.0", "echomq:1.9.9", "echomq:2.0.0:migrating",
                            "echomq:", "somebody:3.0.0", "", "3.0.0"})
    EXPECT_FALSE(fence::is_later(other)) << other;
}

}  // namespace
}  // namespace echomq
