// SPDX-License-Identifier: MIT
// What workers cost the server that have nothing to do, whatever the reason: less than a command a
// second each, whatever their concurrency.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "echomq/schedule.h"
#include "support/library_test.h"
#include "support/monitor.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class IdleWorkers : public OwnServerTest {
 protected:
  // A queue on which two workers wait, of the least and of a great concurrency.
  struct Waiting {
    std::string what;
    std::unique_ptr<Queue<>> queue;
    std::vector<std::unique_ptr<Worker>> workers{};
  };

  void wait_on(const std::string& what, const std::function<void(Queue<>&)>& prepare) {
    Waiting one{what, std::make_unique<Queue<>>(client, name + "." + what)};
    ASSERT_TRUE(one.queue->open());
    prepare(*one.queue);
    for (const unsigned concurrency : {1U, 100U})
      one.workers.push_back(std::make_unique<Worker>(
          *one.queue, WorkerOptions{.concurrency = concurrency}, [](Job<>&) {}));
    all_.push_back(std::move(one));
  }
  Result<Counts> of(const std::string& what) {
    return std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.what == what; })
        ->queue->counts();
  }
  // Commands that clients sent, those that name the queue or all.
  static std::int64_t named(const std::vector<MonitorLine>& lines, const std::string& queue) {
    return std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
      return !line.in_script &&
             std::any_of(line.words.begin(), line.words.end(), [&](const auto& word) {
               return word.find("{" + queue + "}") != std::string::npos;
             });
    });
  }

  std::vector<Waiting> all_;
};

TEST_F(IdleWorkers, CostLessThanACommandASecondEach) {
  constexpr auto kWatched = 7s;  // longer than their poll
  wait_on("empty", [](Queue<>&) {});
  wait_on("paused", [](Queue<>& q) {
    ASSERT_TRUE(q.add_bulk(std::vector<NewJob<>>(50, {"x", {}})));
    ASSERT_TRUE(q.pause());
  });
  wait_on("held", [](Queue<>& q) {
    ASSERT_TRUE(q.set_concurrency(1));
    ASSERT_TRUE(q.add_bulk(std::vector<NewJob<>>(50, {"x", {}})));
    ASSERT_TRUE(q.rate_limit(1h));
  });
  wait_on("limited", [](Queue<>& q) {
    ASSERT_TRUE(q.set_concurrency(100));
    ASSERT_TRUE(q.set_rate_limit(RateLimit::window(1, 1h)));
    ASSERT_TRUE(q.add_bulk(std::vector<NewJob<>>(50, {"x", {}})));
  });
  // Due one after the other, from right behind the time that is watched on.
  wait_on("soon", [&](Queue<>& q) {
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(q.add("x", {.delay = 2 * kWatched + std::chrono::milliseconds(10 * i)}));
  });
  wait_on("scheduled", [](Queue<>& q) {
    Schedulers<> schedulers{q};
    ASSERT_TRUE(schedulers.upsert("a", {.when = Every{1h}, .immediately = true}));
    ASSERT_TRUE(schedulers.upsert("b", {.when = Every{24h}}));
  });
  ASSERT_TRUE(eventually(
      [&] { return of("limited")->completed == 1 && of("scheduled")->completed == 1; }, 20s));
  Monitor monitor(server);
  std::this_thread::sleep_for(kWatched);
  const auto lines = monitor.take(redis);
  for (const auto& one : all_)
    EXPECT_LT(named(lines, one.queue->name()), kWatched.count() * 2) << one.what;
  EXPECT_LT(sent_by_clients(lines), kWatched.count() * 2 * static_cast<int>(all_.size()));
  EXPECT_EQ(of("soon")->delayed, 50);
  EXPECT_EQ(of("paused")->waiting, 50);
  EXPECT_EQ(of("held")->waiting, 50);
  EXPECT_EQ(of("limited")->waiting, 49);
}

}  // namespace
}  // namespace echomq::test
