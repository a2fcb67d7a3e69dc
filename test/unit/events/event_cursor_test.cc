// SPDX-License-Identifier: MIT
// A listener's way through the stream: each event once, in order, and what was missed told.
#include "events/event_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/events/stream.h"

namespace {

using echomq::Event;
using echomq::EventCursor;
using echomq::EventPlace;
using echomq::EventType;
using echomq::StreamEntry;
using testing::ElementsAre;
using testing::IsEmpty;

// Entry n tells of two jobs, "<n>a" and "<n>b".
std::vector<StreamEntry> entries(const std::vector<int>& numbers) {
  std::vector<echomq::wire::Reply> all;
  for (const int n : numbers) {
    const auto number = std::to_string(n);
    all.push_back(
        echomq_test::entry_of(number + "-0", {"at", "1", "added", number + "a " + number + "b"}));
  }
  return echomq::read_range(echomq_test::list_of(std::move(all)));
}

// "1a", or "gap 3 at 12-0".
std::vector<std::string> shown(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const auto& event : events)
    all.push_back(event.type == EventType::gap
                      ? "gap " + std::to_string(event.missed) + " at " + event.id
                      : event.job);
  return all;
}

EventCursor cursor_at(const EventPlace& place) { return EventCursor::at(place).value(); }

TEST(EventCursor, FromNowBeginsWhereTheCounterStands) {
  auto cursor = cursor_at(EventPlace::now());
  EXPECT_THAT(cursor.counted(41), IsEmpty());
  EXPECT_EQ(cursor.read_from(), "41-0");
  EXPECT_FALSE(cursor.behind(41));
  EXPECT_THAT(shown(cursor.read(entries({42, 43}))), ElementsAre("42a", "42b", "43a", "43b"));
  EXPECT_EQ(cursor.read_from(), "43-0");
  EXPECT_EQ(cursor.position().id(), "43-0");
}

TEST(EventCursor, TheBeginningIsWhatIsKept) {
  auto cursor = cursor_at(EventPlace::beginning());
  EXPECT_THAT(cursor.counted(600), IsEmpty());
  EXPECT_EQ(cursor.read_from(), "0-0");
  EXPECT_TRUE(cursor.behind(0));
  EXPECT_THAT(shown(cursor.read(entries({501, 502}))), ElementsAre("501a", "501b", "502a", "502b"));
}

TEST(EventCursor, TheBeginningOfAnEmptyStreamIsItsCounter) {
  auto cursor = cursor_at(EventPlace::beginning());
  cursor.counted(600);
  EXPECT_THAT(cursor.read_nothing(600), IsEmpty());
  EXPECT_EQ(cursor.read_from(), "600-0");
  EXPECT_THAT(shown(cursor.read(entries({603}))), ElementsAre("gap 2 at 602-0", "603a", "603b"));
}

TEST(EventCursor, GoesOnInsideAnEntry) {
  for (const auto& [id, expected] :
       {std::pair("4-0", std::vector<std::string>{"5a", "5b", "6a", "6b"}),
        std::pair("5-1", std::vector<std::string>{"5b", "6a", "6b"}),
        std::pair("5-2", std::vector<std::string>{"6a", "6b"}),
        std::pair("5-0", std::vector<std::string>{"6a", "6b"})}) {
    auto cursor = cursor_at(EventPlace::after(id));
    EXPECT_THAT(cursor.counted(6), IsEmpty());
    const bool whole = cursor.read_from() == "5-0";
    EXPECT_EQ(shown(cursor.read(whole ? entries({6}) : entries({5, 6}))), expected) << id;
  }
}

// Whichever event was the last one, going on after its id misses none and repeats none.
TEST(EventCursor, EveryEventIsAPlaceToGoOnFrom) {
  auto first = cursor_at(EventPlace::after("0"));
  const auto all = first.read(entries({1, 2, 3}));
  for (std::size_t seen = 1; seen <= all.size(); ++seen) {
    auto again = cursor_at(EventPlace::after(all[seen - 1].id));
    const auto from = static_cast<int>(again.position().entry);
    std::vector<int> rest;
    for (int n = from + 1; n <= 3; ++n) rest.push_back(n);
    const std::vector<Event> expected(all.begin() + static_cast<std::ptrdiff_t>(seen), all.end());
    EXPECT_EQ(again.read(entries(rest)), expected) << all[seen - 1].id;
  }
}

TEST(EventCursor, AGapSaysHowManyEntriesAreGone) {
  auto cursor = cursor_at(EventPlace::after("3-0"));
  EXPECT_THAT(shown(cursor.read(entries({9, 10, 12}))),
              ElementsAre("gap 5 at 8-0", "9a", "9b", "10a", "10b", "gap 1 at 11-0", "12a", "12b"));
}

TEST(EventCursor, TheRestOfAnEntryThatIsGoneCounts) {
  auto cursor = cursor_at(EventPlace::after("4-1"));
  EXPECT_THAT(shown(cursor.read(entries({5}))), ElementsAre("gap 1 at 4-0", "5a", "5b"));
}

TEST(EventCursor, WhatWasTrimmedAtTheEndIsMissedToo) {
  auto cursor = cursor_at(EventPlace::after("3-0"));
  cursor.counted(8);
  EXPECT_TRUE(cursor.behind(8));
  EXPECT_THAT(shown(cursor.read_nothing(8)), ElementsAre("gap 5 at 8-0"));
  EXPECT_FALSE(cursor.behind(8));
  EXPECT_THAT(cursor.read_nothing(8), IsEmpty());
}

TEST(EventCursor, ANumberingThatBeganAnewIsAGapOfUnknownSize) {
  for (const char* place : {"500-0", "3-0", "3-1"}) {
    auto cursor = cursor_at(EventPlace::after(place));
    EXPECT_THAT(shown(cursor.counted(2)), ElementsAre("gap 0 at 0-0")) << place;
    EXPECT_THAT(shown(cursor.read(entries({1, 2}))), ElementsAre("1a", "1b", "2a", "2b"));
    EXPECT_THAT(cursor.counted(2), IsEmpty());
  }
}

// Written by hand, under a number that was there: nothing of ours, but it must be passed.
TEST(EventCursor, AForeignEntryIsPassedOnce) {
  auto cursor = cursor_at(EventPlace::after("3-0"));
  auto foreign = entries({3});
  foreign[0].id = "3-7";
  EXPECT_THAT(cursor.read(std::move(foreign)), IsEmpty());
  EXPECT_EQ(cursor.read_from(), "3-7");
  EXPECT_THAT(shown(cursor.read(entries({4}))), ElementsAre("4a", "4b"));
}

TEST(EventCursor, AnIdThatIsNoneIsRefusedByName) {
  const auto refused = EventCursor::at(EventPlace::after("yesterday"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, echomq::ErrorCode::invalid_argument);
  ASSERT_NE(refused.error().field("value"), nullptr);
  EXPECT_EQ(*refused.error().field("value"), "yesterday");
}

}  // namespace
