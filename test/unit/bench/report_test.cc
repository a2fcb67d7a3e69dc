// SPDX-License-Identifier: MIT
// What `emq bench` makes of its measurements: JSON for programs, a table for people.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench/results.h"

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Results sample_results() {
  Results results;
  for (const double speed : {1.0, 0.5, 2.0}) {
    results.add("bulk_add", "off", "ours", {150'000 * speed, 6.5, 4.0});
    results.add("bulk_add", "off", "floor", {200'000 * speed, 5.0, 2.0});
    results.add("bulk_add", "off", "peer", {10'000 * speed, 35.0, 60.0});
  }
  results.add("bulk_add", "everysec", "ours", {100'000});
  results.add("bulk_add", "everysec", "floor", {200'000});
  results.add("idle_commands", "off", "ours", {0.8});
  results.add("latency_idle_p50", "off", "ours", {0.6});
  results.add("latency_idle_p50", "off", "peer", {1.0});
  return results;
}

Json target_named(const Json& json, const std::string& name, const std::string& persistence) {
  for (const auto& target : json.at("targets"))
    if (target.at("name") == name && target.at("persistence") == persistence) return target;
  return nullptr;
}

TEST(BenchReport, JsonHasRatiosTargetsAndRows) {
  const auto json = to_json(sample_results());
  EXPECT_DOUBLE_EQ(json.at("ratios").at("bulk_add_vs_floor"), 0.75);
  EXPECT_DOUBLE_EQ(json.at("ratios").at("bulk_add_vs_peer"), 15.0);
  EXPECT_DOUBLE_EQ(json.at("ratios").at("latency_p50_vs_peer"), 0.6);
  EXPECT_TRUE(json.at("ratios").at("process_vs_peer").is_null());
  EXPECT_DOUBLE_EQ(json.at("ratios_by_persistence").at("everysec").at("bulk_add_vs_floor"), 0.5);
  EXPECT_EQ(target_named(json, "bulk_add_vs_floor", "off").at("met"), true);
  EXPECT_EQ(target_named(json, "bulk_add_vs_floor", "everysec").at("met"), false);
  EXPECT_EQ(target_named(json, "latency_p50_vs_peer", "off").at("met"), false);
  EXPECT_EQ(target_named(json, "idle_commands_per_second", "off").at("met"), true);
  EXPECT_TRUE(target_named(json, "process_vs_peer", "off").at("met").is_null());
  const auto& row = json.at("rows").at(0);
  EXPECT_EQ(row.at("row"), "bulk_add");
  EXPECT_EQ(row.at("subject"), "ours");
  EXPECT_EQ(row.at("median"), 150'000);
  EXPECT_EQ(row.at("min"), 75'000);
  EXPECT_EQ(row.at("max"), 300'000);
  EXPECT_EQ(row.at("samples").size(), 3U);
  EXPECT_EQ(row.at("server_cpu_us_per_job"), 6.5);
}

TEST(BenchReport, NothingMeasuredIsNull) {
  const auto json = to_json(Results());
  EXPECT_EQ(json.at("rows").size(), 0U);
  EXPECT_TRUE(json.at("ratios").at("bulk_add_vs_floor").is_null());
  EXPECT_EQ(to_markdown(Results()), "");
}

TEST(BenchReport, EveryTargetHasARow) {
  std::set<std::string_view> rows;
  for (const auto& kind : row_kinds()) EXPECT_TRUE(rows.insert(kind.row).second) << kind.row;
  for (const auto& target : targets()) EXPECT_TRUE(rows.contains(target.row)) << target.name;
}

TEST(BenchReport, TableHasARowForEachThatWasMeasured) {
  const auto table = to_markdown(sample_results());
  EXPECT_THAT(table, HasSubstr("Persistence: off\n\n| row |"));
  EXPECT_THAT(table, HasSubstr("Persistence: everysec\n\n| row |"));
  EXPECT_THAT(table, HasSubstr("| 150,000 | 200,000 | 10,000 | 0.75 | 15.00 | 6.50 + 4.00 |"));
  EXPECT_THAT(table, HasSubstr(">= 0.65 of floor, met; >= 10 of peer, met"));
  EXPECT_THAT(table, HasSubstr("<= 0.5 of peer, missed"));
  EXPECT_THAT(table, Not(HasSubstr("concurrency 100")));
}

TEST(BenchReport, TableGoesBetweenTheMarks) {
  const std::string document = std::string("before\n") + std::string(kBeginMark) + "\nold\n" +
                               std::string(kEndMark) + "\nafter\n";
  const auto once = with_table(document, "new\n");
  ASSERT_TRUE(once.ok());
  EXPECT_THAT(*once, HasSubstr("before\n"));
  EXPECT_THAT(*once, HasSubstr("\nnew\n"));
  EXPECT_THAT(*once, HasSubstr("\nafter\n"));
  EXPECT_THAT(*once, Not(HasSubstr("old")));
  EXPECT_EQ(*with_table(*once, "new\n"), *once);
  EXPECT_FALSE(with_table("no marks", "new").ok());
  EXPECT_FALSE(with_table(std::string(kEndMark) + std::string(kBeginMark), "new").ok());
}

TEST(BenchReport, NumbersHaveThreeDigitsThatCount) {
  EXPECT_EQ(rounded(0), "0");
  EXPECT_EQ(rounded(1'234'567), "1,230,000");
  EXPECT_EQ(rounded(999.6), "1,000");
  EXPECT_EQ(rounded(123.4), "123");
  EXPECT_EQ(rounded(12.34), "12.3");
  EXPECT_EQ(rounded(1.234), "1.23");
  EXPECT_EQ(rounded(0.01234), "0.0123");
}

}  // namespace
}  // namespace bench
