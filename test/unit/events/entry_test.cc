// SPDX-License-Identifier: MIT
// Entries of the stream: one event for each job that they tell of.
#include "events/entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "unit/docs/tree.h"
#include "unit/events/stream.h"

namespace {

using echomq::Event;
using echomq::EventType;
using echomq::StreamEntry;
using echomq_test::entry_of;
using echomq_test::list_of;
using echomq_test::text_of;
using testing::ElementsAre;

std::vector<std::string> ids(const StreamEntry& entry) {
  std::vector<std::string> all;
  for (const auto& event : entry.events) all.push_back(event.id);
  return all;
}

TEST(StreamEntry, ManyJobsOfOneCallAreManyEvents) {
  const auto entries = echomq::read_range(
      list_of({entry_of("7-0", {"at", "123", "completed", "a b", "failed", "c"})}));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].number, 7U);
  const Event a{
      .id = "7-1", .type = EventType::completed, .name = "completed", .job = "a", .at_ms = 123};
  const Event b{
      .id = "7-2", .type = EventType::completed, .name = "completed", .job = "b", .at_ms = 123};
  const Event c{.id = "7-0", .type = EventType::failed, .name = "failed", .job = "c", .at_ms = 123};
  EXPECT_THAT(entries[0].events, ElementsAre(a, b, c));
}

TEST(StreamEntry, ACustomEventHasItsPayloadAsItIs) {
  const auto entries = echomq::read_range(
      list_of({entry_of("3-0", {"at", "5", "custom", "invoice", "payload", "to a b"}),
               entry_of("4-0", {"at", "6", "custom", "payload", "payload", ""})}));
  ASSERT_EQ(entries.size(), 2U);
  const Event invoice{
      .id = "3-0", .type = EventType::custom, .name = "invoice", .payload = "to a b", .at_ms = 5};
  const Event payload{.id = "4-0", .type = EventType::custom, .name = "payload", .at_ms = 6};
  EXPECT_THAT(entries[0].events, ElementsAre(invoice));
  EXPECT_THAT(entries[1].events, ElementsAre(payload));
}

TEST(StreamEntry, WhatANewerVersionTellsKeepsItsName) {
  const auto entries = echomq::read_range(
      list_of({entry_of("3-0", {"at", "5", "teleported", "a b", "emptied", ""})}));
  ASSERT_EQ(entries.size(), 1U);
  ASSERT_EQ(entries[0].events.size(), 3U);
  for (const auto& event : entries[0].events) EXPECT_EQ(event.type, EventType::other);
  EXPECT_EQ(entries[0].events[1].name, "teleported");
  EXPECT_EQ(entries[0].events[1].job, "b");
  EXPECT_EQ(entries[0].events[2].name, "emptied");
  EXPECT_EQ(entries[0].events[2].job, "");
  EXPECT_THAT(ids(entries[0]), ElementsAre("3-1", "3-2", "3-0"));
}

TEST(StreamEntry, WhatHasNoFormOfAnEntryIsLeftOut) {
  using Reply = echomq::wire::Reply;
  Reply odd;
  odd.kind = Reply::Kind::array;
  odd.items = {entry_of("1-0", {"at", "1", "added", "a"}), Reply{}, entry_of("2-0", {"lonely"})};
  const auto entries = echomq::read_range(odd);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].events.size(), 1U);
  EXPECT_TRUE(entries[1].events.empty());
}

TEST(StreamEntry, AnAnswerOfXreadIsReadInBothProtocols) {
  using Reply = echomq::wire::Reply;
  const auto entries = list_of({entry_of("1-0", {"at", "1", "added", "a"})});
  Reply map;
  map.kind = Reply::Kind::map;
  map.items = {text_of("emq:{q}:events"), entries};
  EXPECT_EQ(echomq::read_stream(map).size(), 1U);
  EXPECT_EQ(echomq::read_stream(list_of({list_of({text_of("emq:{q}:events"), entries})})).size(),
            1U);
  EXPECT_TRUE(echomq::read_stream(Reply{}).empty());
}

TEST(EventType, EachHasItsName) {
  for (const auto type : {EventType::added,     EventType::delayed,
                          EventType::promoted,  EventType::progress,
                          EventType::retried,   EventType::released,
                          EventType::recovered, EventType::completed,
                          EventType::failed,    EventType::prioritized,
                          EventType::removed,   EventType::paused,
                          EventType::resumed,   EventType::waiting_children,
                          EventType::ready,     EventType::orphaned,
                          EventType::repaired,  EventType::custom,
                          EventType::gap,       EventType::other})
    EXPECT_EQ(echomq::event_type(name(type)), type) << name(type);
  EXPECT_EQ(echomq::event_type("teleported"), EventType::other);
}

// What scripts tell has a type of its own.
TEST(EventType, KnowsWhatTheScriptsEmit) {
  std::set<std::string> emitted;
  for (const auto& path : docs::files("lua", {".lua"})) {
    for (const auto& line : docs::lines(docs::read(path))) {
      if (!line.starts_with("-- EMITS ")) continue;
      std::istringstream words(line.substr(9));
      for (std::string word; words >> word;) emitted.insert(word);
    }
  }
  EXPECT_GE(emitted.size(), 9U);
  for (const auto& word : emitted)
    EXPECT_NE(echomq::event_type(word), EventType::other)
        << word << " wants an EventType in include/echomq/events.h";
}

}  // namespace
