// SPDX-License-Identifier: MIT
// The scripts of schedulers: putting, firing, pausing, removing and reading them. Which ticks there
// are is for the callers to say; that no tick makes two jobs is for the scripts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/script_test.h"

namespace echomq::test {
namespace {

constexpr const char* kEveryMinute = "0:0:0:0:once:1:allow:every:60000:0";

class ScriptSchedule : public ScriptTest {
 protected:
  // So many minutes from now.
  [[nodiscard]] std::string minute(int minutes) const {
    return std::to_string(q.now + minutes * 60'000);
  }
  std::string next(const std::string& id) { return q.score(q.keys.schedules, id); }
  std::string stored(const std::string& id, const std::string& name) {
    return show(redis({"HGET", q.scheduler(id), name}));
  }
  std::string mark() { return q.score(q.keys.marker, "3"); }
  void put(const std::string& id, const std::string& at) {
    ASSERT_EQ(statuses(q.put_scheduler({.id = id, .next = at})), "ok");
  }
};

// --- put

TEST_F(ScriptSchedule, IsPutWithItsNextTickAndMarksIt) {
  const auto reply = q.put_scheduler({.id = "a", .next = minute(1)});
  EXPECT_EQ(show(reply), "[[ok]   " + minute(1) + "]");
  EXPECT_EQ(next("a"), minute(1));
  EXPECT_EQ(mark(), minute(1));
  put("b", minute(2));
  EXPECT_EQ(mark(), minute(1)) << "the earlier one stands there still";
  put("c", minute(0));
  EXPECT_EQ(mark(), minute(0));
}

TEST_F(ScriptSchedule, B12_TheSameAgainChangesNothing) {
  put("a", minute(1));
  expect_unchanged("done", [&] { return q.put_scheduler({.id = "a", .next = minute(2)}); });
  q.now += 60'000;
  ASSERT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "ok");
  expect_unchanged("done",
                   [&] { return q.put_scheduler({.id = "a", .next = minute(2), .seen = ""}); });
}

TEST_F(ScriptSchedule, AnotherTemplateLeavesTheNextTick) {
  put("a", minute(1));
  const auto reply = q.put_scheduler({.id = "a", .next = minute(9), .data = "other"});
  EXPECT_EQ(statuses(reply), "ok");
  EXPECT_EQ(show(reply.items.at(3)), minute(1));
  EXPECT_EQ(next("a"), minute(1));
  EXPECT_EQ(stored("a", "data"), "other");
  EXPECT_EQ(statuses(q.put_scheduler({.id = "a", .next = minute(9), .shape = "7:0:3:job"})), "ok")
      << "the data alone is no reason to call it the same";
}

TEST_F(ScriptSchedule, AnotherScheduleSetsTheNextTickAnew) {
  put("a", minute(1));
  EXPECT_EQ(statuses(q.put_scheduler(
                {.id = "a", .next = minute(5), .def = "0:0:0:0:skip:1:allow:every:300000:0"})),
            "ok");
  EXPECT_EQ(next("a"), minute(5));
  EXPECT_EQ(statuses(q.put_scheduler({.id = "a", .next = ""})), "ok");
  EXPECT_EQ(next("a"), "inf") << "it has ended, and stays";
}

TEST_F(ScriptSchedule, WhoSawAnotherLastTickIsTold) {
  put("a", minute(0));
  ASSERT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "ok");
  const auto before = dump();
  const auto reply = q.put_scheduler(
      {.id = "a", .next = minute(0), .def = "0:0:0:0:skip:1:allow:every:1000:0", .seen = ""});
  EXPECT_EQ(show(reply), "[[moved] " + std::string(kEveryMinute) + " " + minute(0) + ":1:0:a." +
                             minute(0) + " ]");
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(ScriptSchedule, WhatWasMadeCountsOnUnlessStartOrLimitAreOthers) {
  put("a", minute(0));
  ASSERT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1), .skipped = 3}})),
            "ok");
  const auto ran = [this](int made) {
    return minute(0) + ":" + std::to_string(made) + ":3:a." + minute(0);
  };
  q.put_scheduler({.id = "a", .next = minute(2), .def = "0:99:0:0:once:1:allow:every:60000:0"});
  EXPECT_EQ(stored("a", "ran"), ran(1));
  q.put_scheduler({.id = "a", .next = minute(2), .def = "0:99:5:0:once:1:allow:every:60000:0"});
  EXPECT_EQ(stored("a", "ran"), ran(0)) << "the last tick and job stay";
  redis({"HSET", q.scheduler("a"), "ran", ran(1)});
  q.put_scheduler({.id = "a", .next = minute(2), .def = "7:99:5:0:once:1:allow:every:60000:0"});
  EXPECT_EQ(stored("a", "ran"), ran(0));
}

// --- fire

TEST_F(ScriptSchedule, ATickMakesItsJobOfTheTemplate) {
  const std::string opts = R"({"attempts":3})";
  q.put_scheduler(
      {.id = "a", .next = minute(0), .shape = "0:0:6:report" + opts, .data = "payload"});
  redis({"DEL", q.keys.marker});
  const auto reply = q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}});
  EXPECT_EQ(show(reply), "[[ok] " + minute(1) + "]");
  const auto id = "a." + minute(0);
  EXPECT_EQ(list(q.keys.wait), id);
  EXPECT_EQ(q.field(id, "head"), std::to_string(q.now) + ":6:report" + opts);
  EXPECT_EQ(q.field(id, "data"), "payload");
  EXPECT_EQ(next("a"), minute(1));
  EXPECT_EQ(mark(), minute(1));
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0") << "a worker is woken for the job";
  EXPECT_EQ(stored("a", "ran"), minute(0) + ":1:0:" + id);
}

TEST_F(ScriptSchedule, TheJobStandsWhereItsOptionsSay) {
  q.put_scheduler({.id = "p", .next = minute(0), .shape = "7:0:3:job"});
  q.put_scheduler({.id = "l", .next = minute(0), .shape = "0:1:3:job"});
  q.add({{.id = "waits"}});
  ASSERT_EQ(statuses(q.fire({{.id = "p", .tick = minute(0), .next = minute(1)},
                             {.id = "l", .tick = minute(0), .next = minute(1)}})),
            "ok ok");
  EXPECT_EQ(list(q.keys.wait), "l." + minute(0) + " waits");
  EXPECT_EQ(q.score(q.keys.prioritized, "p." + minute(0)), "30064771073");
  EXPECT_EQ(q.claim(9).ids(), "l." + minute(0) + " waits p." + minute(0));
}

TEST_F(ScriptSchedule, ATickIsMadeOnceHoweverOftenItIsFired) {
  put("a", minute(0));
  const FireStep step{.id = "a", .tick = minute(0), .next = minute(1), .seen = minute(0)};
  ASSERT_EQ(statuses(q.fire({step})), "ok");
  expect_unchanged("moved", [&] { return q.fire({step}); });
}

TEST_F(ScriptSchedule, NoTickIsMadeBeforeItsTime) {
  put("a", minute(1));
  expect_unchanged("moved",
                   [&] { return q.fire({{.id = "a", .tick = minute(1), .next = minute(2)}}); });
  put("b", minute(0));
  expect_unchanged("moved",
                   [&] { return q.fire({{.id = "b", .tick = minute(1), .next = minute(2)}}); });
}

TEST_F(ScriptSchedule, AnotherScheduleIsNotFiredByTheOldOne) {
  put("a", minute(0));
  expect_unchanged("moved", [&] {
    return q.fire({{.id = "a", .tick = minute(0), .next = minute(1), .def = "another"}});
  });
}

// A scheduler that was put anew by a clock that is behind.
TEST_F(ScriptSchedule, ATickBehindTheLastOneIsNotMadeAgain) {
  put("a", minute(0));
  ASSERT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "ok");
  redis({"DEL", q.job("a." + minute(0))});
  redis({"ZADD", q.keys.schedules, minute(-1), "a"});
  expect_unchanged("moved",
                   [&] { return q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}}); });
  redis({"HSET", q.scheduler("a"), "ran", minute(61) + ":1:0:x"});
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "ok")
      << "the server's clock was set back by more than clocks are apart";
}

TEST_F(ScriptSchedule, AJobOfThatIdCountsAsTheTicks) {
  put("a", minute(0));
  q.add({{.id = "a." + minute(0), .data = "mine"}});
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "dup");
  EXPECT_EQ(q.field("a." + minute(0), "data"), "mine");
  EXPECT_EQ(stored("a", "ran"), minute(0) + ":1:0:a." + minute(0));
  EXPECT_EQ(next("a"), minute(1));
}

TEST_F(ScriptSchedule, AJobOfThatIdInTrashCountsToo) {
  put("a", minute(0));
  const auto id = "a." + minute(0);
  q.add({{.id = id}});
  q.keep_completed = {.count = 0};
  q.finish({{.run = q.claim(1).runs.at(0)}});
  ASSERT_EQ(redis({"SISMEMBER", q.keys.trash, id}).integer, 1);
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "dup");
  EXPECT_EQ(redis({"SISMEMBER", q.keys.trash, id}).integer, 1);
}

TEST_F(ScriptSchedule, SeveralStepsOfOneSchedulerStandOneBehindTheOther) {
  put("a", minute(-3));
  EXPECT_EQ(
      statuses(q.fire({{.id = "a", .tick = minute(-2), .next = minute(-1), .skipped = 1},
                       {.id = "a", .tick = minute(-1), .next = minute(0), .seen = minute(-1)},
                       {.id = "a", .tick = minute(-1), .next = minute(0), .seen = minute(-1)},
                       {.id = "a", .tick = minute(0), .next = minute(1), .seen = minute(0)}})),
      "ok ok moved ok");
  EXPECT_EQ(list(q.keys.wait), "a." + minute(-2) + " a." + minute(-1) + " a." + minute(0));
  EXPECT_EQ(stored("a", "ran"), minute(0) + ":3:1:a." + minute(0));
}

TEST_F(ScriptSchedule, AStepWithoutAJobCountsWhatItLeavesOut) {
  put("a", minute(-3));
  EXPECT_EQ(statuses(q.fire({{.id = "a", .next = minute(1), .skipped = 4}})), "ok");
  EXPECT_EQ(list(q.keys.wait), "");
  EXPECT_EQ(stored("a", "ran"), minute(-3) + ":0:4:");
  EXPECT_EQ(next("a"), minute(1));
}

TEST_F(ScriptSchedule, OneThatHasEndedStaysWithoutANextTick) {
  put("a", minute(0));
  redis({"DEL", q.keys.marker});
  const auto reply = q.fire({{.id = "a", .tick = minute(0)}});
  EXPECT_EQ(show(reply), "[[ok] 0]");
  EXPECT_EQ(next("a"), "inf");
  EXPECT_EQ(mark(), "(nil)");
}

TEST_F(ScriptSchedule, WhatIsDueStillIsNotMarked) {
  put("a", minute(0));
  put("b", minute(0));
  put("c", minute(3));
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(show(q.fire({{.id = "a", .tick = minute(0), .next = minute(5)}}).items.at(1)),
            minute(3));
  EXPECT_EQ(mark(), minute(3)) << "one that nobody here can fire must not wake all the time";
}

TEST_F(ScriptSchedule, AHashThatIsGoneTakesItsTicksWithIt) {
  put("a", minute(0));
  redis({"DEL", q.scheduler("a")});
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "gone");
  EXPECT_EQ(next("a"), "(nil)");
  expect_unchanged("gone", [&] { return q.fire({{.id = "never", .tick = minute(0)}}); });
}

// --- the last job, and the length of the queue

TEST_F(ScriptSchedule, ATickIsSkippedWhileTheLastJobIsNotOver) {
  put("a", minute(0));
  ASSERT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "ok");
  const auto first = "a." + minute(0);
  const auto fire = [&] {
    q.now += 60'000;
    return statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1), .last_job = first}}));
  };
  EXPECT_EQ(fire(), "lock") << "it waits";
  const auto run = q.claim(1).runs.at(0);
  EXPECT_EQ(fire(), "lock") << "it runs";
  ASSERT_EQ(statuses(q.retry({{.run = run, .delay = 600'000}})), "ok");
  EXPECT_EQ(fire(), "lock") << "it has another attempt";
  EXPECT_EQ(stored("a", "ran"), minute(0) + ":1:3:" + first);
  ASSERT_EQ(statuses(q.reschedule({{first}})), "ok");
  ASSERT_EQ(statuses(q.finish({{.run = q.claim(1).runs.at(0), .completed = false}})), "ok");
  EXPECT_EQ(fire(), "ok") << "it has failed";
}

TEST_F(ScriptSchedule, ALastJobThatIsCompletedEvictedOrRemovedIsOver) {
  put("a", minute(0));
  q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}});
  std::string last;
  const auto fire = [&] {
    last = "a." + minute(0);
    q.now += 60'000;
    return statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1), .last_job = last}}));
  };
  q.finish({{.run = q.claim(1).runs.at(0)}});
  EXPECT_EQ(fire(), "ok");
  q.keep_completed = {.count = 0};
  q.finish({{.run = q.claim(1).runs.at(0)}});
  EXPECT_EQ(fire(), "ok") << "in trash";
  ASSERT_EQ(statuses(q.remove({"a." + minute(0)})), "ok");
  EXPECT_EQ(fire(), "ok") << "removed";
}

TEST_F(ScriptSchedule, WhoSawAnotherLastJobIsTold) {
  put("a", minute(0));
  q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}});
  q.now += 60'000;
  expect_unchanged("moved", [&] {
    return q.fire({{.id = "a", .tick = minute(0), .next = minute(1), .last_job = "another"}});
  });
}

TEST_F(ScriptSchedule, AQueueAsLongAsItMayBeTakesNoTick) {
  put("a", minute(0));
  put("b", minute(0));
  q.limit({.length = "1"});
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)},
                             {.id = "b", .tick = minute(0), .next = minute(1)}})),
            "ok full");
  EXPECT_EQ(stored("b", "ran"), minute(0) + ":0:1:");
  EXPECT_EQ(next("b"), minute(1));
}

// --- bounds

TEST_F(ScriptSchedule, ABatchOfTheGreatestSizeIsFired) {
  std::vector<FireStep> steps;
  for (int i = 0; i < 256; ++i) {
    put("s" + std::to_string(i), minute(0));
    steps.push_back({.id = "s" + std::to_string(i), .tick = minute(0), .next = minute(1)});
  }
  const auto reply = q.fire(steps);
  for (const auto& status : reply.items.at(0).items) EXPECT_EQ(status.text, "ok");
  EXPECT_EQ(redis({"LLEN", q.keys.wait}).integer, 256);
}

TEST_F(ScriptSchedule, TemplatesBeyondTheBytesOfACallAreLeftToTheNext) {
  const std::string large(200'000, 'x');
  for (const auto* const id : {"a", "b", "c"})
    q.put_scheduler({.id = id, .next = minute(0), .data = large});
  const std::vector<FireStep> steps{{.id = "a", .tick = minute(0), .next = minute(1)},
                                    {.id = "b", .tick = minute(0), .next = minute(1)},
                                    {.id = "c", .tick = minute(0), .next = minute(1)}};
  EXPECT_EQ(statuses(q.fire(steps)), "ok moved moved");
  EXPECT_EQ(statuses(q.fire({steps[1], steps[2]})), "ok moved");
  EXPECT_EQ(statuses(q.fire({steps[2]})), "ok");
  q.put_scheduler({.id = "d", .next = minute(0), .data = std::string(300'000, 'x')});
  EXPECT_EQ(statuses(q.fire({{.id = "d", .tick = minute(0), .next = minute(1)}})), "ok")
      << "a larger one goes alone";
}

TEST_F(ScriptSchedule, ATickOfAPausedQueueIsMadeAndWakesNobody) {
  put("a", minute(0));
  q.pause(true);
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(statuses(q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}})), "ok");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "(nil)");
  EXPECT_EQ(mark(), minute(1));
}

// --- pause, remove, read

TEST_F(ScriptSchedule, APausedOneHasNoNextTickAndGoesOnWithAnother) {
  put("a", minute(0));
  EXPECT_EQ(statuses(q.pause_scheduler("a", true)), "ok");
  EXPECT_EQ(next("a"), "inf");
  expect_unchanged("done", [&] { return q.pause_scheduler("a", true); });
  expect_unchanged("moved", [&] {
    return q.fire({{.id = "a", .tick = minute(0), .next = minute(1), .seen = minute(0)}});
  });
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(statuses(q.pause_scheduler("a", false, minute(5))), "ok");
  EXPECT_EQ(next("a"), minute(5));
  EXPECT_EQ(mark(), minute(5));
  const auto again = q.pause_scheduler("a", false, minute(6));
  EXPECT_EQ(show(again), "[[done] " + std::string(kEveryMinute) + "  " + minute(5) + "]");
}

TEST_F(ScriptSchedule, WhoResumesWhatHeDidNotSeeIsTold) {
  put("a", minute(0));
  q.pause_scheduler("a", true);
  expect_unchanged("moved", [&] { return q.pause_scheduler("a", false, minute(5), "", ""); });
  expect_unchanged("moved", [&] { return q.pause_scheduler("a", false, minute(5), "1:1:1:x"); });
  EXPECT_EQ(statuses(q.pause_scheduler("never", false)), "gone");
  EXPECT_EQ(statuses(q.pause_scheduler("never", true)), "gone");
}

TEST_F(ScriptSchedule, APausedOneStaysSoWhenItIsPutAnew) {
  put("a", minute(0));
  q.pause_scheduler("a", true);
  const auto reply =
      q.put_scheduler({.id = "a", .next = minute(1), .def = "0:0:0:0:skip:1:allow:every:1000:0"});
  EXPECT_EQ(statuses(reply), "ok");
  EXPECT_EQ(next("a"), "inf");
  EXPECT_EQ(show(reply.items.at(3)), "");
}

TEST_F(ScriptSchedule, B16_ARemovedOneLeavesItsJobs) {
  put("a", minute(0));
  q.fire({{.id = "a", .tick = minute(0), .next = minute(1)}});
  EXPECT_EQ(statuses(q.remove_schedulers({"a", "never"})), "ok gone");
  EXPECT_EQ(next("a"), "(nil)");
  EXPECT_EQ(redis({"EXISTS", q.scheduler("a")}).integer, 0);
  EXPECT_EQ(statuses(q.remove({"a." + minute(0)})), "ok");
}

TEST_F(ScriptSchedule, IsReadWithItsNextTick) {
  EXPECT_EQ(show(q.read_scheduler("a")), "[]");
  put("a", minute(1));
  const auto reply = q.read_scheduler("a");
  EXPECT_EQ(show(reply.items.at(0)), minute(1));
  EXPECT_EQ(reply.items.size(), 7U) << "def, shape and data";
  q.pause_scheduler("a", true);
  EXPECT_EQ(show(q.read_scheduler("a").items.at(0)), "inf");
}

}  // namespace
}  // namespace echomq::test
