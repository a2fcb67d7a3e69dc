// SPDX-License-Identifier: MIT
// What a client tells of its connection, and what it refuses so as not to fill its own memory.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class ConnectionStates : public OwnServerTest {
 protected:
  // The states that a client was told, in order, without repetitions.
  struct Told {
    std::mutex mutex;
    std::vector<ConnectionState> states;
    std::string why;

    void hear(ConnectionState state, std::string_view text) {
      const std::lock_guard lock(mutex);
      if (states.empty() || states.back() != state) states.push_back(state);
      if (!text.empty()) why = text;
    }
    std::vector<ConnectionState> all() {
      const std::lock_guard lock(mutex);
      return states;
    }
  };
};

TEST_F(ConnectionStates, AreToldAndShown) {
  Told told;
  auto how = options();
  how.on_state = [&told](ConnectionState state, std::string_view why) { told.hear(state, why); };
  auto mq = connect(server.url(), how).value();
  EXPECT_EQ(mq.state(), ConnectionState::ready);
  server.kill9();
  EXPECT_TRUE(eventually([&] { return mq.state() == ConnectionState::down; }, 10s));
  server.start();
  EXPECT_TRUE(eventually([&] { return mq.state() == ConnectionState::ready; }, 10s));
  mq.close();
  EXPECT_EQ(mq.state(), ConnectionState::closed);
  const auto states = told.all();
  ASSERT_GE(states.size(), 4U);
  EXPECT_EQ(states[0], ConnectionState::connecting);
  EXPECT_EQ(states[1], ConnectionState::ready);
  EXPECT_EQ(states[2], ConnectionState::down);
  EXPECT_EQ(states[states.size() - 2], ConnectionState::ready);
  EXPECT_EQ(states.back(), ConnectionState::closed);
  EXPECT_NE(told.why, "") << "going down has a reason";
}

class BufferLimit : public OwnServerTest {
 protected:
  BufferLimit() {
    auto how = options();
    how.buffer_limit = std::size_t{1} << 20;
    how.command_timeout = 60s;
    client = connect(server.url(), how).value();
    queue = Queue<>(client, name);
    EXPECT_TRUE(queue.open());
  }
};

TEST_F(BufferLimit, AddsBeyondItAreRefusedAndTheOthersArrive) {
  server.stop_signal();
  std::vector<std::future<Result<AddedJob>>> adds;
  for (int i = 0; i < 30; ++i) adds.push_back(queue.async_add(std::string(100'000, 'x')));
  server.continue_signal();
  std::size_t added = 0;
  std::size_t refused = 0;
  for (auto& add : adds) {
    const auto result = add.get();
    if (result) {
      ++added;
    } else {
      ++refused;
      EXPECT_EQ(result.error().code, ErrorCode::backpressure) << result.error().message();
      EXPECT_NE(result.error().detail.find("1048576"), std::string::npos);
    }
  }
  EXPECT_EQ(added, 10U);
  EXPECT_EQ(refused, 20U);
  EXPECT_EQ(counts().waiting, 10);
  EXPECT_TRUE(queue.async_add("there is room again").get());
}

TEST_F(BufferLimit, ALargerJobPassesAlone) {
  auto how = options();
  how.buffer_limit = std::size_t{1} << 20;
  how.data_limit = std::size_t{4} << 20;
  auto mq = connect(server.url(), how).value();
  Queue<> large(mq, name);
  EXPECT_TRUE(large.async_add(std::string(std::size_t{3} << 20, 'x')).get());
}

TEST_F(BufferLimit, BlockingAddsAreNotRefused) {
  const std::vector<NewJob<>> jobs(40, NewJob<>{std::string(100'000, 'x')});
  const auto results = queue.add_bulk(jobs);
  ASSERT_TRUE(results) << results.error().message();
  for (const auto& result : *results) EXPECT_TRUE(result);
}

// ---- RESP2 ----

class WithoutHello : public OwnServerTest {
 protected:
  WithoutHello() : OwnServerTest({.extra = {"--rename-command", "HELLO", ""}}) {}
};

TEST_F(WithoutHello, JobsOfEveryKindAreWorked) {
  std::atomic<int> ran{0};
  Worker worker{queue, {.concurrency = 4, .lease = 2s}, [&](Job<>& job) {
                  ++ran;
                  if (!job.progress("half")) throw std::runtime_error("no progress");
                  if (job.data() == "again" && job.attempt() == 1) throw std::runtime_error("once");
                }};
  add_many(50);
  add({"later"}, {.delay = 200ms});
  add({"first"}, {.priority = 3});
  add({"again"}, {.attempts = 2});
  EXPECT_TRUE(eventually([&] { return counts().completed == 53; }, 20s));
  EXPECT_EQ(ran, 54);
  ASSERT_TRUE(worker.stop());
}

TEST_F(WithoutHello, AClaimWhoseAnswerWasLostIsGivenBack) {
  std::atomic<int> ran{0};
  Worker worker{queue, {.concurrency = 4}, [&](Job<>&) { ++ran; }};
  for (int round = 0; round < 20; ++round) {
    add_many(20);
    redis({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  }
  // The last loss may meet the look itself.
  const auto all_done = [&] {
    const auto now = queue.counts();
    return now && now->completed == 400;
  };
  EXPECT_TRUE(eventually(all_done, 25s))
      << counts().active << " active, " << counts().waiting << " waiting";
}

}  // namespace
}  // namespace echomq::test
