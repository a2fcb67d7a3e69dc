// SPDX-License-Identifier: MIT
// The clock of a test, and the server that it goes with: what waits for a time comes with a jump,
// whatever it waits for, and nothing that runs is disturbed. The poll is a minute, so that nothing
// but the jump can be what woke a worker.
#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "echomq/id.h"
#include "echomq/keyspace.h"
#include "live/testing/served.h"
#include "protocol/lease.h"
#include "support/raw_client.h"
#include "support/runs.h"

namespace echomq_test {
namespace {

using echomq::Queue;
using echomq::Worker;
using echomq::WorkerOptions;

class TestClock : public Served {
 protected:
  static WorkerOptions patient() { return {.poll = 60s}; }

  Queue<> queue{client(), "queue"};
  std::atomic<int> runs{0};
  std::function<void(Job<>&)> counting = [this](Job<>&) { ++runs; };
};

TEST_F(TestClock, ADelayedJobStartsWithTheJump) {
  Worker worker{queue, patient(), counting};
  queue.add("later", {.delay = 1h}).value();
  EXPECT_EQ(mqt::problem(server().advance(59min)), "");
  queue.add("now").value();
  EXPECT_TRUE(eventually([&] { return runs == 1; }));
  EXPECT_EQ(queue.counts().value().delayed, 1);
  EXPECT_EQ(mqt::problem(server().advance(1min)), "");
  EXPECT_TRUE(eventually([&] { return runs == 2; }, 10s));
}

TEST_F(TestClock, ABackoffIsOverWithTheJump) {
  Worker worker{queue, patient(), [&](Job<>&) {
                  if (++runs == 1) throw std::runtime_error("once");
                }};
  const auto id = queue.add("x", {.attempts = 2, .backoff = echomq::Backoff::fixed(6h)}).value();
  EXPECT_TRUE(eventually([&] { return queue.job(id).value().state == JobState::delayed; }));
  EXPECT_EQ(mqt::problem(server().advance(6h)), "");
  EXPECT_TRUE(eventually([&] { return queue.job(id).value().state == JobState::completed; }, 10s));
}

TEST_F(TestClock, AHoldAndAWindowEndWithTheJump) {
  Worker worker{queue, patient(), counting};
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.set_rate_limit(echomq::RateLimit::window(1, 1h)));
  ASSERT_TRUE(queue.rate_limit(10min));
  queue.add_bulk({{"a", {}}, {"b", {}}}).value();
  EXPECT_EQ(queue.limits().value().gate, echomq::QueueGate::held);
  EXPECT_EQ(mqt::problem(server().advance(10min)), "");
  EXPECT_TRUE(eventually([&] { return runs == 1; }, 10s));
  EXPECT_EQ(queue.limits().value().gate, echomq::QueueGate::rate);
  EXPECT_EQ(mqt::problem(server().advance(1h)), "");
  EXPECT_TRUE(eventually([&] { return runs == 2; }, 10s));
}

TEST_F(TestClock, RetentionByAgeGoesByIt) {
  Worker worker{queue, patient(), counting};
  const auto id = queue.add("x").value();
  EXPECT_TRUE(eventually([&] { return queue.counts().value().completed == 1; }));
  EXPECT_EQ(mqt::problem(server().advance(25h)), "");
  EXPECT_TRUE(eventually([&] { return queue.counts().value().completed == 0; }, 10s));
}

TEST_F(TestClock, MetricsAreCountedInItsMinutes) {
  ASSERT_TRUE(queue.open());
  ASSERT_TRUE(queue.keep_metrics(1h));
  const auto from = server().clock().now_ms();
  for (int i = 0; i < 2; ++i) {
    queue.add("x").value();
    EXPECT_EQ(mqt::problem(mqt::drain(queue, counting)), "");
    EXPECT_EQ(mqt::problem(server().advance(5min)), "");
  }
  const auto metrics = queue.metrics(JobState::completed, from, server().clock().now_ms()).value();
  std::vector<std::size_t> minutes;
  for (std::size_t i = 0; i < metrics.counts.size(); ++i)
    if (metrics.counts[i] > 0) minutes.push_back(i);
  ASSERT_EQ(minutes.size(), 2U);
  EXPECT_EQ(minutes[1] - minutes[0], 5U);
}

// Its lease is renewed with the jump, so nobody takes the job for one of a dead worker; which
// another worker does watch for, and does find.
TEST_F(TestClock, AJobThatRunsIsNotDisturbed) {
  if (echomq::test::least_privilege_wanted()) GTEST_SKIP() << "it writes past the library";
  echomq::test::Gate gate;
  std::atomic<bool> lost = false;
  const auto handler = [&](Job<>& job) {
    gate.pass();
    lost = lost || job.lease_lost() || job.stop_token().stop_requested();
  };
  Worker worker{queue, {.lease = 2s, .poll = 60s}, handler};
  const auto id = queue.add("x").value();
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 1; }));

  const auto dead = queue.add("y").value();
  echomq::test::RawClient redis(server().url().substr(std::string("unix://").size()));
  const echomq::Lease lease{.deadline_s = echomq::Lease::deadline_for(server().clock().now_ms(), 0),
                            .node = 1'000};
  redis({"LREM", key("queue", echomq::Structure::wait), "1", dead});
  redis({"ZADD", key("queue", echomq::Structure::active), std::to_string(lease.score()), dead});

  const auto other_client = server().connect().value();
  Queue<> theirs{other_client, "queue"};
  Worker watcher{theirs, {.lease = 2s, .poll = 100ms}, counting};
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(mqt::problem(server().advance(1h)), "");
    return runs == 1;
  }));
  gate.open();
  EXPECT_TRUE(eventually([&] { return queue.job(id).value().state == JobState::completed; }));
  EXPECT_FALSE(lost);
  EXPECT_EQ(queue.job(id).value().crashes, 0U);
  EXPECT_EQ(queue.job(dead).value().crashes, 1U);
}

TEST_F(TestClock, IdsAndAddsGoOn) {
  const auto before = queue.add("a").value();
  EXPECT_EQ(mqt::problem(server().advance(1h)), "");
  const auto after = queue.add("b").value();
  EXPECT_GE(echomq::decode_id(after).value().unix_ms - echomq::decode_id(before).value().unix_ms,
            3'600'000);
  EXPECT_EQ(queue.job(after).value().added_ms / 60'000, server().clock().now_ms() / 60'000);
}

TEST_F(TestClock, NeverGoesBackNorTooFar) {
  const auto before = server().clock().now_ms();
  EXPECT_EQ(error_of(server().advance(-1ms)).code, ErrorCode::invalid_argument);
  EXPECT_EQ(*error_of(server().advance(-1ms)).field("value"), "-1");
  EXPECT_EQ(error_of(server().advance(mqt::kMaxJump + 1ms)).code, ErrorCode::invalid_argument);
  EXPECT_LT(server().clock().now_ms(), before + 60'000);
  EXPECT_TRUE(server().advance(0ms));
}

TEST_F(TestClock, FurtherClientsFollowIt) {
  EXPECT_TRUE(server().advance(1h));
  const auto second = server().connect().value();
  EXPECT_NEAR(static_cast<double>(second.server_time_ms()),
              static_cast<double>(client().server_time_ms()), 5'000);
  const auto third = echomq::connect(server().url()).value();
  EXPECT_LT(third.server_time_ms(), client().server_time_ms() - 3'000'000);
  EXPECT_EQ(mqt::problem(server().clock().follow(third)), "");
  EXPECT_EQ(mqt::problem(server().clock().follow(third)), "") << "it does already";
  EXPECT_EQ(mqt::problem(mqt::Clock(third).advance(1h)), "") << "it is the same clock";
  for (const auto& one : {second, third})
    EXPECT_NEAR(static_cast<double>(one.server_time_ms()),
                static_cast<double>(client().server_time_ms()), 5'000);
  const auto fourth = echomq::connect(server().url()).value();
  mqt::Clock own{fourth};
  EXPECT_EQ(error_of(server().clock().follow(fourth)).code, ErrorCode::wrong_state);
}

TEST_F(TestClock, RefusesToWaitForItselfOnTheIoThread) {
  std::promise<ErrorCode> code;
  queue.async_add("x", {}, [&](const echomq::Result<echomq::AddedJob>&) {
    code.set_value(error_of(server().advance(1h)).code);
  });
  EXPECT_EQ(code.get_future().get(), ErrorCode::invalid_argument);
}

TEST_F(TestClock, ClearRemovesQueuesUnderTheirWorkers) {
  echomq::test::Gate gate;
  Worker worker{queue, patient(), [&](Job<>&) { gate.pass(); }};
  queue.add_bulk({{"a", {}}, {"b", {}}, {"c", {.delay = 1h}}}).value();
  Queue<> other{client(), "other"};
  other.add("x").value();
  EXPECT_TRUE(eventually([&] { return gate.waiting() == 1; }));
  EXPECT_EQ(mqt::problem(server().clear()), "");
  EXPECT_TRUE(mqt::enqueued(queue).value().empty());
  EXPECT_TRUE(mqt::enqueued(other).value().empty());
  gate.open();
  other.add("y").value();
  EXPECT_EQ(mqt::problem(mqt::expect_enqueued(other, 1)), "");
}

TEST(TestServers, EndWithTheirObject) {
  std::string url;
  std::optional<echomq::Client> outlives;
  {
    mqt::ServerOptions how;
    how.client.command_timeout = 300ms;
    auto server = mqt::Server::start(how).value();
    url = server.url();
    outlives = server.client();
    EXPECT_TRUE(outlives->mint_id());
  }
  EXPECT_FALSE(echomq::connect(url, {.connect_timeout = 200ms}));
  EXPECT_NE(outlives->state(), echomq::ConnectionState::closed);
  Queue<> queue{*outlives, "queue"};
  EXPECT_FALSE(queue.add("x"));
}

TEST(TestServers, TellWhyTheyDoNotStart) {
  mqt::ServerOptions how;
  how.server = "no-such-server";
  EXPECT_EQ(error_of(mqt::Server::start(how)).code, ErrorCode::embedded);
  how = {};
  how.client.buffer_limit = 1;
  EXPECT_EQ(error_of(mqt::Server::start(how)).code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace echomq_test
