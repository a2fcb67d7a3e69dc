// SPDX-License-Identifier: MIT
// Schedulers and repeatable jobs of v1, settings, metrics and owners in their new form.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "migrate/v1_scheduler.h"
#include "migrate/v1_settings.h"
#include "schedule/definition.h"

namespace echomq::inline v2::migrate {
namespace {

std::map<std::string, std::string> fields_of(const MovedScheduler& moved) {
  return {moved.fields.begin(), moved.fields.end()};
}

TEST(MigratedScheduler, AnIntervalTicksWhereItsNextTickLies) {
  const auto moved = map_scheduler_of("hourly", "hourly", 1'700'000'123'456,
                                      {{"name", "tick"},
                                       {"every", "3600000"},
                                       {"opts", R"({"attempts":2,"priority":3})"},
                                       {"data", "{\"a\":1}"},
                                       {"ic", "5"}},
                                      {});
  ASSERT_TRUE(moved) << moved.error().detail;
  const auto fields = fields_of(*moved);
  const auto schedule = schedule::read_definition(fields.at("def")).value();
  EXPECT_EQ(std::get<Every>(schedule.when).interval.count(), 3'600'000);
  EXPECT_EQ(std::get<Every>(schedule.when).offset.count(), 1'700'000'123'456 % 3'600'000);
  EXPECT_EQ(fields.at("shape"), R"(3:0:4:tick{"attempts":2})");
  EXPECT_EQ(fields.at("data"), "{\"a\":1}");
  EXPECT_EQ(fields.at("ran"), "0:4:0:") << "the job of the next tick is counted when it comes";
}

TEST(MigratedScheduler, APatternKeepsItsZoneAndLimits) {
  const auto moved = map_scheduler_of("night ly", "night ly", 1'700'000'000'000,
                                      {{"name", "n"},
                                       {"pattern", "0 30 2 * * *"},
                                       {"tz", "Europe/Berlin"},
                                       {"limit", "10"},
                                       {"endDate", "1900000000000"},
                                       {"ic", "1"}},
                                      {});
  ASSERT_TRUE(moved) << moved.error().detail;
  EXPECT_EQ(moved->id, map_scheduler("night ly"));
  const auto fields = fields_of(*moved);
  const auto schedule = schedule::read_definition(fields.at("def")).value();
  EXPECT_EQ(std::get<Cron>(schedule.when).pattern, "0 30 2 * * *");
  EXPECT_EQ(std::get<Cron>(schedule.when).zone, "Europe/Berlin");
  EXPECT_EQ(schedule.limit, 10U);
  EXPECT_EQ(schedule.end_ms, 1'900'000'000'000);
  EXPECT_EQ(fields.at("data"), "{}");
  EXPECT_EQ(fields.at("v1"), R"({"id":"night ly"})");
}

// Made by bullmq 5.1: the key is all that is stored; the template is in the job of the next tick.
TEST(MigratedScheduler, ARepeatableJobThatIsOnlyAKey) {
  const std::string member = "repeated:::Asia/Tokyo:0 0 4 * * *";
  EXPECT_TRUE(is_repeatable_key(member, {}));
  EXPECT_FALSE(is_repeatable_key(member, {{"name", "x"}}));
  EXPECT_FALSE(is_repeatable_key("hourly", {}));
  const auto moved = map_scheduler_of(
      member, repeatable_id(member), 1'700'000'000'000, {},
      {{"name", "repeated"}, {"data", "{\"old\":true}"}, {"opts", R"({"attempts":4})"}});
  ASSERT_TRUE(moved) << moved.error().detail;
  EXPECT_EQ(moved->id, repeatable_id(member));
  EXPECT_EQ(moved->id.size(), 32U);
  const auto fields = fields_of(*moved);
  EXPECT_EQ(fields.at("data"), "{\"old\":true}");
  EXPECT_EQ(fields.at("shape"), R"(0:0:8:repeated{"attempts":4})");
  EXPECT_EQ(std::get<Cron>(schedule::read_definition(fields.at("def"))->when).zone, "Asia/Tokyo");
}

TEST(MigratedScheduler, ARepeatableJobWithAnIdOfItsOwn) {
  const std::string member = "repeated::::7200000";
  const auto moved = map_scheduler_of(member, "mine", 1'700'000'000'000, {},
                                      {{"name", "repeated"}, {"data", "1"}, {"opts", "{}"}});
  ASSERT_TRUE(moved) << moved.error().detail;
  EXPECT_EQ(moved->id, "mine");
  const auto schedule = schedule::read_definition(fields_of(*moved).at("def")).value();
  EXPECT_EQ(std::get<Every>(schedule.when).interval.count(), 7'200'000);
}

TEST(MigratedScheduler, WhatItLosesIsSaid) {
  const auto said = [](const V1Hash& stored) {
    const auto moved = map_scheduler_of("s", "s", 1'700'000'000'000, stored, {});
    std::string kinds;
    for (const auto& change : moved.value().changes) kinds += change.kind + " ";
    return kinds;
  };
  EXPECT_EQ(said({{"pattern", "0 4 * * *"}, {"tz", "UTC"}, {"ic", "1"}}), "");
  EXPECT_EQ(said({{"every", "1000"}, {"ic", "1"}}), "");
  EXPECT_EQ(said({{"pattern", "0 4 * * *"}, {"ic", "1"}}), "zone ");
  EXPECT_EQ(said({{"every", "1000"},
                  {"ic", "1"},
                  {"opts", R"({"sizeLimit":5,"deduplication":{"id":"d"}})"}}),
            "sizeLimit deduplication ");
}

TEST(MigratedScheduler, WhatIsNotUnderstoodIsSaid) {
  const auto detail = [](const V1Hash& stored, const V1Hash& job) {
    const auto moved = map_scheduler_of("s", "s", 1'700'000'000'000, stored, job);
    return moved ? std::string("it was understood") : moved.error().detail;
  };
  EXPECT_NE(detail({{"pattern", "every day"}, {"ic", "1"}}, {}).find("no such schedule"),
            std::string::npos);
  EXPECT_NE(detail({{"every", "1000"}}, {}).find("had its data"), std::string::npos);
  EXPECT_NE(detail({{"every", "soon"}, {"ic", "1"}}, {}).find("no number"), std::string::npos);
}

TEST(MigratedSettings, OfAQueue) {
  const auto fields = map_settings({.meta = {{"opts.maxLenEvents", "500"},
                                             {"concurrency", "5"},
                                             {"max", "100"},
                                             {"duration", "1000"},
                                             {"version", "bullmq:5.65.1"}},
                                    .paused = true,
                                    .prioritized = 7,
                                    .metrics_points = 3});
  const std::map<std::string, std::string> found(fields.begin(), fields.end());
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"event_cap", "500"},
                                                       {"pause", "1"},
                                                       {"priority_seq", "7"},
                                                       {"limits", "5:100:1000:0:0"},
                                                       {"metrics", "1440"}}));
  EXPECT_EQ(map_settings({}), (Fields{{"event_cap", "10000"}}));
}

TEST(MigratedSettings, MetricsHaveTheirMinutes) {
  EXPECT_EQ(map_metrics(600'000, {"3", "0", "5"}),
            (Fields{{"10", "3"}, {"8", "5"}, {"from", "8"}}));
  EXPECT_TRUE(map_metrics(600'000, {}).empty());
}

TEST(MigratedSettings, OwnersOfDeduplicationIds) {
  EXPECT_EQ(map_owner("7", 0, false), "7:0:0:");
  EXPECT_EQ(map_owner("7", 1'700'000'000'000, true), "7:1700000000000:1:");
  EXPECT_EQ(map_owner("a b", 5, false), map_id("a b") + ":5:0:");
}

}  // namespace
}  // namespace echomq::inline v2::migrate
