// SPDX-License-Identifier: MIT
// Schedulers on the clock of a test, which jumps: the change of clocks in Europe/Berlin, and what
// becomes of ticks that were missed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "echomq/schedule.h"
#include "live/testing/served.h"
#include "support/runs.h"

namespace echomq_test {
namespace {

using echomq::Cron;
using echomq::Every;
using echomq::Missed;
using echomq::Queue;
using echomq::Schedulers;
using echomq::Worker;
using echomq::WorkerOptions;

constexpr const char* kBerlin = "Europe/Berlin";
constexpr std::int64_t kHour = 3'600'000;

class ScheduledClock : public Served {
 protected:
  std::int64_t now() { return server().clock().now_ms(); }
  void go_to(std::int64_t ms) {
    ASSERT_EQ(mqt::problem(server().advance(std::chrono::milliseconds(ms - now()))), "");
  }
  static std::int64_t offset(std::int64_t at_ms) {
    return echomq::utc_offset(kBerlin, at_ms).value().count();
  }
  // The next change by so many seconds, to the hour.
  std::int64_t next_change(std::int64_t by) {
    auto at = now() / kHour * kHour;
    while (offset(at + kHour) - offset(at) != by) at += kHour;
    return at + kHour;
  }
  // The ticks of the jobs that were worked.
  std::vector<std::int64_t> ticks() const {
    std::vector<std::int64_t> all;
    for (const auto& id : runs.all()) all.push_back(echomq::scheduled_tick(id)->tick_ms);
    std::sort(all.begin(), all.end());
    return all;
  }
  auto noting() {
    return [this](Job<>& job) { runs.note(job.id()); };
  }

  Queue<> queue{client(), "scheduled"};
  Schedulers<> schedulers{queue};
  echomq::test::Runs runs;
};

TEST_F(ScheduledClock, ATickComesWithTheJump) {
  Worker worker{queue, WorkerOptions{.poll = 60s}, noting()};
  schedulers.upsert("a", {.when = Every{1h}}).value();
  const auto next = schedulers.get("a").value().next_ms;
  go_to(next);
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, 10s));
  EXPECT_EQ(ticks(), std::vector{next});
}

// 02:30 is left out on one day, and comes twice on another; each runs once.
TEST_F(ScheduledClock, P16_BerlinOnBothDaysOfChange) {
  Worker worker{queue, WorkerOptions{.poll = 60s}, noting()};
  std::size_t ran = 0;
  for (int i = 0; i < 2; ++i) {
    const auto forward = next_change(3'600);
    const auto back = next_change(-3'600);
    const auto change = std::min(forward, back);
    go_to(change - 12 * kHour);
    const auto id = "night-" + std::to_string(i);
    schedulers.upsert(id, {.when = Cron{"30 2 * * *", kBerlin}}).value();
    // Forward: when the clock has leapt. Back: half past two of summer time, half an hour before.
    const auto expected = change == forward ? change : change - kHour / 2;
    EXPECT_EQ(schedulers.get(id).value().next_ms, expected);
    for (auto at = change - 2 * kHour; at <= change + 3 * kHour; at += kHour / 2) go_to(at);
    ASSERT_TRUE(eventually([&] { return runs.size() > ran; }, 10s));
    ASSERT_TRUE(eventually([&] { return schedulers.get(id).value().made == 1; }, 10s));
    ran = runs.size();
    EXPECT_EQ(ticks().back(), expected);
    const auto after = schedulers.get(id).value().next_ms;
    EXPECT_EQ((after + offset(after) * 1'000) % (24 * kHour), 2 * kHour + kHour / 2);
    ASSERT_TRUE(schedulers.remove(id));
  }
  EXPECT_EQ(runs.size(), 2U);
}

TEST_F(ScheduledClock, P16_MissedTicksAreSkippedRunOnceOrAllRun) {
  const auto change = next_change(3'600);
  go_to(change - 12 * kHour);
  schedulers.upsert("skip", {.when = Cron{"30 2 * * *", kBerlin}, .missed = Missed::skip()})
      .value();
  schedulers.upsert("once", {.when = Cron{"30 2 * * *", kBerlin}}).value();
  schedulers.upsert("all", {.when = Cron{"30 2 * * *", kBerlin}, .missed = Missed::run_all()})
      .value();
  // Nobody works while the clock goes over the change and two more nights.
  go_to(change + 60 * kHour);
  Worker worker{queue, WorkerOptions{.poll = 60s}, noting()};
  ASSERT_TRUE(eventually([&] { return runs.size() == 4; }, 10s)) << runs.size();
  const auto second = change + 23 * kHour + kHour / 2;
  const auto third = second + 24 * kHour;
  EXPECT_EQ(ticks(), (std::vector{change, second, third, third}));
  EXPECT_EQ(runs.times("once." + std::to_string(third)), 1);
  EXPECT_EQ(schedulers.get("skip").value().skipped, 3U);
  EXPECT_EQ(schedulers.get("skip").value().made, 0U);
  EXPECT_EQ(schedulers.get("once").value().skipped, 2U);
  EXPECT_EQ(schedulers.get("all").value().skipped, 0U);
  for (const auto* const id : {"skip", "once", "all"})
    EXPECT_EQ(schedulers.get(id).value().next_ms, third + 24 * kHour) << id;
}

}  // namespace
}  // namespace echomq_test
