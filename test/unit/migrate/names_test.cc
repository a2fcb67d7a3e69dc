// SPDX-License-Identifier: MIT
// Names across the break: ids that 2.0 has too stay, others get a name that 2.0 allows, and the
// same one from wherever they are met.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "echomq/keyspace.h"
#include "echomq/schedule.h"
#include "migrate/names.h"

namespace echomq::inline v2::migrate {
namespace {

TEST(MigratedNames, WhatIsAnIdHereStays) {
  for (const auto* const id : {"1", "42", "order-4711", "3f1c2a34-6a0c-4e4f-9d0a-0a7a4dd5d0a1",
                               "9223372036854775807", "a.b_c"})
    EXPECT_EQ(map_id(id), id);
}

TEST(MigratedNames, OthersGetOneThatIs) {
  std::set<std::string> seen;
  for (const std::string& id :
       {std::string("a b"), std::string("a_b "), std::string("trash"), std::string("007"),
        std::string("BAT0KHTOWnGLuC"), std::string("a:b:c"), std::string("\xff\n\0x", 4),
        std::string(300, 'x'), std::string(301, 'x'), std::string("repeat:x:12a"),
        std::string("repeat:12")}) {
    const auto mapped = map_id(id);
    EXPECT_TRUE(check_any_job_id(mapped)) << mapped;
    EXPECT_TRUE(mapped.starts_with("v1.")) << mapped;
    EXPECT_EQ(map_id(id), mapped);
    EXPECT_TRUE(seen.insert(mapped).second) << mapped;
  }
}

TEST(MigratedNames, JobsOfTicksAreCalledAsTicksAreHere) {
  EXPECT_EQ(map_id("repeat:nightly:1700000000000"), "nightly.1700000000000");
  const auto tick = map_id("repeat:every hour:1700000000000");
  EXPECT_EQ(tick, map_scheduler("every hour") + ".1700000000000");
  EXPECT_EQ(scheduled_tick(tick)->scheduler, map_scheduler("every hour"));
  EXPECT_EQ(map_scheduler("nightly"), "nightly");
}

TEST(MigratedNames, AKeyOfAUnitIsAReference) {
  const Unit unit("bull:x", {{"{orders}", "orders"}, {"old mail", "mail"}});
  const auto job = unit.reference("bull:x:{orders}:17");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->queue, "orders");
  EXPECT_EQ(job->id, "17");
  EXPECT_EQ(unit.reference("bull:x:old mail:repeat:a:5")->id, "a.5");
  for (const auto* const key : {"bull:x:other:17", "bull:y:{orders}:17", "bull:x:{orders}", ""})
    EXPECT_FALSE(unit.reference(key)) << key;
}

TEST(MigratedNames, MarkersAndStructuresOfV1AreNoJobs) {
  EXPECT_TRUE(is_old_marker("0:0"));
  EXPECT_TRUE(is_old_marker("0:1700000000000"));
  EXPECT_FALSE(is_old_marker("01"));
  EXPECT_TRUE(is_v1_structure("wait"));
  EXPECT_FALSE(is_v1_structure("trash"));
}

}  // namespace
}  // namespace echomq::inline v2::migrate
