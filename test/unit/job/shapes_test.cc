// SPDX-License-Identifier: MIT
#include "job/shapes.h"

#include <gtest/gtest.h>

#include <vector>

namespace echomq {
namespace {

std::string shapes_of(const std::vector<job::EncodedJob>& jobs) {
  job::Shapes shapes;
  for (const auto& job : jobs) shapes.put(job);
  return shapes.text();
}

TEST(Shapes, JobsThatAreAlikeAreOneRun) {
  EXPECT_EQ(shapes_of({{.name = "mail", .data = "1"}, {.name = "mail", .data = "2"}}),
            "2:0:0:0:0:4:0:mail");
}

TEST(Shapes, EachDifferenceBeginsARun) {
  EXPECT_EQ(shapes_of({{.name = "a"},
                       {.name = "b"},
                       {.id = "own", .name = "b"},
                       {.name = "b"},
                       {.name = "b", .opts = R"({"attempts":3})"},
                       {.name = "b", .delay_ms = 5},
                       {.name = "b", .priority = 7},
                       {.name = "b", .lifo = true}}),
            "1:0:0:0:0:1:0:a"
            "1:0:0:0:0:1:0:b"
            "1:1:0:0:0:1:0:b"
            "1:0:0:0:0:1:0:b"
            "1:0:0:0:0:1:14:b{\"attempts\":3}"
            "1:0:5:0:0:1:0:b"
            "1:0:0:7:0:1:0:b"
            "1:0:0:0:1:1:0:b");
}

// The lengths tell where a name ends, so one that looks like the beginning of a run is only a name.
TEST(Shapes, NamesMayLookLikeRuns) {
  EXPECT_EQ(shapes_of({{.name = "1:0:0:0:0:1:0:"}}), "1:0:0:0:0:14:0:1:0:0:0:0:1:0:");
}

TEST(Shapes, NoJobsHaveNoShapes) { EXPECT_EQ(shapes_of({}), ""); }

}  // namespace
}  // namespace echomq
