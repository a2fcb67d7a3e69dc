// SPDX-License-Identifier: MIT
// A worker over each fault of the network, while it is busy and while it waits: when the fault is
// over it goes on by itself, no job is lost and none runs twice.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "chaos.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAny = SIZE_MAX;

struct NetworkFault {
  const char* name;
  std::function<void(ChaosProxy&)> begin;
  // So many jobs at most are worked while it lasts; without it there would be hundreds.
  std::size_t most = kAny;
  bool reconnects = true;  // the client notices and comes again

  friend std::ostream& operator<<(std::ostream& out, const NetworkFault& fault) {
    return out << fault.name;
  }
};

std::vector<NetworkFault> network_faults() {
  using Way = ChaosProxy::Way;
  return {
      {"Delay", [](ChaosProxy& proxy) { proxy.set({.delay = 100ms}); }, 50, false},
      {"Cut", [](ChaosProxy& proxy) { proxy.cut(); }},
      {"Blackhole", [](ChaosProxy& proxy) { proxy.set({.blackhole = true}); }, 0},
      {"HalfCloseToClient", [](ChaosProxy& proxy) { proxy.half_close(Way::to_client); }},
      {"HalfCloseToServer", [](ChaosProxy& proxy) { proxy.half_close(Way::to_server); }},
      {"Garbage",
       [](ChaosProxy& proxy) { proxy.inject(std::string_view("\xff\x00 no RESP\r\n", 12)); }},
      {"SlowDrip", [](ChaosProxy& proxy) { proxy.set({.drip = 40, .tick = 20ms}); }, 50, false},
      {"Refused",
       [](ChaosProxy& proxy) {
         proxy.refuse();
         proxy.cut();
       },
       0},
  };
}

class FaultOf : public Chaos, public testing::WithParamInterface<NetworkFault> {};

// Two clients, each with a worker of its own queue. What came while the idle one could not hear of
// it is worked without anything further to wake it.
TEST_P(FaultOf, B17_BusyAndIdleWorkersGoOn) {
  const auto& fault = GetParam();
  BusyAndIdle workers(
      *this, [this](const ClientOptions& how) { return far(how); }, hasty(), steady(),
      [](Job<>&) { last(1ms); });
  auto& idle = workers.idle;
  auto& runs = workers.runs;
  Feed feed{another(), name};
  ASSERT_TRUE(eventually([&] { return runs.size() > 50; }, kResumes)) << log.text();

  fault.begin(proxy);
  std::vector<std::string> ids{idle.queue.add("ready").value()};
  ids.push_back(idle.queue.add("later", {.delay = 100ms}).value());
  last(50ms);
  const auto at_first = runs.size();
  last(250ms);
  EXPECT_LE(runs.size() - at_first, fault.most) << "the fault is none";
  EXPECT_LE(idle.runs.size(), fault.most) << "the fault is none";
  proxy.pass();
  const auto before = runs.size();
  EXPECT_TRUE(
      eventually([&] { return runs.size() > before + 100 && idle.runs.size() == 2; }, kResumes))
      << counts_text() << "; " << idle.runs.size() << " of the idle worker\n"
      << log.text();
  EXPECT_TRUE(!fault.reconnects ||
              eventually([&] { return proxy.counted().accepted > 4; }, kResumes))
      << "the fault is none";
  expect_done(feed.stop(), runs);
  idle.expect_done(ids);
  const auto later = idle.queue.job(ids[1]).value();
  EXPECT_GE(later.processed_ms, later.added_ms + 100);
  workers.expect_at_work();
}

INSTANTIATE_TEST_SUITE_P(EachFault, FaultOf, testing::ValuesIn(network_faults()),
                         [](const auto& about) { return std::string(about.param.name); });

class BlockedConnection : public Chaos {
 protected:
  // The worker waits; from then on its blocking connection hears nothing, and the other one works.
  void deafen() {
    ASSERT_TRUE(eventually([&] { return blocks(name); }, kResumes)) << log.text();
    proxy.set({.blackhole = true}, ChaosProxy::named(":block"));
  }
};

// The wake went to a connection that is dead: the poll makes it good.
TEST_F(BlockedConnection, B17_DueJobsStartWithinThePollAndASecondWhenItIsDeaf) {
  auto own = far();
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  Worker worker{q, steady(), [&](Job<>& job) { runs.note(job.id()); }};
  deafen();
  std::vector<std::string> ids{queue.add("ready").value()};
  ids.push_back(queue.add("later", {.delay = 300ms}).value());
  EXPECT_TRUE(eventually([&] { return runs.size() == 2; }, kPoll + 1s)) << log.text();
  proxy.pass();
  expect_done(ids, runs);
}

// A delayed job's timer went to a connection that is dead.
TEST_F(BlockedConnection, B17_LostTimerCostsNoMoreThanThePoll) {
  auto own = far();
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  Worker worker{q, steady(), [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(eventually([&] { return blocks(name); }, kResumes)) << log.text();
  // The answer with the timer is lost.
  proxy.lose(Loss::answer, "BZPOPMIN");
  const auto id = queue.add("later", {.delay = 800ms}).value();
  ASSERT_TRUE(eventually([&] { return proxy.lost("BZPOPMIN") == 1; }, 5s));
  EXPECT_TRUE(redis({"ZSCORE", key_of(Structure::marker), "1"}).is_null()) << "nobody has it";
  EXPECT_TRUE(eventually([&] { return runs.size() == 1; }, kResumes)) << log.text();
  expect_done({id}, runs);
  const auto job = info(id);
  EXPECT_GE(job.processed_ms, job.added_ms + 800);
  EXPECT_LE(job.processed_ms, job.added_ms + 800 + (kPoll + 1s).count());
}

// What the old connection still holds must not run after the new one has begun (protocol 5.3).
TEST_F(BlockedConnection, ClaimOfAnOldConnectionDoesNotArriveLate) {
  auto own = far();
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  Gate gate;
  Worker worker{q, steady(1), [&](Job<>& job) {
                  runs.note(job.id());
                  if (job.data() == "held") gate.pass();
                }};
  ASSERT_TRUE(eventually([&] { return blocks(name); }, kResumes)) << log.text();
  proxy.set({.delay = 700ms}, ChaosProxy::number(1));
  const auto commands = proxy.seen().at(0).commands;
  const auto held = queue.add("held").value();
  ASSERT_TRUE(eventually([&] { return proxy.seen().at(0).commands > commands; }, 5s));
  const auto sent = std::chrono::steady_clock::now();
  // The client has lost it and connects anew; for the server it is as alive as ever.
  proxy.half_close(ChaosProxy::Way::to_client, ChaosProxy::number(1));
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, kResumes)) << log.text();
  EXPECT_LT(std::chrono::steady_clock::now() - sent, 700ms) << "too slow to show anything";
  const auto next = queue.add("next").value();
  ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > sent + 900ms; }, 5s));
  EXPECT_EQ(info(next).state, JobState::waiting) << "a claim that nobody knows of has taken it";
  gate.open();
  expect_done({held, next}, runs);
}

}  // namespace
}  // namespace echomq::test
