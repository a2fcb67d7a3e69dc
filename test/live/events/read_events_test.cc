// SPDX-License-Identifier: MIT
// Events without a listener: pages of the stream, custom events, and its length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/dump.h"
#include "support/heard.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class ReadEvents : public LibraryTest {
 protected:
  static std::vector<std::string> words(const EventPage& page) {
    std::vector<std::string> all;
    for (const auto& event : page.events) all.push_back(Heard::word_of(event));
    return all;
  }
};

TEST_F(ReadEvents, PageByPage) {
  for (const char* event : {"a", "b", "c", "d", "e"}) queue.emit_event(event).value();
  const auto first = read_events(queue, EventPlace::beginning(), 2).value();
  EXPECT_THAT(words(first), ElementsAre("a", "b"));
  EXPECT_TRUE(first.more);
  const auto second = read_events(queue, EventPlace::after(first.next), 3).value();
  EXPECT_THAT(words(second), ElementsAre("c", "d", "e"));
  const auto third = read_events(queue, EventPlace::after(second.next), 3).value();
  EXPECT_THAT(words(third), IsEmpty());
  EXPECT_FALSE(third.more);
  EXPECT_EQ(third.next, "5-0");
  const auto now = read_events(queue, EventPlace::now()).value();
  EXPECT_THAT(words(now), IsEmpty());
  EXPECT_EQ(now.next, "5-0");
}

TEST_F(ReadEvents, TellsWhatIsGone) {
  for (const char* event : {"a", "b", "c"}) queue.emit_event(event).value();
  queue.trim_events(1).value();
  EXPECT_THAT(words(read_events(queue, EventPlace::after("0")).value()), ElementsAre("gap 2", "c"));
  EXPECT_THAT(words(read_events(queue, EventPlace::beginning()).value()), ElementsAre("c"));
  queue.trim_events(0).value();
  EXPECT_THAT(words(read_events(queue, EventPlace::after("1-0")).value()), ElementsAre("gap 2"));
  EXPECT_THAT(words(read_events(queue, EventPlace::after("9-0")).value()), ElementsAre("gap 0"));
}

TEST_F(ReadEvents, BadInputAndForeignQueues) {
  EXPECT_EQ(error_of(read_events(queue, EventPlace::beginning())).code, ErrorCode::not_found);
  for (const std::size_t entries : {std::size_t{0}, std::size_t{1'001}})
    EXPECT_EQ(*error_of(read_events(queue, EventPlace::now(), entries)).field("value"),
              std::to_string(entries));
  EXPECT_EQ(error_of(read_events(queue, EventPlace::after("x"))).code, ErrorCode::invalid_argument);
  Queue<> unnamed(client, "no blanks");
  EXPECT_EQ(error_of(read_events(unnamed, EventPlace::now())).code, ErrorCode::invalid_name);
  redis({"HSET", key_of(Structure::meta), "version", "bullmq:5.1.1"});
  EXPECT_EQ(error_of(read_events(queue, EventPlace::now())).code, ErrorCode::fence);
}

class CustomEvent : public LibraryTest {};

TEST_F(CustomEvent, BadInputIsRefusedBeforeAnythingIsSent) {
  for (const auto& event : {std::string(), std::string("a b"), std::string("a\n"),
                            std::string(256, 'x'), std::string("completed"), std::string("gap"),
                            std::string("custom"), std::string("other")}) {
    const auto error = error_of(queue.emit_event(event));
    EXPECT_EQ(error.code, ErrorCode::invalid_name) << event;
    EXPECT_EQ(*error.field("value"), event);
  }
  const auto large = error_of(queue.emit_event("x", std::string(kMaxEventBytes + 1, 'x')));
  EXPECT_EQ(large.code, ErrorCode::too_large);
  EXPECT_EQ(*large.field("value"), std::to_string(kMaxEventBytes + 1));
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::meta)}).integer, 0);
  Queue<> unnamed(client, "no blanks");
  EXPECT_EQ(error_of(unnamed.emit_event("x")).code, ErrorCode::invalid_name);
}

TEST_F(CustomEvent, TheLargestIsTaken) {
  EXPECT_EQ(queue.emit_event(std::string(255, 'x'), std::string(kMaxEventBytes, 'y')).value(),
            "1-0");
}

// The queue is made for it, once more when it is gone meanwhile.
TEST_F(CustomEvent, OpensTheQueue) {
  EXPECT_EQ(queue.emit_event("mine").value(), "1-0");
  delete_queue(redis, name);
  EXPECT_EQ(queue.emit_event("mine").value(), "1-0");
}

class EventsLength : public LibraryTest {
 protected:
  std::int64_t entries() { return redis({"XLEN", key_of(Structure::events)}).integer; }
};

TEST_F(EventsLength, AnExactCapHoldsAtOnce) {
  ASSERT_TRUE(queue.open());
  for (int i = 0; i < 2'500; ++i)
    redis({"XADD", key_of(Structure::events), std::to_string(i + 1) + "-0", "at", "1"});
  set_meta("event_seq", "2500");
  // Over 1,000 at a time, so in several calls.
  ASSERT_TRUE(queue.set_event_cap({.entries = 100, .exact = true}));
  EXPECT_EQ(entries(), 100);
  for (int i = 0; i < 5; ++i) {
    queue.emit_event("x").value();
    EXPECT_EQ(entries(), 100);
  }
  ASSERT_TRUE(queue.set_event_cap({.entries = 1, .exact = true}));
  EXPECT_EQ(entries(), 1);
}

TEST_F(EventsLength, AnApproximateCapIsKeptRoughly) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_event_cap({.entries = 50}));
  for (int i = 0; i < 600; ++i) queue.emit_event("x").value();
  EXPECT_GE(entries(), 50);
  EXPECT_LT(entries(), 600);
}

TEST_F(EventsLength, BadInputAndNoQueue) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{10'000'001}}) {
    const auto error = error_of(queue.set_event_cap({.entries = number}));
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(*error.field("value"), std::to_string(number));
  }
  EXPECT_EQ(error_of(queue.set_event_cap({})).code, ErrorCode::not_found);
  EXPECT_EQ(error_of(queue.trim_events(1)).code, ErrorCode::not_found);
  EXPECT_EQ(redis({"EXISTS", key_of(Structure::meta)}).integer, 0);
  ASSERT_TRUE(queue.open());
  EXPECT_EQ(queue.trim_events(~std::uint64_t{0}).value(), 0U);
}

}  // namespace
}  // namespace echomq::test
