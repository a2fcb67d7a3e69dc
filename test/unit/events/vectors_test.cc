// SPDX-License-Identifier: MIT
// The vectors of what others are told: the stream of events, and the outbox.
#include "support/vectors.h"

#include <gtest/gtest.h>

#include <string>

#include "events/entry.h"
#include "events/position.h"
#include "queue/outbox.h"
#include "stream.h"

namespace echomq {
namespace {

TEST(EventVectors, Entries) {
  const auto all = test::vectors("events");
  for (const auto& one : all.at("entries")) {
    const auto entries =
        read_range(echomq_test::list_of({echomq_test::entry_of(one.at("id"), one.at("fields"))}));
    ASSERT_EQ(entries.size(), 1U);
    nlohmann::json events = nlohmann::json::array();
    for (const auto& event : entries[0].events)
      events.push_back({{"id", event.id},
                        {"type", name(event.type)},
                        {"name", event.name},
                        {"job", event.job},
                        {"payload", event.payload},
                        {"at_ms", event.at_ms}});
    EXPECT_EQ(events, one.at("events"));
  }
}

TEST(EventVectors, Positions) {
  const auto all = test::vectors("events");
  for (const auto& one : all.at("positions")) {
    const auto position = Position::parse(one.at("id").get<std::string>());
    const nlohmann::json found =
        position ? nlohmann::json::array({position->entry, position->skip}) : nlohmann::json();
    EXPECT_EQ(found, one.at("position")) << one;
  }
}

TEST(EventVectors, Outbox) {
  const auto all = test::vectors("outbox");
  for (const auto& one : all.at("entries")) {
    const auto message =
        read_message(one.at("field").get<std::string>(), one.at("text").get<std::string>());
    nlohmann::json found;
    if (message)
      found = {{"child", message->child},
               {"parent_queue", message->parent_queue},
               {"parent", message->parent},
               {"epoch", message->epoch},
               {"kind", std::string(1, static_cast<char>(message->kind))},
               {"stamp_ms", message->stamp_ms},
               {"policy", std::string(1, message->policy)},
               {"value", message->value}};
    EXPECT_EQ(found, one.at("message")) << one;
  }
}

}  // namespace
}  // namespace echomq
