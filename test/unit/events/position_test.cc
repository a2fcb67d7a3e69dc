// SPDX-License-Identifier: MIT
// Ids of events: where to go on.
#include "events/position.h"

#include <gtest/gtest.h>

namespace {

using echomq::Position;

TEST(EventPosition, AnIdIsThePositionAfterTheEvent) {
  EXPECT_EQ((Position{0, 0}.id()), "0-0");
  EXPECT_EQ((Position{12, 0}.id()), "12-0");
  EXPECT_EQ((Position{11, 3}.id()), "12-3");
}

TEST(EventPosition, AnIdIsReadAsItWasWritten) {
  for (const auto& position : {Position{0, 0}, Position{7, 0}, Position{0, 1}, Position{41, 255}})
    EXPECT_EQ(Position::parse(position.id()), position) << position.id();
  EXPECT_EQ(Position::parse("12"), (Position{12, 0}));
  EXPECT_EQ(Position::parse("18446744073709551615-0"), (Position{~std::uint64_t{0}, 0}));
}

TEST(EventPosition, OtherTextIsRefused) {
  for (const char* text : {"", "-", "-1", "1-", "a", "1-b", "1 ", " 1", "+1", "1-0-0", "0-1", "$",
                           "18446744073709551616"})
    EXPECT_FALSE(Position::parse(text).has_value()) << text;
}

}  // namespace
