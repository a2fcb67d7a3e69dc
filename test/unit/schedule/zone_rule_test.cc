// SPDX-License-Identifier: MIT
// The rules by which zone files go on: by a table, beside date-tz where a file has written the same
// changes out, and behind that.
#include "schedule/zone_rule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "schedule/zone.h"

namespace echomq::schedule {
namespace {

constexpr const char* kZones = "/usr/share/zoneinfo/";

std::int64_t second_of(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
  using namespace std::chrono;
  const auto date =
      sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day));
  return date.time_since_epoch().count() * std::int64_t{86'400} + hour * 3'600 + minute * 60;
}

std::string file_at(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The offset a minute before that time and at it, in minutes: "60 120".
std::string around(const char* text, std::int64_t second) {
  const auto rule = ZoneRule::read(text);
  if (!rule) return "refused";
  return std::to_string(rule->at(second - 60).offset / 60) + " " +
         std::to_string(rule->at(second).offset / 60);
}

TEST(ZoneRule, EachFormByItsChanges) {
  constexpr auto* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_EQ(around(kBerlin, second_of(2040, 3, 25, 1)), "60 120");
  EXPECT_EQ(around(kBerlin, second_of(2040, 10, 28, 1)), "120 60");
  constexpr auto* kNewYork = "EST5EDT,M3.2.0,M11.1.0";
  EXPECT_EQ(around(kNewYork, second_of(2026, 3, 8, 7)), "-300 -240");
  EXPECT_EQ(around(kNewYork, second_of(2026, 11, 1, 6)), "-240 -300");
  constexpr auto* kSydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";
  EXPECT_EQ(around(kSydney, second_of(2050, 4, 2, 16)), "660 600");
  EXPECT_EQ(around(kSydney, second_of(2050, 10, 1, 16)), "600 660");
  constexpr auto* kLordHowe = "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0";
  EXPECT_EQ(around(kLordHowe, second_of(2026, 4, 4, 15)), "660 630");
  constexpr auto* kDublin = "IST-1GMT0,M10.5.0,M3.5.0/1";  // its winter is the exception
  EXPECT_EQ(around(kDublin, second_of(2030, 3, 31, 1)), "0 60");
  EXPECT_EQ(around(kDublin, second_of(2030, 10, 27, 1)), "60 0");
  constexpr auto* kNuuk = "<-02>2<-01>,M3.5.0/-1,M10.5.0/0";  // on the day before
  EXPECT_EQ(around(kNuuk, second_of(2026, 3, 29, 1)), "-120 -60");
  constexpr auto* kJerusalem = "IST-2IDT,M3.4.4/26,M10.5.0";  // on the day after
  EXPECT_EQ(around(kJerusalem, second_of(2026, 3, 27, 0)), "120 180");
  // The 60th day without the 29th of February, and with it.
  EXPECT_EQ(around("A0B,J60/0,J300/0", second_of(2028, 3, 1)), "0 60");
  EXPECT_EQ(around("A0B,59/0,299/0", second_of(2028, 2, 29)), "0 60");
  EXPECT_EQ(around("A3B4,0/0,J365/23", second_of(2030, 1, 1, 3)), "-240 -240")
      << "summer never ends";
  EXPECT_EQ(around("<+0545>-5:45", second_of(2030, 6, 1)), "345 345");
}

TEST(ZoneRule, SpansMeetAndHoldTheirSecond) {
  const auto rule = ZoneRule::read("CET-1CEST,M3.5.0,M10.5.0/3").value();
  auto span = rule.at(second_of(2026, 1, 1));
  for (int i = 0; i < 400; ++i) {
    ASSERT_LT(span.begin, span.end);
    const auto next = rule.at(span.end);
    ASSERT_EQ(next.begin, span.end);
    ASSERT_NE(next.offset, span.offset);
    span = next;
  }
}

TEST(ZoneRule, OtherFormsAreNone) {
  for (const auto* text : {"",
                           "C",
                           "CET",
                           "-1",
                           "CET-1CEST,",
                           "CET-1CEST",
                           "CET-1CEST,M3.5.0",
                           "CET-1CEST,M3.5.0,",
                           "CET-1CEST,M13.5.0,M10.5.0",
                           "CET-1CEST,M3.6.0,M10.5.0",
                           "CET-1CEST,M3.5.7,M10.5.0",
                           "CET-1CEST,M0.5.0,M10.5.0",
                           "CET-1CEST,M3.0.0,M10.5.0",
                           "CET-1CEST,J0,J300",
                           "CET-1CEST,M3.5.0,M10.5.0/3 ",
                           "CET-168",
                           "CET-1:60",
                           "<CET-1",
                           "<>0",
                           "CET-1,J1,J2",
                           "CET-1CEST,M3.5.0/168,M10.5.0"})
    EXPECT_FALSE(ZoneRule::read(text)) << text;
}

// The files of this system write the changes of the next years out, and date-tz reads those.
TEST(ZoneRule, SaysOfEveryZoneWhatItsFileHasWrittenOut) {
  std::ifstream table(std::string(kZones) + "zone1970.tab");
  if (!table) GTEST_SKIP() << "this system has no list of zones";
  int compared = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream columns(line);
    std::string name;
    columns >> name >> name >> name;
    // Morocco's changes follow the moon, for as long as its file goes.
    if (name == "Africa/Casablanca" || name == "Africa/El_Aaiun") continue;
    const auto tail = read_zone_tail(file_at(kZones + name));
    ASSERT_TRUE(tail) << name;
    const auto zone = Zone::find(name).value();
    for (std::int64_t second = second_of(2027, 1, 1); second < second_of(2036, 1, 1);
         second += 1'000'003)
      ASSERT_EQ(tail->rule.at(second).offset, zone.at(second).offset) << name << " " << second;
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

// date-tz lets the last offset go on.
TEST(ZoneTail, SummerComesAfterTheYearThatTheFileEndsWith) {
  const auto offset = [](const char* name, std::int64_t second) {
    return Zone::find(name).value().at(second).offset / 3'600;
  };
  for (const int year : {2026, 2037, 2038, 2039, 2100}) {
    EXPECT_EQ(offset("Europe/Berlin", second_of(year, 1, 15)), 1) << year;
    EXPECT_EQ(offset("Europe/Berlin", second_of(year, 7, 15)), 2) << year;
    EXPECT_EQ(offset("America/New_York", second_of(year, 1, 15)), -5) << year;
    EXPECT_EQ(offset("America/New_York", second_of(year, 7, 15)), -4) << year;
    EXPECT_EQ(offset("Australia/Sydney", second_of(year, 1, 15)), 11) << year;
    EXPECT_EQ(offset("Asia/Tokyo", second_of(year, 7, 15)), 9) << year;
  }
  // No second is in no span, and none in two.
  const auto zone = Zone::find("Europe/Berlin").value();
  auto span = zone.at(second_of(2035, 1, 1));
  while (span.begin < second_of(2041, 1, 1)) {
    const auto next = zone.at(span.end);
    ASSERT_EQ(next.begin, span.end);
    span = next;
  }
}

TEST(ZoneTail, AFileThatIsCutOffHasNone) {
  const auto file = file_at(std::string(kZones) + "Europe/Berlin");
  ASSERT_TRUE(read_zone_tail(file));
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(read_zone_tail(file.substr(0, size))) << size;
  auto first_version = file;
  first_version[4] = '\0';
  EXPECT_FALSE(read_zone_tail(first_version));
}

}  // namespace
}  // namespace echomq::schedule
