// SPDX-License-Identifier: MIT
// The plan of a flow: parents before their children, and every entry comes back as it was recorded.
#include "flow/plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "probe/planned.h"

namespace echomq::test {

using namespace probe;

namespace {

using flow::PlanEntry;
using Kind = PlanEntry::Kind;

TEST(FlowPlan, ParentsStandBeforeTheirChildrenAndTellOfThem) {
  const auto plan = plan_of("a:7", {{.queue = "a", .id = "root"},
                                    {.queue = "b", .id = "left", .parent = 0},
                                    {.queue = "c", .id = "right", .parent = 0},
                                    {.queue = "d", .id = "leaf", .parent = 1}});
  ASSERT_EQ(plan.size(), 6U);
  EXPECT_EQ(plan[0].id, "root");
  EXPECT_TRUE(plan[0].waits);
  EXPECT_EQ(plan[0].edge, "");
  EXPECT_EQ(plan[1].kind, Kind::edges);
  EXPECT_EQ(plan[1].refs, "b:left c:right");
  EXPECT_EQ(plan[1].owner, "a:7");
  EXPECT_EQ(plan[1].above, 0);
  EXPECT_EQ(plan[2].id, "left");
  EXPECT_EQ(plan[2].above, 1) << "it hangs on the entry that names it";
  EXPECT_EQ(plan[2].edge, "1:f:a:root");
  EXPECT_EQ(plan[2].opts, R"({"parent":"a:root"})");
  EXPECT_EQ(plan[3].refs, "d:leaf");
  EXPECT_EQ(plan[4].id, "right");
  EXPECT_FALSE(plan[4].waits);
  EXPECT_EQ(plan[5].above, 3);
  unsigned level = 0;
  for (const auto& entry : plan) {
    EXPECT_GE(entry.level, level);
    level = entry.level;
  }
  EXPECT_EQ(level, 2U);
}

TEST(FlowPlan, ManyChildrenAreNamedInParts) {
  std::vector<PlanJob> jobs{{.queue = "a", .id = "root"}};
  for (int i = 0; i < 600; ++i)
    jobs.push_back({.queue = "b", .id = "c" + std::to_string(i), .parent = 0});
  const auto plan = plan_of("a:7", jobs);
  ASSERT_EQ(plan.size(), 604U);
  EXPECT_EQ(plan[1].count, 256U);
  EXPECT_EQ(plan[2].count, 256U);
  EXPECT_EQ(plan[3].count, 88U);
  EXPECT_EQ(plan[4].above, 1) << "each child hangs on the first of them";
  EXPECT_EQ(plan[603].above, 1);
}

TEST(FlowPlan, ChildrenOfAJobThatIsThereHangOnIt) {
  const auto plan = plan_below("a:7", "a", "there",
                               {{.queue = "b", .id = "x", .policy = ChildFailure::ignore},
                                {.queue = "b", .id = "y"},
                                {.queue = "c", .id = "z", .parent = 0}});
  ASSERT_EQ(plan.size(), 5U);
  EXPECT_EQ(plan[0].kind, Kind::edges);
  EXPECT_EQ(plan[0].id, "there");
  EXPECT_EQ(plan[0].owner, "-");
  EXPECT_EQ(plan[0].above, -1);
  EXPECT_EQ(plan[1].edge, "1:i:a:there");
  EXPECT_EQ(plan[2].kind, Kind::edges);
  EXPECT_EQ(plan[4].edge, "1:f:b:x");
}

TEST(FlowPlan, OptionsKeepWhatTheyHadBesideTheParent) {
  std::vector<flow::PlannedJob> jobs{planned({.queue = "a", .id = "root"}),
                                     planned({.queue = "a", .id = "x", .parent = 0})};
  jobs[1].job.opts = R"({"attempts":3})";
  const auto plan = flow::make_plan("a:7", jobs, 1);
  EXPECT_EQ(plan[2].opts, R"({"attempts":3,"parent":"a:root"})");
}

// Names and data hold any bytes.
TEST(FlowPlan, WhatIsRecordedComesBack) {
  rc::check([](const std::string& name, const std::string& opts, const std::string& data,
               bool waits, bool lifo, std::uint32_t delay, std::uint16_t priority) {
    PlanEntry entry;
    entry.level = 3;
    entry.above = 12;
    entry.queue = "q";
    entry.id = "id-1";
    entry.delay_ms = delay;
    entry.priority = priority;
    entry.lifo = lifo;
    entry.waits = waits;
    entry.edge = waits ? "" : "5:c:p:1";
    entry.name = name;
    entry.opts = opts;
    entry.data = data;
    const auto back = PlanEntry::decode(entry.encode());
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->encode() == entry.encode());
    RC_ASSERT(back->name == name);
    RC_ASSERT(back->data == data);
    RC_ASSERT(back->edge == entry.edge);
    RC_ASSERT(back->shape() == entry.shape());
  });
}

TEST(FlowPlan, EdgesComeBack) {
  const auto plan =
      plan_of("a:7", {{.queue = "a", .id = "root"}, {.queue = "b", .id = "x", .parent = 0}});
  const auto back = PlanEntry::decode(plan[1].encode());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kind, Kind::edges);
  EXPECT_EQ(back->refs, "b:x");
  EXPECT_EQ(back->shape(), "e:1:1:a:7");
  EXPECT_EQ(back->above, 0);
}

TEST(FlowPlan, WhatIsNoEntryIsNone) {
  rc::check([](const std::string& text) { (void)PlanEntry::decode(text); });
  for (const char* const text :
       {"", "j", "x 0 -1 q id\n", "j 0 -1  \n", "j 0 -1 q id 0 0 0 0 - 9 9\nab"})
    EXPECT_FALSE(PlanEntry::decode(text)) << text;
}

}  // namespace
}  // namespace echomq::test
