// SPDX-License-Identifier: MIT
#include "worker/lifecycle.h"

#include <gtest/gtest.h>

#include <vector>

namespace echomq {
namespace {

using ActionKind = Lifecycle::Action::Kind;

// All that the worker wants to do now, in order.
std::vector<ActionKind> wishes(Lifecycle& life, std::int64_t now = 0) {
  std::vector<ActionKind> kinds;
  for (auto action = life.next(now); action.kind != ActionKind::none && kinds.size() < 20;
       action = life.next(now)) {
    kinds.push_back(action.kind);
    if (action.kind == ActionKind::drained) break;
  }
  return kinds;
}

struct Connected : ::testing::Test {
  Lifecycle life{2, false};
  Connected() {
    life.connected();
    EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
  }
  void nothing_there() { life.claimed(2, 0, 0, 0, true, 0); }
};

TEST(Lifecycle, DoesNothingBeforeItIsConnected) {
  Lifecycle life{2, false};
  EXPECT_TRUE(wishes(life).empty());
}

TEST_F(Connected, BlocksWhenAClaimComesBackShort) {
  life.claimed(2, 1, 0, 0, true, 0);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
}

TEST_F(Connected, ClaimsAgainAsSoonAsASlotIsFreeAfterAFullClaim) {
  life.claimed(2, 2, 5, 0, true, 0);
  EXPECT_TRUE(wishes(life).empty()) << "both slots are taken";
  life.slot_freed();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
}

TEST_F(Connected, NeverHasTwoClaimsOnTheirWay) {
  life.look_again();
  EXPECT_TRUE(wishes(life).empty());
}

TEST_F(Connected, AReasonToLookThatComesDuringAClaimIsNotForgotten) {
  life.look_again();
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim})
      << "the claim may have been too early to see it";
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
}

TEST_F(Connected, ManyFreeSlotsAreFilledBySeveralClaims) {
  nothing_there();
  life.set_concurrency(300);
  life.look_again();
  for (const unsigned asked : {128U, 128U, 44U}) {
    const auto action = life.next(0);
    ASSERT_EQ(action.kind, ActionKind::claim);
    EXPECT_EQ(action.count, asked);
    life.claimed(asked, asked, 1'000, 0, true, 0);
  }
  EXPECT_EQ(life.next(0).kind, ActionKind::none);
}

TEST_F(Connected, AWakeLeadsToAClaim) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.woken();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
}

TEST_F(Connected, AWakeThatFindsNoFreeSlotGoesBackToTheMarker) {
  life.claimed(2, 1, 0, 0, true, 0);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.look_again();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
  life.claimed(1, 1, 0, 0, true, 0);
  life.woken();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::put_wake}) << "another worker may have a slot";
}

TEST_F(Connected, ALostWakeIsMadeGoodWhenTheBlockTimesOut) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.block_timed_out();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
}

TEST_F(Connected, TheTimekeeperPromotesAtItsTimeAndKeepsBlockingUntilThen) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.became_timekeeper(1'000);
  EXPECT_EQ(wishes(life, 999), std::vector{ActionKind::block});
  EXPECT_EQ(life.timer_ms(), 1'000);
  EXPECT_EQ(wishes(life, 1'000), std::vector{ActionKind::promote});
  EXPECT_EQ(life.timer_ms(), 0) << "no second alarm while the promotion is on its way";
  life.promoted(/*more_due=*/false);
  EXPECT_TRUE(wishes(life, 2'000).empty());
}

TEST_F(Connected, PromotesAgainWhileMoreIsDue) {
  nothing_there();
  (void)wishes(life);
  life.became_timekeeper(10);
  EXPECT_EQ(wishes(life, 10), (std::vector{ActionKind::promote, ActionKind::block}));
  life.promoted(/*more_due=*/true);
  EXPECT_EQ(wishes(life, 10), std::vector{ActionKind::promote});
}

TEST_F(Connected, TheEarlierOfTwoTimersCounts) {
  nothing_there();
  (void)wishes(life);
  life.became_timekeeper(500);
  (void)wishes(life, 1);
  life.became_timekeeper(300);
  EXPECT_EQ(life.timer_ms(), 300);
}

TEST_F(Connected, ADueJobSeenByAClaimIsPromotedWithoutAMarker) {
  life.claimed(2, 0, 0, /*due_ms=*/40, true, /*now_ms=*/50);
  EXPECT_EQ(wishes(life, 50), (std::vector{ActionKind::promote, ActionKind::block}));
}

TEST_F(Connected, AFailedPromotionIsTriedAgainLater) {
  life.claimed(2, 0, 0, 40, true, 50);
  (void)wishes(life, 50);
  life.promotion_failed(1'050);
  EXPECT_TRUE(wishes(life, 1'049).empty());
  EXPECT_EQ(wishes(life, 1'050), std::vector{ActionKind::promote});
}

TEST_F(Connected, APausedQueueIsNotClaimedInALoop) {
  life.claimed(2, 0, /*ready=*/7, 0, true, 0, /*open=*/false);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
}

// The claim was still under way when the queue was resumed, and the wake that told so was taken.
TEST_F(Connected, AWakeWhileAClaimIsToldThatTheQueueIsPausedIsNotLost) {
  life.look_again();
  life.claimed(2, 0, /*ready=*/7, 0, true, 0, /*open=*/false);
  EXPECT_EQ(wishes(life).front(), ActionKind::claim);
}

// --- another number of slots

TEST_F(Connected, MoreSlotsAreUsedAtOnce) {
  life.claimed(2, 2, 5, 0, true, 0);
  EXPECT_TRUE(wishes(life).empty());
  life.set_concurrency(5);
  const auto action = life.next(0);
  EXPECT_EQ(action.kind, ActionKind::claim);
  EXPECT_EQ(action.count, 3U);
}

TEST_F(Connected, OfFewerSlotsNoneIsFreeUntilSoManyAre) {
  life.claimed(2, 2, 5, 0, true, 0);
  life.set_concurrency(1);
  life.slot_freed();
  EXPECT_TRUE(wishes(life).empty()) << "one is still taken";
  EXPECT_TRUE(life.busy());
  life.slot_freed();
  EXPECT_FALSE(life.busy());
  const auto action = life.next(0);
  EXPECT_EQ(action.kind, ActionKind::claim);
  EXPECT_EQ(action.count, 1U);
}

TEST_F(Connected, AClaimMayBringMoreThanTheSlotsThatAreLeft) {
  life.set_concurrency(1);
  life.claimed(2, 2, 5, 0, true, 0);
  EXPECT_TRUE(wishes(life).empty());
  life.slot_freed();
  EXPECT_TRUE(wishes(life).empty());
  life.slot_freed();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
}

// It waited with a slot that it has no more: whoever has one is woken instead.
TEST_F(Connected, AWakeThatFindsItsSlotGoneGoesBackToTheMarker) {
  life.claimed(2, 1, 0, 0, true, 0);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.set_concurrency(1);
  life.woken();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::put_wake});
  life.set_concurrency(2);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
}

// --- the gates of a queue

TEST_F(Connected, AtAClosedGateItBlocks) {
  life.claimed(2, 1, /*ready=*/7, 0, true, 0, /*open=*/false, /*opens_ms=*/900);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  EXPECT_EQ(life.timer_ms(), 0) << "whoever pops the mark keeps the time";
}

TEST_F(Connected, AFullClaimThatClosesTheGateIsNotFollowedByAnother) {
  life.claimed(2, 2, /*ready=*/7, 0, true, 0, /*open=*/false, /*opens_ms=*/900);
  life.slot_freed();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
}

TEST_F(Connected, TheGatekeeperClaimsWhenTheGateOpens) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.became_gatekeeper(900);
  EXPECT_EQ(wishes(life, 899), std::vector{ActionKind::block});
  EXPECT_EQ(life.timer_ms(), 900);
  EXPECT_EQ(wishes(life, 900), std::vector{ActionKind::claim});
  EXPECT_EQ(life.timer_ms(), 0);
}

TEST_F(Connected, ABusyGatekeeperWakesAnother) {
  life.claimed(2, 1, 0, 0, true, 0);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.became_gatekeeper(900);
  life.look_again();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
  life.claimed(1, 1, 0, 0, true, 0);
  EXPECT_EQ(wishes(life, 900), std::vector{ActionKind::put_wake});
}

TEST_F(Connected, AGateThatIsStillClosedAtItsTimeIsKeptOn) {
  nothing_there();
  (void)wishes(life);
  life.became_gatekeeper(900);
  EXPECT_EQ(wishes(life, 900), std::vector{ActionKind::claim});
  life.claimed(2, 0, 7, 0, true, 899, /*open=*/false, /*opens_ms=*/900);
  EXPECT_EQ(life.timer_ms(), 900) << "nobody else has it";
  EXPECT_EQ(wishes(life, 901), std::vector{ActionKind::claim});
  life.claimed(2, 0, 7, 0, true, 901, /*open=*/false, /*opens_ms=*/1'900);
  EXPECT_EQ(life.timer_ms(), 0) << "the next time is marked";
}

TEST_F(Connected, TheTimesOfAGateAndOfADelayedJobAreBothKept) {
  nothing_there();
  (void)wishes(life);
  life.became_timekeeper(500);
  (void)wishes(life, 1);
  life.became_gatekeeper(700);
  EXPECT_EQ(life.timer_ms(), 500);
  EXPECT_EQ(wishes(life, 500), (std::vector{ActionKind::promote, ActionKind::block}));
  life.promoted(/*more_due=*/false);
  EXPECT_EQ(life.timer_ms(), 700);
  life.became_timekeeper(800);
  EXPECT_EQ(wishes(life, 700), std::vector{ActionKind::claim});
  EXPECT_EQ(life.timer_ms(), 800);
}

TEST_F(Connected, AGatekeeperThatIsPausedOrStopsHandsTheGateOver) {
  nothing_there();
  (void)wishes(life);
  life.became_gatekeeper(900);
  life.pause(true);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::put_gate});
  EXPECT_TRUE(wishes(life, 900).empty());
}

TEST_F(Connected, ARefusedClaimIsNotRepeatedByItself) {
  life.claim_failed();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
}

TEST_F(Connected, StoppingGivesBackTheWakeAndTheTimerThatItTook) {
  nothing_there();
  (void)wishes(life);
  life.became_timekeeper(5'000);
  (void)wishes(life, 1);
  life.stop();
  auto action = life.next(1);
  EXPECT_EQ(action.kind, ActionKind::put_wake) << "the block that was cut off may have popped one";
  action = life.next(1);
  EXPECT_EQ(action.kind, ActionKind::put_timer);
  EXPECT_EQ(action.due_ms, 5'000);
  EXPECT_EQ(life.next(9'000).kind, ActionKind::none) << "a stopped worker starts nothing";
}

TEST_F(Connected, ATickIsFiredAtItsTimeAndItsTimeIsKeptBesideThatOfAJob) {
  nothing_there();
  (void)wishes(life);
  life.became_tickkeeper(1'000);
  EXPECT_EQ(wishes(life, 1), std::vector{ActionKind::block});
  life.became_timekeeper(2'000);
  (void)wishes(life, 1);
  EXPECT_EQ(life.timer_ms(), 1'000);
  EXPECT_EQ(wishes(life, 1'000), std::vector{ActionKind::fire});
  EXPECT_EQ(life.timer_ms(), 2'000) << "no second alarm while it is fired";
  life.fired(/*more_due=*/true);
  EXPECT_EQ(wishes(life, 1'001), std::vector{ActionKind::fire});
  life.fired(/*more_due=*/false);
  EXPECT_TRUE(wishes(life, 1'999).empty());
  EXPECT_EQ(wishes(life, 2'000), std::vector{ActionKind::promote});
}

// The server answers whoever blocks before or after the one whose call put the mark there.
TEST_F(Connected, AMarkThatIsPoppedBeforeItsCallIsAnsweredIsKept) {
  nothing_there();
  (void)wishes(life);
  life.became_tickkeeper(1'000);
  life.became_timekeeper(1'000);
  EXPECT_EQ(wishes(life, 1'000),
            (std::vector{ActionKind::promote, ActionKind::fire, ActionKind::block}));
  life.became_tickkeeper(3'000);
  life.became_timekeeper(2'000);
  life.fired(/*more_due=*/false);
  life.promoted(/*more_due=*/false);
  EXPECT_EQ(life.timer_ms(), 2'000);
  EXPECT_EQ(wishes(life, 2'500), (std::vector{ActionKind::promote, ActionKind::block}));
  life.promoted(/*more_due=*/false);
  EXPECT_EQ(wishes(life, 3'000), std::vector{ActionKind::fire});
}

TEST_F(Connected, ATickThatCouldNotBeFiredIsTriedAgainLater) {
  nothing_there();
  (void)wishes(life);
  life.tick_due(10);
  EXPECT_EQ(wishes(life, 10), std::vector{ActionKind::fire});
  life.firing_failed(1'010);
  EXPECT_TRUE(wishes(life, 1'009).empty());
  EXPECT_EQ(life.timer_ms(), 1'010);
  EXPECT_EQ(wishes(life, 1'010), std::vector{ActionKind::fire});
}

TEST_F(Connected, StoppingGivesBackTheTimeOfATickAlsoOneThatIsBeingFired) {
  nothing_there();
  (void)wishes(life);
  life.became_tickkeeper(500);
  EXPECT_EQ(wishes(life, 500), (std::vector{ActionKind::fire, ActionKind::block}));
  life.stop();
  EXPECT_EQ(life.next(501).kind, ActionKind::put_wake);
  const auto action = life.next(501);
  EXPECT_EQ(action.kind, ActionKind::put_tick);
  EXPECT_EQ(action.due_ms, 500);
  life.fired(/*more_due=*/true);
  EXPECT_EQ(life.next(9'000).kind, ActionKind::none) << "a stopped worker fires nothing";
}

TEST_F(Connected, APausedWorkerHandsTheTimeOfATickOver) {
  nothing_there();
  (void)wishes(life);
  life.pause(true);
  life.became_tickkeeper(500);
  EXPECT_EQ(wishes(life, 900), std::vector{ActionKind::put_tick});
  EXPECT_EQ(life.timer_ms(), 0);
}

TEST(Lifecycle, StopsWhenEmptyOnlyOnceNothingWaitsIsDelayedOrActive) {
  Lifecycle life{1, /*stop_when_empty=*/true};
  life.connected();
  ASSERT_EQ(life.next(0).kind, ActionKind::claim);
  life.claimed(1, 0, 0, /*due_ms=*/99, false, 0);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block}) << "one is delayed";
  life.block_timed_out();
  ASSERT_EQ(life.next(0).kind, ActionKind::claim);
  life.claimed(1, 0, 0, 0, /*anyone_active=*/true, 0);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block}) << "another worker holds one";
  life.block_timed_out();
  ASSERT_EQ(life.next(0).kind, ActionKind::claim);
  life.claimed(1, 0, 0, 0, false, 0);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::drained});
  life.look_again();
  EXPECT_EQ(life.next(0).kind, ActionKind::claim)
      << "what was kept for the end of a job is one now";
}

TEST_F(Connected, APausedWorkerClaimsNothingUntilItIsResumed) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.pause(true);
  life.look_again();
  EXPECT_TRUE(wishes(life).empty());
  life.pause(false);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
}

TEST_F(Connected, APausedWorkerHandsOverWhatItPopped) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.pause(true);
  life.woken();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::put_wake});
  life.became_timekeeper(500);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::put_timer}) << "another one keeps the time";
  EXPECT_EQ(life.timer_ms(), 0);
  EXPECT_TRUE(wishes(life, 1'000).empty());
}

TEST_F(Connected, APausedTimekeeperHandsTheTimeOver) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.became_timekeeper(500);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.pause(true);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::put_timer});
}

TEST_F(Connected, AClaimThatWasOnItsWayWhenPausedIsWorked) {
  life.pause(true);
  life.claimed(2, 1, 5, 0, true, 0);
  EXPECT_TRUE(wishes(life).empty());
  EXPECT_TRUE(life.busy());
  life.slot_freed();
  life.pause(false);
  EXPECT_EQ(wishes(life), std::vector{ActionKind::claim});
}

TEST_F(Connected, APausedWorkerStops) {
  nothing_there();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::block});
  life.pause(true);
  EXPECT_TRUE(wishes(life).empty());
  life.stop();
  EXPECT_EQ(wishes(life), std::vector{ActionKind::put_wake}) << "the block may have popped it";
}

}  // namespace
}  // namespace echomq
