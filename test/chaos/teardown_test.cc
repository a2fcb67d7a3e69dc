// SPDX-License-Identifier: MIT
// Clients that go while calls are on their way, from many threads: each call is answered exactly
// once, and nothing waits for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "chaos.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// How often each call was answered, and with what.
class Answers {
 public:
  explicit Answers(std::size_t calls) : times_(calls) {}

  template <class T>
  void note(std::size_t call, const Result<T>& result) {
    ++times_[call];
    ++all_;
    if (result) return void(++succeeded_);
    const auto code = result.error().code;
    if (code == ErrorCode::closed || code == ErrorCode::connection_lost ||
        code == ErrorCode::timeout || code == ErrorCode::unavailable)
      return;
    const std::lock_guard lock(mutex_);
    odd_.insert(result.error().message());
  }
  [[nodiscard]] std::size_t all() const { return all_; }
  [[nodiscard]] std::size_t succeeded() const { return succeeded_; }
  // Errors that do not belong here.
  [[nodiscard]] std::set<std::string> odd() const {
    const std::lock_guard lock(mutex_);
    return odd_;
  }
  // Calls that were answered never, or more than once.
  [[nodiscard]] std::size_t wrong() const {
    std::size_t count = 0;
    for (const auto& times : times_) count += times == 1 ? 0 : 1;
    return count;
  }

 private:
  std::vector<std::atomic<int>> times_;
  std::atomic<std::size_t> all_{0};
  std::atomic<std::size_t> succeeded_{0};
  mutable std::mutex mutex_;
  std::set<std::string> odd_;
};

class Teardown : public Chaos {
 protected:
  static constexpr std::size_t kThreads = 8;
  static constexpr int kTimes = 50;

  // Some time into the calls, another one each time.
  static void wait_a_moment(const Answers& answers, int time) {
    eventually([&] { return answers.all() >= static_cast<std::size_t>(time % 10) * 20; }, 1s);
  }
};

// The handles go, all but those of the threads that are calling; the last call takes the client
// with it, on whichever thread that is.
TEST_F(Teardown, P34_HandlesGoneWithCallsInFlight) {
  constexpr std::size_t kCalls = 40;
  ASSERT_TRUE(queue.open());
  std::size_t succeeded = 0;
  for (int time = 0; time < kTimes; ++time) {
    Answers answers(kThreads * kCalls);
    {
      auto own = std::make_unique<Client>(far());
      std::vector<std::thread> threads;
      for (std::size_t t = 0; t < kThreads; ++t)
        threads.emplace_back([&answers, mine = *own, t, time, this]() mutable {
          Queue<> q{mine, name};
          for (std::size_t i = 0; i < kCalls; ++i)
            q.async_add("x", {}, [&answers, call = t * kCalls + i](const Result<AddedJob>& id) {
              answers.note(call, id);
            });
          if (time % 3 == 0) (void)q.counts();  // and a few that wait
        });
      if (time % 2 == 0) own.reset();
      wait_a_moment(answers, time);
      if (time % 5 == 0) proxy.cut();
      own.reset();
      for (auto& thread : threads) thread.join();
    }
    ASSERT_TRUE(eventually([&] { return answers.all() >= kThreads * kCalls; }, 10s))
        << "time " << time << ": " << answers.all() << "\n"
        << log.text();
    EXPECT_EQ(answers.wrong(), 0U) << "time " << time;
    EXPECT_EQ(answers.odd(), std::set<std::string>{}) << "time " << time;
    succeeded += answers.succeeded();
  }
  EXPECT_GT(succeeded, 0U);
  EXPECT_EQ(counts().waiting, static_cast<std::int64_t>(kTimes * kThreads * kCalls))
      << "none of them was closed, so each add is there, once";
}

// close() in the midst of calls of every kind.
TEST_F(Teardown, P34_ClosedWithCallsInFlight) {
  ASSERT_TRUE(queue.open());
  std::size_t acknowledged = 0;
  for (int time = 0; time < kTimes; ++time) {
    constexpr std::size_t kCalls = 4'000;
    Answers answers(kThreads * kCalls);
    std::atomic<std::size_t> begun{0};
    auto own = far();
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, mine = own, t]() mutable {
        Queue<> q{mine, name};
        for (std::size_t i = 0; i < kCalls; ++i) {
          const auto call = t * kCalls + i;
          ++begun;
          if (t % 4 == 0) {
            q.async_add("x", {},
                        [&answers, call](const Result<AddedJob>& id) { answers.note(call, id); });
          } else if (t % 4 == 1) {
            answers.note(call, q.add("x"));
          } else if (t % 4 == 2) {
            answers.note(call, q.counts());
          } else {
            answers.note(call, mine.mint_id());
          }
          // The client is closed: a few more, and it is enough.
          if (i > 0 && error_of(mine.mint_id()).code == ErrorCode::closed) break;
        }
      });
    wait_a_moment(answers, time);
    if (time % 25 == 10) proxy.set({.blackhole = true});
    own.close();
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(eventually([&] { return answers.all() == begun; }, 10s))
        << "time " << time << ": " << answers.all() << " of " << begun;
    EXPECT_EQ(answers.odd(), std::set<std::string>{}) << "time " << time;
    EXPECT_EQ(answers.wrong(), kThreads * kCalls - begun) << "time " << time;
    proxy.pass();
    acknowledged += answers.succeeded();
  }
  EXPECT_GT(acknowledged, 0U);
}

}  // namespace
}  // namespace echomq::test
