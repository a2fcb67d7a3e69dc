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

struct Size {
  int width = 0;
  int height = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Size, width, height)

// The same job before and after a release: the second one has a height.
struct Frame {
  int width = 0;
  int height = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Frame, width, height)
struct OldFrame {
  int width = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OldFrame, width)

}  // namespace echomq::test

template <>
struct echomq::Schema<echomq::test::Frame> {
  static constexpr unsigned version = 2;
  static Result<nlohmann::json> upcast(unsigned /*from*/, nlohmann::json old) {
    old["height"] = old.at("width");
    return old;
  }
};
template <>
struct echomq::Schema<echomq::test::OldFrame> {
  static constexpr unsigned version = 1;
};

namespace echomq::test {
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
    EXPECT_EQ(info(id).failed_reason.rfind("decode: ", 0), 0U) << info(id).failed_reason;
    EXPECT_EQ(info(id).attempts_made, 1U);
  }
  EXPECT_EQ(info(ids[0]).failed_reason, "decode: not JSON, from byte 2 of 8");
  EXPECT_EQ(info(ids[1]).failed_reason, "decode: /width is missing");
  EXPECT_EQ(info(ids[2]).failed_reason, "decode: /width: type must be number, but is string");
}

// A deploy: a worker of the last release gives newer data back until one of the new release takes
// it.
TEST_F(Typed, DataThatCannotBeDecodedIsTriedAgainWhereAskedFor) {
  Queue<Frame> frames{client, name};
  Queue<OldFrame> as_before{client, name};
  const auto id = frames.add({3, 4}, {.attempts = 3}).value();
  Runs runs;
  Worker old_worker{
      as_before, {.retry_undecodable = true}, [&](Job<OldFrame>&) { runs.note("old"); }};
  ASSERT_TRUE(eventually([&] { return info(id).state == JobState::failed; }));
  EXPECT_EQ(info(id).attempts_made, 3U);
  EXPECT_EQ(info(id).failed_reason,
            "decode: the data has version 2 of its schema, this program knows it up to version 1");
  ASSERT_TRUE(old_worker.stop());
  EXPECT_EQ(runs.size(), 0U);

  ASSERT_TRUE(queue.retry(id));
  Worker new_worker{frames, {}, [](Job<Frame>& job) { return job.data().height; }};
  EXPECT_EQ(frames.wait_for_result<int>(id, 20s).value(), 4);
}

TEST_F(Typed, OlderDataIsBroughtUpBeforeItsRun) {
  Queue<Frame> frames{client, name};
  Queue<OldFrame> as_before{client, name};
  const auto from_before = queue.add(R"({"width":5})").value();
  const auto from_version_1 = as_before.add({6}).value();
  EXPECT_EQ(info(from_version_1).data, R"({"$v":1,"width":6})");
  Worker worker{frames, {}, [](Job<Frame>& job) { return job.data().height; }};
  EXPECT_EQ(frames.wait_for_result<int>(from_before, 20s).value(), 5);
  EXPECT_EQ(frames.wait_for_result<int>(from_version_1, 20s).value(), 6);
}

TEST_F(Typed, AStructInAndAStructOut) {
  const auto good = thumbs.add({"a.png", 20}).value();
  const auto bad = thumbs.add({"b.png", -1}).value();
  const auto dropped = thumbs.add({"c.png", 1}, {.keep_completed = Keep::none()}).value();
  Worker worker{thumbs, {}, [](Job<Thumb>& job) -> Result<Size> {
                  const int width = job.data().width;
                  if (width < 0) return Error{ErrorCode::invalid_argument, "a negative width", {}};
                  return Size{width, width / 2};
                }};
  EXPECT_EQ(thumbs.wait_for_result<Size>(good, 20s).value().height, 10);
  EXPECT_EQ(info(good).result_as<Size>().value().width, 20);
  EXPECT_EQ(error_of(thumbs.wait_for_result<std::vector<int>>(good, 20s)).code, ErrorCode::decode);
  const auto failed = error_of(thumbs.wait_for_result<Size>(bad, 20s));
  EXPECT_EQ(failed.code, ErrorCode::wrong_state);
  EXPECT_EQ(*failed.field("reason"), "invalid_argument: a negative width");
  EXPECT_EQ(error_of(thumbs.wait_for_result<Size>(dropped, 20s)).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(thumbs.wait_for_result<Size>("12345", 20s)).code, ErrorCode::not_found);
}

}  // namespace
}  // namespace echomq::test
