// SPDX-License-Identifier: MIT
// queue/limit, queue/hold, queue/gate, and what they do to claims: no more jobs than may, whatever
// clock the stamps come from, and a wake for those who wait when a gate opens.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class ScriptLimits : public ScriptTest {
 protected:
  void add_many(int count) {
    std::vector<JobToAdd> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back({.id = "j" + std::to_string(next_++)});
    q.add(jobs);
  }
  // How many a claim of that many gets.
  std::size_t taken(std::size_t count = 100) { return q.claim(count).runs.size(); }
  std::string gate() { return show(q.gate().items.at(0)); }
  std::string limits() { return show(redis({"HGET", q.keys.meta, "limits"})); }
  // The mark, which whoever pops it answers for.
  std::string mark(const std::string& member) { return q.score(q.keys.marker, member); }
  void pop_marks() { redis({"DEL", q.keys.marker}); }
  std::string at(std::int64_t ms) { return std::to_string(ms); }

 private:
  int next_ = 0;
};

// --- setting and reading

TEST_F(ScriptLimits, AQueueHasNone) {
  EXPECT_EQ(show(q.gate()), "[open 0 0 0 0 0 0 0]");
  EXPECT_EQ(q.counts().items.at(9).integer, 0);
  expect_unchanged("open 0 0 0 0 0 0 0", [&] { return q.gate(); });
}

TEST_F(ScriptLimits, AreSetOneByOneAndReadTogether) {
  EXPECT_EQ(show(q.limit({.concurrency = "4"})), "1");
  EXPECT_EQ(show(q.limit({.max = "100", .duration = "60000", .burst = "5"})), "1");
  EXPECT_EQ(show(q.gate()), "[open 0 4 100 60000 5 0 0]");
  EXPECT_EQ(q.counts().items.at(9).integer, 1);
  EXPECT_EQ(show(q.limit({.concurrency = "4"})), "0") << "it is so already";
  EXPECT_EQ(show(q.limit({.max = "0"})), "1");
  EXPECT_EQ(show(q.gate()), "[open 0 4 0 0 0 0 0]");
}

TEST_F(ScriptLimits, NothingIsLeftOfThemWhenTheyAreCleared) {
  const auto before = dump();
  q.limit({.concurrency = "4", .max = "2", .duration = "1000"});
  q.hold(500);
  add_many(5);
  const auto claimed = q.claim(2);
  q.hold(0);
  ASSERT_EQ(taken(), 2U);
  q.limit({.concurrency = "0", .max = "0"});
  EXPECT_EQ(limits(), "(nil)");
  EXPECT_FALSE(dump().contains(q.keys.limiter));
  EXPECT_EQ(taken(), 3U);
}

TEST_F(ScriptLimits, AFieldOfAnotherFormLimitsNothing) {
  add_many(3);
  for (const auto* const odd : {"", "5", "1:2", "a:b:c:d", "1:1:0:0 "}) {
    redis({"HSET", q.keys.meta, "limits", odd});
    EXPECT_EQ(gate(), "open") << odd;
    EXPECT_EQ(taken(1), 1U) << odd;
    add_many(1);
  }
}

// --- concurrency

TEST_F(ScriptLimits, NoMoreJobsAreActiveThanMayOverAllClaims) {
  add_many(10);
  q.limit({.concurrency = "3"});
  auto first = q.claim(2);
  EXPECT_EQ(first.gate(), "open");
  auto second = q.claim(5, {.node = 2});
  EXPECT_EQ(second.runs.size(), 1U);
  EXPECT_EQ(second.gate(), "concurrency");
  EXPECT_EQ(second.opens(), 0);
  EXPECT_EQ(second.left(), 7);
  EXPECT_EQ(taken(), 0U);
  q.finish({{.run = first.runs.at(0)}, {.run = first.runs.at(1)}});
  EXPECT_EQ(taken(), 2U);
  EXPECT_EQ(q.active(), 3);
}

// Each way in which a claim ends, of which one job is waiting for a slot.
TEST_F(ScriptLimits, EveryEndOfAClaimWakesAWorkerForTheSlot) {
  const std::vector<std::pair<std::string, std::function<void(const JobRun&)>>> ends{
      {"completed", [&](const JobRun& run) { q.finish({{.run = run}}); }},
      {"failed", [&](const JobRun& run) { q.finish({{.run = run, .completed = false}}); }},
      {"dropped", [&](const JobRun& run) { q.finish({{.run = run, .drop = true}}); }},
      {"gone",
       [&](const JobRun& run) {
         redis({"DEL", q.job(run.id)});
         q.finish({{.run = run}});
       }},
      {"retried", [&](const JobRun& run) { q.retry({{.run = run}}); }},
      {"retried later", [&](const JobRun& run) { q.retry({{.run = run, .delay = 60'000}}); }},
      {"released", [&](const JobRun& run) { q.release({{.run = run}}); }},
      {"recovered",
       [&](const JobRun&) {
         q.now += 60'000;
         q.recover(q.peek_expired(), 5);
       }},
      {"recovered to failed",
       [&](const JobRun&) {
         q.now += 60'000;
         q.recover(q.peek_expired(), 0);
       }},
      {"gone when recovered",
       [&](const JobRun& run) {
         redis({"DEL", q.job(run.id)});
         q.now += 60'000;
         q.recover(q.peek_expired(), 5);
       }},
      {"removed", [&](const JobRun& run) { q.remove({run.id}, {.state = "active"}); }},
      {"gone when released", [&](const JobRun& run) {
         redis({"DEL", q.job(run.id)});
         q.release({{.run = run}});
       }}};
  for (const auto& [way, end] : ends) {
    delete_queue(redis, q.name());
    q.open();
    q.limit({.concurrency = "1"});
    add_many(2);
    const auto run = q.claim(2).runs.at(0);
    pop_marks();
    ASSERT_EQ(taken(), 0U) << way;
    EXPECT_EQ(mark("0"), "(nil)") << way << ": a closed gate wakes nobody";
    end(run);
    EXPECT_EQ(mark("0"), "0") << way;
    EXPECT_EQ(taken(), 1U) << way;
  }
}

TEST_F(ScriptLimits, AnEndThatOpensNothingWakesNobody) {
  add_many(4);
  q.limit({.concurrency = "3"});
  const auto two = q.claim(2);
  pop_marks();
  q.finish({{.run = two.runs.at(0)}});
  EXPECT_EQ(mark("0"), "(nil)") << "a slot was free all the time";
}

// Lowered below what runs: nothing is taken until so many have ended that it holds again.
TEST_F(ScriptLimits, ALoweredConcurrencyTakesEffectAsJobsEnd) {
  add_many(6);
  const auto claimed = q.claim(4);
  q.limit({.concurrency = "2"});
  EXPECT_EQ(taken(), 0U);
  pop_marks();
  q.finish({{.run = claimed.runs.at(0)}, {.run = claimed.runs.at(1)}});
  EXPECT_EQ(mark("0"), "(nil)");
  EXPECT_EQ(taken(), 0U);
  q.finish({{.run = claimed.runs.at(2)}});
  EXPECT_EQ(mark("0"), "0");
  EXPECT_EQ(taken(), 1U);
}

TEST_F(ScriptLimits, RaisedOrClearedItWakesWhatWaits) {
  add_many(5);
  q.limit({.concurrency = "1"});
  ASSERT_EQ(taken(), 1U);
  pop_marks();
  q.limit({.concurrency = "2"});
  EXPECT_EQ(mark("0"), "0");
  EXPECT_EQ(taken(), 1U);
  pop_marks();
  q.limit({.concurrency = "0"});
  EXPECT_EQ(mark("0"), "0");
  EXPECT_EQ(taken(), 3U);
}

// P10: what counts is who is in `active`, so there is no second account of it that could drift.
TEST_F(ScriptLimits, P10_TheSlotsInUseAreTheActiveJobs) {
  add_many(6);
  q.limit({.concurrency = "2", .max = "100", .duration = "60000"});
  const auto claimed = q.claim(2);
  redis({"DEL", q.keys.limiter});
  EXPECT_EQ(taken(), 0U);
  redis({"ZREM", q.keys.active, claimed.runs.at(0).id});
  EXPECT_EQ(taken(), 1U);
  redis({"DEL", q.keys.active});
  EXPECT_EQ(taken(), 2U);
}

// P7: the slot of a worker that died is free again when its lease has been recovered.
TEST_F(ScriptLimits, P7_ADeadWorkerKeepsNoSlot) {
  add_many(2);
  q.limit({.concurrency = "1"});
  ASSERT_EQ(q.claim(1, {.lease_ms = 5'000}).runs.size(), 1U);
  q.now += 7'000;
  EXPECT_EQ(taken(), 0U);
  ASSERT_EQ(statuses(q.recover(q.peek_expired(), 5)), "ok");
  EXPECT_EQ(taken(), 1U);
}

// B34: what waits for its children is not active, so it takes no slot.
TEST_F(ScriptLimits, B34_JobsThatWaitForOthersTakeNoSlot) {
  add_many(1);
  q.limit({.concurrency = "1"});
  redis({"ZADD", q.keys.waiting_children, "1", "parent"});
  EXPECT_EQ(taken(), 1U);
}

// --- the window

TEST_F(ScriptLimits, AWindowLetsSoManyThroughAndOpensAtItsEnd) {
  add_many(10);
  q.limit({.max = "3", .duration = "1000"});
  const auto start = q.now;
  EXPECT_EQ(q.claim(2).gate(), "open");
  q.now += 400;
  const auto closing = q.claim(5);
  EXPECT_EQ(closing.runs.size(), 1U);
  EXPECT_EQ(closing.gate(), "rate");
  EXPECT_EQ(closing.opens(), start + 1'000);
  q.now = start + 999;
  EXPECT_EQ(taken(), 0U);
  q.now = start + 1'000;
  EXPECT_EQ(gate(), "open");
  EXPECT_EQ(taken(), 3U);
}

TEST_F(ScriptLimits, AJobThatIsGivenBackCounts) {
  add_many(3);
  q.limit({.max = "2", .duration = "1000"});
  const auto claimed = q.claim(2);
  q.release({{.run = claimed.runs.at(0)}, {.run = claimed.runs.at(1)}});
  EXPECT_EQ(taken(), 0U);
  q.now += 1'000;
  EXPECT_EQ(q.claim(2).ids(), claimed.ids()) << "in the order in which they were taken";
}

TEST_F(ScriptLimits, OnlyWhatIsTakenCounts) {
  q.limit({.max = "2", .duration = "1000"});
  EXPECT_EQ(taken(), 0U);
  EXPECT_FALSE(dump().contains(q.keys.limiter)) << "an idle claim opens no window";
  q.now += 900;
  add_many(3);
  EXPECT_EQ(taken(), 2U);
  q.now += 200;
  EXPECT_EQ(taken(), 0U) << "the window began with the first job";
}

TEST_F(ScriptLimits, AChangedWindowKeepsItsCount) {
  add_many(10);
  q.limit({.max = "2", .duration = "10000"});
  ASSERT_EQ(taken(), 2U);
  pop_marks();
  q.limit({.max = "5", .duration = "10000"});
  EXPECT_EQ(mark("0"), "0");
  EXPECT_EQ(taken(), 3U);
  q.limit({.max = "5", .duration = "2000"});
  EXPECT_EQ(taken(), 0U);
  q.now += 2'000;
  EXPECT_EQ(taken(1), 1U);
  q.limit({.max = "0"});
  EXPECT_EQ(taken(), 4U);
}

// --- the bucket

TEST_F(ScriptLimits, ASmoothRateIsEvenlySpaced) {
  add_many(20);
  q.limit({.max = "10", .duration = "1000", .burst = "1"});
  const auto start = q.now;
  std::vector<std::int64_t> starts;
  for (; starts.size() < 5; ++q.now)
    for (const auto& run : q.claim(5).runs) {
      (void)run;
      starts.push_back(q.now - start);
    }
  EXPECT_EQ(starts, (std::vector<std::int64_t>{0, 100, 200, 300, 400}));
}

TEST_F(ScriptLimits, ASmoothRateTellsWhenTheNextOneMay) {
  add_many(20);
  q.limit({.max = "3", .duration = "1000", .burst = "2"});
  const auto first = q.claim(5);
  EXPECT_EQ(first.runs.size(), 2U);
  EXPECT_EQ(first.opens(), q.now + 334);
  q.now += 333;
  EXPECT_EQ(taken(), 0U);
  q.now += 1;
  EXPECT_EQ(taken(), 1U);
  q.now += 60'000;
  EXPECT_EQ(taken(), 2U) << "an idle minute saves up no more than a burst";
}

TEST_F(ScriptLimits, ASmoothRateIsExactOverALongTime) {
  q.limit({.max = "7", .duration = "1000", .burst = "2"});
  std::size_t all = 0;
  for (int second = 0; second < 30; ++second)
    for (int step = 0; step < 50; ++step) {
      if (all % 50 == 0) add_many(60);
      all += taken();
      q.now += 20;
    }
  EXPECT_EQ(all, 2U + 209U) << "a burst, and what came in 29.98 seconds";
}

TEST_F(ScriptLimits, TheGreatestNumbersAreExact) {
  add_many(3);
  q.limit({.max = "1000000", .duration = "2592000000", .burst = "1000000"});
  const auto level = [&] { return show(redis({"HGET", q.keys.limiter, "level"})); };
  ASSERT_EQ(taken(1), 1U);
  EXPECT_EQ(level(), "2591997408000000");
  q.now += 1;
  ASSERT_EQ(taken(1), 1U);
  EXPECT_EQ(level(), "2591994817000000");
}

// --- the hold

TEST_F(ScriptLimits, AHoldStopsClaimsUntilItsEnd) {
  add_many(2);
  EXPECT_EQ(show(q.hold(5'000)), at(q.now + 5'000));
  const auto claimed = q.claim(5);
  EXPECT_EQ(claimed.gate(), "held");
  EXPECT_EQ(claimed.opens(), q.now + 5'000);
  EXPECT_EQ(claimed.ids(), "");
  q.now += 4'999;
  EXPECT_EQ(gate(), "held");
  q.now += 1;
  EXPECT_EQ(gate(), "open");
  EXPECT_EQ(taken(), 2U);
  EXPECT_EQ(limits(), "(nil)") << "it is forgotten";
  EXPECT_FALSE(dump().contains(q.keys.limiter));
}

TEST_F(ScriptLimits, TheLongerOfTwoHoldsCounts) {
  add_many(1);
  q.hold(5'000);
  const auto until = q.now + 5'000;
  q.now += 1'000;
  EXPECT_EQ(show(q.hold(1'000)), at(until));
  EXPECT_EQ(show(q.hold(9'000)), at(q.now + 9'000));
  q.now = until;
  EXPECT_EQ(taken(), 0U);
}

TEST_F(ScriptLimits, AHoldThatIsReleasedWakesWhatWaits) {
  add_many(2);
  q.hold(600'000);
  taken();
  pop_marks();
  EXPECT_EQ(show(q.hold(0)), "0");
  EXPECT_EQ(mark("0"), "0");
  EXPECT_EQ(mark("2"), "(nil)");
  EXPECT_EQ(taken(), 2U);
  EXPECT_EQ(limits(), "(nil)");
}

TEST_F(ScriptLimits, AHoldLeavesTheLimitsAsTheyAre) {
  add_many(5);
  q.limit({.concurrency = "2"});
  q.hold(1'000);
  EXPECT_EQ(limits(), "2:0:0:0:0");
  q.now += 1'000;
  EXPECT_EQ(taken(), 2U);
  EXPECT_EQ(limits(), "2:0:0:0:0");
  q.hold(1'000);
  q.hold(0);
  EXPECT_EQ(limits(), "2:0:0:0:0");
}

TEST_F(ScriptLimits, TheLengthOfAQueueOutlastsAHold) {
  q.limit({.length = "1"});
  q.hold(1'000);
  q.now += 2'000;
  q.claim(1);
  EXPECT_EQ(statuses(q.add({{.id = "x"}, {.id = "y"}})), "ok full");
}

TEST_F(ScriptLimits, AReleaseWithAHoldIsOneStep) {
  add_many(2);
  const auto run = q.claim(1).runs.at(0);
  EXPECT_EQ(statuses(q.release({{.run = run, .ats = 1}}, 3'000)), "ok");
  EXPECT_EQ(list(q.keys.wait), "j0 j1");
  EXPECT_EQ(q.run("j0"), "1:0:0:0:0::");
  EXPECT_EQ(gate(), "held");
  // The same call again, because its answer was lost: it does not begin a hold anew.
  q.now += 2'999;
  EXPECT_EQ(statuses(q.release({{.run = run, .ats = 1}}, 3'000)), "stale");
  q.now += 1;
  EXPECT_EQ(q.claim(2).ids(), "j0 j1");
}

// --- together

TEST_F(ScriptLimits, TheNarrowestOfThemCounts) {
  add_many(20);
  q.limit({.concurrency = "3", .max = "5", .duration = "1000"});
  const auto first = q.claim(10);
  EXPECT_EQ(first.runs.size(), 3U);
  EXPECT_EQ(first.gate(), "concurrency");
  q.finish({{.run = first.runs.at(0)}, {.run = first.runs.at(1)}, {.run = first.runs.at(2)}});
  const auto second = q.claim(10);
  EXPECT_EQ(second.runs.size(), 2U);
  EXPECT_EQ(second.gate(), "rate");
  q.hold(9'000);
  EXPECT_EQ(gate(), "held");
  q.pause(true);
  EXPECT_EQ(gate(), "paused");
  EXPECT_EQ(q.claim(1).gate(), "paused");
}

TEST_F(ScriptLimits, APausedQueueWakesNobodyWhenAnotherGateOpens) {
  add_many(3);
  q.limit({.concurrency = "1"});
  const auto run = q.claim(1).runs.at(0);
  q.pause(true);
  pop_marks();
  q.finish({{.run = run}});
  q.limit({.concurrency = "5"});
  q.hold(1'000);
  q.hold(0);
  EXPECT_FALSE(dump().contains(q.keys.marker));
  q.pause(false);
  EXPECT_EQ(mark("0"), "0");
}

TEST_F(ScriptLimits, PrioritiesAndTheCrashedLaneKeepTheirOrder) {
  q.add({{.id = "x"}});
  q.claim(1, {.lease_ms = 1'000});
  q.now += 60'000;
  ASSERT_EQ(statuses(q.recover(q.peek_expired(), 5)), "ok");
  q.add({{.id = "p2", .priority = 2}, {.id = "p1", .priority = 1}, {.id = "a"}});
  q.limit({.max = "1", .duration = "1000"});
  std::string order;
  for (int i = 0; i < 4; ++i, q.now += 1'000) order += q.claim(5).ids() + " ";
  EXPECT_EQ(order, "x a p1 p2 ");
}

TEST_F(ScriptLimits, DelayedJobsAreToldOfWhileTheGateIsClosed) {
  add_many(1);
  q.add({{.id = "late", .delay = 500}});
  q.hold(60'000);
  EXPECT_EQ(q.claim(5).due(), at(q.now + 500));
  q.now += 500;
  EXPECT_EQ(statuses(q.promote(q.peek_due())), "ok");
}

// --- who keeps the time

TEST_F(ScriptLimits, TheTimeOfAClosedGateIsMarkedOnce) {
  add_many(5);
  q.limit({.max = "1", .duration = "1000"});
  const auto end = q.now + 1'000;
  taken();
  EXPECT_EQ(mark("2"), at(end));
  EXPECT_EQ(mark("0"), "0") << "of the adds";
  pop_marks();  // somebody keeps it
  expect_unchanged("rate " + at(end) + " 0 1 1000 0 0 0", [&] { return q.gate(); });
  q.claim(5);
  q.claim(0);
  EXPECT_EQ(mark("2"), "(nil)");
  EXPECT_EQ(mark("0"), "(nil)");
  q.now = end;
  taken();
  EXPECT_EQ(mark("2"), at(end + 1'000)) << "the next window has another end";
}

TEST_F(ScriptLimits, NothingIsMarkedWhileNothingWaits) {
  add_many(1);
  q.limit({.max = "1", .duration = "1000"});
  taken();
  EXPECT_EQ(mark("2"), "(nil)");
  q.hold(60'000);
  taken();
  EXPECT_EQ(mark("2"), "(nil)");
  add_many(1);
  EXPECT_EQ(mark("0"), "0");
  taken();
  EXPECT_EQ(mark("2"), at(q.now + 60'000));
}

TEST_F(ScriptLimits, AChangeIsMarkedAnew) {
  add_many(5);
  q.limit({.max = "1", .duration = "60000"});
  taken();
  pop_marks();
  q.limit({.max = "1", .duration = "5000"});
  EXPECT_EQ(mark("0"), "0");
  taken();
  EXPECT_EQ(mark("2"), at(q.now + 5'000));
  q.hold(7'000);
  taken();
  EXPECT_EQ(mark("2"), at(q.now + 7'000));
}

// A keeper that ends forgets on behalf of all that the time is kept.
TEST_F(ScriptLimits, ATimeThatNobodyKeepsIsMarkedAnew) {
  add_many(5);
  q.hold(60'000);
  taken();
  pop_marks();
  redis({"HDEL", q.keys.limiter, "armed"});
  taken();
  EXPECT_EQ(mark("2"), at(q.now + 60'000));
}

// --- clocks

// Two clients whose clocks differ a little share one window and one bucket.
TEST_F(ScriptLimits, StampsThatDifferALittleAreOneClock) {
  for (const auto* const burst : {"0", "1"}) {
    SCOPED_TRACE(burst);
    q.limit({.max = "10", .duration = "100", .burst = burst});
    add_many(100);
    std::size_t all = 0;
    const auto start = q.now;
    for (int i = 0; i < 100; ++i) {  // half a second, with one clock 50 ms behind
      q.now = start + i * 5 - (i % 2) * 50;
      all += taken();
    }
    EXPECT_LE(all, 50U + 10U);
    EXPECT_GE(all, 40U);
    q.limit({.max = "0"});
    ASSERT_EQ(q.claim(100).gate(), "open");
    q.now += 100'000;
  }
}

TEST_F(ScriptLimits, AClockThatIsSetBackHoldsNothingForEver) {
  const auto start = q.now;
  add_many(20);
  const auto set_back = [&](const char* what) {
    ASSERT_EQ(taken(), 0U) << what;
    q.now -= 3'600'000;
    EXPECT_EQ(gate(), "open") << what;
    EXPECT_EQ(taken(1), 1U) << what;
    q.now = start;
  };
  q.limit({.max = "1", .duration = "1000"});
  ASSERT_EQ(taken(), 1U);
  set_back("window");
  q.limit({.max = "1", .duration = "1000", .burst = "1"});
  ASSERT_EQ(taken(), 1U);
  set_back("bucket");
  q.limit({.max = "0"});
  q.hold(10'000);
  set_back("hold");
}

// By less than the limit's own length nobody can tell it from clients that differ: it lasts at most
// twice as long.
TEST_F(ScriptLimits, AClockThatIsSetBackALittleDelaysByItsStepAtMost) {
  add_many(5);
  q.limit({.max = "1", .duration = "60000"});
  ASSERT_EQ(taken(), 1U);
  q.now -= 30'000;
  EXPECT_EQ(taken(), 0U);
  q.now += 90'000;
  EXPECT_EQ(taken(), 1U);
}

}  // namespace
}  // namespace echomq::test
