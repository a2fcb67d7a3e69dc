// SPDX-License-Identifier: MIT
// The estimate of the server's clock, against a pretended server whose true clock the test knows.
#include "protocol/server_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace echomq {
namespace {

constexpr std::int64_t kOffsetUs = 1'767'225'600'000'000;  // server less ours
constexpr std::int64_t kHourUs = 3'600'000'000;

// One TIME command: the way there, the way back, and how the server's clock differs from ours.
void sample(ServerClock& clock, std::int64_t sent, std::int64_t there, std::int64_t back,
            std::int64_t offset = kOffsetUs) {
  clock.sample(sent, sent + there + back, sent + there + offset);
}

std::int64_t error_us(const ServerClock& clock, std::int64_t mono, std::int64_t offset) {
  return std::abs(clock.now_ms(mono) * 1'000 - (mono + offset));
}

TEST(ServerClock, IsNotReadyBeforeTheFirstSampleNorAfterAReset) {
  ServerClock clock;
  EXPECT_FALSE(clock.ready());
  sample(clock, 1'000, 50, 50);
  EXPECT_TRUE(clock.ready());
  clock.reset();
  EXPECT_FALSE(clock.ready());
}

TEST(ServerClock, AnEvenRoundTripGivesTheExactTime) {
  ServerClock clock;
  sample(clock, 5'000'000, 400, 400);
  EXPECT_EQ(clock.now_ms(7'000'000), (7'000'000 + kOffsetUs) / 1'000);
}

TEST(ServerClock, IsWrongByAtMostHalfTheShortestRoundTripHoweverTheTwoWaysDiffer) {
  EXPECT_TRUE(rc::check([] {
    ServerClock clock;
    std::vector<std::int64_t> round_trips;
    std::int64_t now = 0;
    const auto offset = kOffsetUs + *rc::gen::inRange<std::int64_t>(-kHourUs, kHourUs);
    const auto count = *rc::gen::inRange(1, 20);
    for (int i = 0; i < count; ++i) {
      const auto there = *rc::gen::inRange<std::int64_t>(0, 500'000);
      const auto back = *rc::gen::inRange<std::int64_t>(0, 500'000);
      sample(clock, now, there, back, offset);
      round_trips.push_back(there + back);
      now += there + back + 1'000;
      const auto window = std::min(round_trips.size(), ServerClock::kWindow);
      const auto shortest = *std::min_element(
          round_trips.end() - static_cast<std::ptrdiff_t>(window), round_trips.end());
      // now_ms cuts off less than a millisecond.
      RC_ASSERT(error_us(clock, now, offset) <= shortest / 2 + 1'000);
    }
  }));
}

TEST(ServerClock, ASlowAnswerDoesNotSpoilAFastOne) {
  ServerClock clock;
  sample(clock, 0, 100, 100);
  sample(clock, 1'000'000, 0, 900'000);
  EXPECT_LE(error_us(clock, 2'000'000, kOffsetUs), 1'000);
}

TEST(ServerClock, AStepLargerThanTheRoundTripsTakesEffectAtOnceForwardAndBack) {
  for (const auto step : {kHourUs, -kHourUs, std::int64_t{500'000}, std::int64_t{-500'000}}) {
    ServerClock clock;
    for (int i = 0; i < 8; ++i) sample(clock, i * 1'000'000, 100, 100);
    sample(clock, 9'000'000, 20'000, 30'000, kOffsetUs + step);
    EXPECT_LE(error_us(clock, 9'100'000, kOffsetUs + step), 25'000 + 1'000) << step;
  }
}

TEST(ServerClock, ASmallStepTakesEffectWhenTheOlderSamplesLeaveTheWindow) {
  ServerClock clock;
  sample(clock, 0, 1'000, 1'000);
  for (int i = 1; i <= 8; ++i) sample(clock, i * 1'000'000, 2'000, 2'000, kOffsetUs + 2'500);
  EXPECT_LE(error_us(clock, 9'000'000, kOffsetUs + 2'500), 1'000);
}

TEST(ServerClock, SamplesAgeOutByTimeToo) {
  ServerClock clock;
  sample(clock, 0, 1'000, 1'000);
  // Drifted by less than the uncertainty, so only its age can tell against the old sample.
  const auto later = ServerClock::kMaxAgeUs + 1'000'000;
  sample(clock, later, 3'000, 3'000, kOffsetUs + 3'500);
  EXPECT_LE(error_us(clock, later + 10'000, kOffsetUs + 3'500), 1'000);
}

TEST(ServerClock, TheOnlySampleStaysHoweverOldItIs) {
  ServerClock clock;
  sample(clock, 0, 100, 100);
  EXPECT_TRUE(clock.ready());
  EXPECT_LE(error_us(clock, 10 * kHourUs, kOffsetUs), 1'000);
}

TEST(ServerClock, AnAnswerBeforeItsQuestionIsIgnored) {
  ServerClock clock;
  clock.sample(2'000, 1'000, kOffsetUs);
  EXPECT_FALSE(clock.ready());
}

}  // namespace
}  // namespace echomq
