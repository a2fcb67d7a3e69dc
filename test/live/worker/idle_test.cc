// SPDX-License-Identifier: MIT
// What workers cost the server that have nothing to do, whatever the reason: less than a command a
// second each, whatever their concurrency.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "echomq/schedule.h"
#include "echomq_scripts.h"
#include "support/library_test.h"
#include "support/monitor.h"
#include "support/sanitizer.h"

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

// A thousand of them, on sixty queues: the server hardly notices, and a job wakes no crowd.
TEST_F(IdleWorkers, P17_AThousandOnSixtyQueuesAreNoBurdenAndNoStorm) {
  constexpr int kQueues = 60;
  constexpr int kWorkers = kSanitized ? 240 : 1'020;
  constexpr auto kWatched = 6s;
  std::vector<Queue<>> queues;
  for (int i = 0; i < kQueues; ++i) {
    queues.emplace_back(client, name + "." + std::to_string(i));
    ASSERT_TRUE(queues.back().open());
  }
  std::atomic<int> ran{0};
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < kWorkers; ++i)
    workers.push_back(std::make_unique<Worker>(queues[static_cast<std::size_t>(i % kQueues)],
                                               WorkerOptions{}, [&](Job<>&) { ++ran; }));
  const auto blocked = [&] {
    const auto text = redis({"INFO", "clients"}).text;
    return std::stoi(text.substr(text.find("blocked_clients:") + 16));
  };
  ASSERT_TRUE(eventually([&] { return blocked() == kWorkers; }, 60s)) << blocked();
  const auto busy = [&] {
    const auto text = redis({"INFO", "cpu"}).text;
    return std::stod(text.substr(text.find("used_cpu_user:") + 14)) +
           std::stod(text.substr(text.find("used_cpu_sys:") + 13));
  };
  const auto before = busy();
  std::this_thread::sleep_for(kWatched);
  // A tenth of a processor for five thousand; measured were six hundredths, on two shared cores.
  EXPECT_LT(busy() - before, kWatched.count() * 0.1 * kWorkers / 5'000 * (kSanitized ? 5 : 1));
  Monitor monitor(server);
  for (auto& one : queues) ASSERT_TRUE(one.add("x"));
  ASSERT_TRUE(eventually([&] { return ran == kQueues; }, 20s));
  const auto lines = monitor.take(redis);
  const auto claims = std::count_if(lines.begin(), lines.end(), [](const auto& line) {
    return !line.in_script && line.words.size() > 1 &&
           line.words[1] == scripts::JobClaim::script.sha1;
  });
  // The one that was woken, and one that it wakes in case there is more.
  EXPECT_GE(claims, kQueues);
  EXPECT_LE(claims, 2 * kQueues + kQueues / 2);
}

}  // namespace
}  // namespace echomq::test
