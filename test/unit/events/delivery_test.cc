// SPDX-License-Identifier: MIT
// Handing events to a callback, and ending that while it runs.
#include "events/delivery.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace {

using echomq::Delivery;
using echomq::Event;

std::vector<Event> three() { return {Event{.id = "1-0"}, Event{.id = "2-0"}, Event{.id = "3-0"}}; }

TEST(Delivery, KnowsTheLastThatReturned) {
  std::vector<std::string> inside;
  Delivery* self = nullptr;
  Delivery delivery([&](const Event&) { inside.push_back(self->last_id()); });
  self = &delivery;
  EXPECT_EQ(delivery.last_id(), "");
  delivery.begin_at("0-0");
  EXPECT_TRUE(delivery.deliver(three()));
  EXPECT_EQ(inside, (std::vector<std::string>{"0-0", "1-0", "2-0"}));
  EXPECT_EQ(delivery.last_id(), "3-0");
  delivery.begin_at("0-0");
  EXPECT_EQ(delivery.last_id(), "3-0");
}

TEST(Delivery, CanBeEndedFromInsideItsCallback) {
  int calls = 0;
  Delivery* self = nullptr;
  Delivery delivery([&](const Event&) {
    ++calls;
    self->end(/*wait=*/true);
  });
  self = &delivery;
  EXPECT_FALSE(delivery.deliver(three()));
  EXPECT_FALSE(delivery.deliver(three()));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(delivery.last_id(), "1-0");
}

TEST(Delivery, AnEndWaitsForTheCallThatRuns) {
  std::latch began{1};
  std::latch may_return{1};
  std::atomic<bool> returned = false;
  std::atomic<bool> ended = false;
  Delivery delivery([&](const Event&) {
    began.count_down();
    may_return.wait();
    returned = true;
  });
  std::thread listener([&] { EXPECT_FALSE(delivery.deliver(three())); });
  began.wait();
  std::thread closer([&] {
    delivery.end(/*wait=*/true);
    EXPECT_TRUE(returned);
    ended = true;
  });
  delivery.end(/*wait=*/false);
  EXPECT_FALSE(ended);
  may_return.count_down();
  closer.join();
  listener.join();
}

TEST(EventHandlers, AnEventGoesToTheFirstThatFits) {
  using echomq::EventType;
  std::string told;
  const auto note = [&told](std::string word) {
    return [&told, word](const Event&) { told += word + " "; };
  };
  echomq::EventHandlers handlers;
  handlers.on(EventType::failed, note("failed"))
      .on_custom("mine", note("mine"))
      .on(EventType::custom, note("custom"));
  const auto tell = [&handlers](EventType type, const std::string& name) {
    handlers(Event{.type = type, .name = name});
  };
  tell(EventType::completed, "completed");
  EXPECT_EQ(told, "");
  handlers.otherwise(note("otherwise"));
  tell(EventType::completed, "completed");
  tell(EventType::failed, "failed");
  tell(EventType::custom, "mine");
  tell(EventType::custom, "yours");
  tell(EventType::other, "mine");
  EXPECT_EQ(told, "otherwise failed mine custom otherwise ");
}

}  // namespace
