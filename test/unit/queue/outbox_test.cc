// SPDX-License-Identifier: MIT
#include "queue/outbox.h"

#include <gtest/gtest.h>

namespace echomq::test {
namespace {

wire::Reply text(std::string value) {
  wire::Reply reply;
  reply.text = std::move(value);
  return reply;
}

TEST(Outbox, AMessageTellsTheChildTheParentAndHowItEnded) {
  const auto message =
      read_message("c-1 pages:p.2", "1800000000000:f:1800000000123:i:why: it broke");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->child, "c-1");
  EXPECT_EQ(message->parent_queue, "pages");
  EXPECT_EQ(message->parent, "p.2");
  EXPECT_EQ(message->epoch, "1800000000000");
  EXPECT_EQ(message->kind, EndMessage::Kind::failed);
  EXPECT_EQ(message->stamp_ms, 1'800'000'000'123);
  EXPECT_EQ(message->policy, 'i');
  EXPECT_EQ(message->value, "why: it broke");
}

TEST(Outbox, WhatIsOfAnotherFormIsNoMessage) {
  for (const auto& [field, value] :
       {std::pair("c", "1:f:1:f:"), std::pair("c p", "1:f:1:f:"), std::pair("c q:p", "1:f:1:f"),
        std::pair("c q:p", "1:x:1:f:"), std::pair("c q:p", "1:ff:1:f:"), std::pair("c q:p", "")})
    EXPECT_FALSE(read_message(field, value)) << field << " " << value;
}

TEST(Outbox, EachEntryIsOfItsKind) {
  wire::Reply pairs;
  for (const char* const word : {"c q:p", "1:c:5:f:+r", "flow:77", "s:9:12", "flow:78", "o:8:1",
                                 "from:home:77", "4:123", "odd", "entry"})
    pairs.items.push_back(text(word));
  const auto page = read_outbox(pairs);
  EXPECT_EQ(page.entries, 5U);
  ASSERT_EQ(page.messages.size(), 1U);
  EXPECT_EQ(page.messages[0].value, "+r");
  ASSERT_EQ(page.plans.size(), 2U);
  EXPECT_TRUE(page.plans[0].sealed);
  EXPECT_EQ(page.plans[0].plan, "77");
  EXPECT_EQ(page.plans[0].entries, 12);
  EXPECT_FALSE(page.plans[1].sealed);
  EXPECT_EQ(page.plans[1].stamp_ms, 8);
  ASSERT_EQ(page.receipts.size(), 1U);
  EXPECT_EQ(page.receipts[0].home, "home");
  EXPECT_EQ(page.receipts[0].plan, "77");
  EXPECT_EQ(page.receipts[0].stamp_ms, 123);
}

}  // namespace
}  // namespace echomq::test
