// SPDX-License-Identifier: MIT
// Typed jobs by echomq/json.h: values in, values out, and what cannot be decoded.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "echomq/json.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {

struct Thumb {
  std::string path;
  int width = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Thumb, path, width)

namespace {

using namespace std::chrono_literals;

class Typed : public LibraryTest {
 protected:
  Queue<Thumb> thumbs{client, name};
};

TEST_F(Typed, ValuesInAndOut) {
  const auto id = thumbs.add({"caf\xc3\xa9.png", 200}, {.attempts = 3}).value();
  const auto many = thumbs.add_bulk({{{"a.png", 1}, {}}, {{"b.png", 2}, {.priority = 1}}}).value();
  EXPECT_EQ(info(id).data, R"({"path":"café.png","width":200})");
  Worker worker{
      thumbs, {.stop_when_empty = true}, [](Job<Thumb>& job) {
        return std::vector<std::string>{job.data().path, std::to_string(job.data().width)};
      }};
  ASSERT_TRUE(worker.wait(20s));
  EXPECT_EQ(info(id).result, R"(["café.png","200"])");
  EXPECT_EQ(info(many[0].value()).result, R"(["a.png","1"])");
  EXPECT_EQ(info(many[1].value()).result, R"(["b.png","2"])");
}

// Trying again would decode no better: the attempts that are left are not spent.
TEST_F(Typed, DataThatCannotBeDecoded) {
  const auto ids =
      add({"not json", R"({"path":"a.png"})", R"({"path":"a.png","width":"wide"})", ""},
          {.attempts = 3});
  const auto good = thumbs.add({"good.png", 1}).value();
  Runs runs;
  Worker worker{thumbs, {.stop_when_empty = true}, [&](Job<Thumb>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(worker.wait(20s));
  EXPECT_EQ(runs.all(), std::vector<std::string>{good});
  for (const auto& id : ids) {
    EXPECT_EQ(info(id).state, JobState::failed);
    EXPECT_EQ(info(id).failed_reason.rfind("encoding: ", 0), 0U) << info(id).failed_reason;
    EXPECT_EQ(info(id).attempts_made, 1U);
  }
  EXPECT_NE(info(ids[1]).failed_reason.find("width"), std::string::npos)
      << info(ids[1]).failed_reason;
}

}  // namespace
}  // namespace echomq::test
