// SPDX-License-Identifier: MIT
// The server itself goes away, or stops being one that can be written to, under a worker.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "chaos.h"
#include "support/ports.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// A minute where that is wanted. The short form has each deadline that a minute would pass pass in
// three: that of a command, the node's lease and the jobs' leases are as short as they may be, and
// the pause between two attempts to connect has reached its greatest by then.
std::chrono::seconds outage_time() { return long_forms_wanted() ? 60s : 3s; }

class Restart : public ChaosOnItsOwnServer {
 protected:
  Restart()
      : ChaosOnItsOwnServer({.appendonly = true, .appendfsync = "always", .cluster = false}) {}

  [[nodiscard]] ClientOptions short_lived() const {
    auto how = hasty();
    how.node_lease = 3s;
    return how;
  }
  static WorkerOptions leased() {
    auto how = steady();
    how.lease = 2s;
    return how;
  }
  // Without the proxy: here it is the server that goes.
  BusyAndIdle::Connected directly() {
    return [this](const ClientOptions& how) { return connect(server.url(), how).value(); };
  }
};

// A busy worker, of whose handlers one is at work all the time, and an idle one of another queue,
// whose delayed jobs come due during the outage and after it.
TEST_F(Restart, B17_BusyAndIdleWorkersGoOn) {
  Gate gate;
  BusyAndIdle workers(*this, directly(), short_lived(), leased(), [&](Job<>& job) {
    if (job.data() == "held") gate.pass();
  });
  auto& idle = workers.idle;
  auto& runs = workers.runs;
  std::vector<std::string> ids{queue.add("held").value()};
  ASSERT_TRUE(eventually([&] { return gate.waiting() == 1; }, kResumes));
  Feed feed{connect(server.url(), short_lived()).value(), name};
  ASSERT_TRUE(eventually([&] { return runs.size() > 50; }, kResumes)) << log.text();
  const auto meanwhile = idle.queue.add("x", {.delay = 1s}).value();
  const auto after = idle.queue.add("x", {.delay = outage_time() + 1s}).value();
  server.kill9();
  last(outage_time());
  server.start();
  const auto before = runs.size();
  EXPECT_TRUE(eventually([&] { return runs.size() > before + 100; }, kResumes)) << log.text();
  gate.open();
  for (const auto& id : feed.stop()) ids.push_back(id);
  expect_done(ids, runs);
  idle.expect_done({meanwhile, after});
  const auto job = idle.queue.job(after).value();
  EXPECT_GE(job.processed_ms, job.added_ms + std::chrono::milliseconds(outage_time() + 1s).count());
  workers.expect_at_work();
}

// Its connections stay open, and nobody answers on them.
TEST_F(Restart, P2_AServerThatStandsStillUnderWorkersThatWait) {
  BusyAndIdle workers(*this, directly(), short_lived(), leased(), [](Job<>&) {});
  auto& idle = workers.idle;
  const auto first = queue.add("x").value();
  ASSERT_TRUE(eventually([&] { return workers.runs.size() == 1; }, kResumes));
  ASSERT_TRUE(eventually([&] { return blocks(name) && blocks(idle.name); }, kResumes));
  server.stop_signal();
  last(outage_time());
  server.continue_signal();
  const auto second = queue.add("y").value_or({});
  const auto third = idle.queue.add("z", {.delay = 100ms}).value();
  EXPECT_TRUE(
      eventually([&] { return workers.runs.size() == 2 && idle.runs.size() == 1; }, kResumes))
      << log.text();
  expect_done({first, second}, workers.runs);
  idle.expect_done({third});
  workers.expect_at_work();
}

// A server that has restarted counts its connections anew, so the number of a lost one is someone
// else's.
TEST_F(Restart, KillsNoConnectionOfAnyoneElse) {
  const auto fifty = [this] {
    std::vector<RawClient> clients;
    for (int i = 0; i < 50; ++i) clients.push_back(server.connect());
    return clients;
  };
  fifty();  // so that the client's number is one of those that the others get afterwards
  auto near = far();
  Queue<> q{near, name};
  ASSERT_TRUE(q.open());
  proxy.refuse();
  server.kill9();
  server.start();
  auto others = fifty();
  proxy.pass();
  ASSERT_TRUE(eventually([&] { return q.add("x").ok(); }, kResumes)) << log.text();
  for (auto& other : others) ASSERT_EQ(other({"PING"}).text, "PONG");
}

// A worker that is made while the server is away waits for it.
TEST_F(Restart, UnderAWorkerThatStarts) {
  auto how = short_lived();
  how.command_timeout = 300ms;
  auto near = connect(server.url(), how).value();
  Queue<> q{near, name};
  ASSERT_TRUE(queue.open());
  server.kill9();
  Runs runs;
  Worker worker{q, steady(), [&](Job<>& job) { runs.note(job.id()); }};
  EXPECT_FALSE(worker.wait(700ms)) << error_of(worker.status()).message();
  server.start();
  Queue<> fresh{another(), name};
  const auto id = fresh.add("x").value();
  expect_done({id}, runs);
}

// P2: a primary is demoted and becomes one again, as in a failover; what blocks in it is thrown
// out. Ends that were refused meanwhile are made good by another run, and that is recorded.
TEST_F(Restart, P2_DemotionAndPromotionOfThePrimary) {
  BusyAndIdle workers(*this, directly(), short_lived(), leased(), [](Job<>&) { last(1ms); });
  auto& idle = workers.idle;
  auto& runs = workers.runs;
  const auto ids = add_many(600);
  ASSERT_TRUE(eventually([&] { return counts().completed > 100; }, kResumes)) << log.text();
  redis({"REPLICAOF", "127.0.0.1", "1"});
  last(400ms);
  EXPECT_FALSE(queue.add("refused"));
  redis({"REPLICAOF", "NO", "ONE"});
  const auto id = idle.queue.add("x").value();
  EXPECT_TRUE(eventually([&] { return idle.runs.size() == 1; }, kResumes)) << log.text();
  idle.expect_done({id});
  expect_done(ids, runs, 1);
  workers.expect_at_work();
}

// P11: at its memory limit the server refuses adds by name, and the backlog drains.
TEST_F(Restart, P11_FullUnderABusyWorkerAndDrained) {
  auto near = another();
  Queue<> q{near, name};
  ASSERT_TRUE(q.open());
  const auto memory = [this] {
    const auto text = redis({"INFO", "memory"}).text;
    return std::stol(text.substr(text.find("used_memory:") + 12));
  };
  const std::string kilobyte(1'024, 'x');
  redis({"CONFIG", "SET", "maxmemory", std::to_string(memory() + (1 << 20))});
  std::vector<std::string> ids;
  Error refusal;
  for (int batch = 0; batch < 200 && refusal.code != ErrorCode::full; ++batch) {
    auto results = queue.add_bulk(std::vector<NewJob<>>(100, {kilobyte, {}})).value();
    for (auto& id : results) {
      if (id)
        ids.push_back(*std::move(id));
      else
        refusal = id.error();
    }
  }
  ASSERT_EQ(refusal.code, ErrorCode::full) << refusal.message();
  ASSERT_GT(ids.size(), 300U);
  Runs runs;
  auto how = steady();
  how.keep_completed = Keep::none();
  Worker worker{q, how, [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(eventually([&] { return worker.stats().completed == ids.size(); }, kResumes))
      << counts_text() << "\n"
      << log.text();
  for (const auto& id : ids) ASSERT_EQ(runs.times(id), 1) << id;
  EXPECT_TRUE(places(redis, name).empty());
  EXPECT_TRUE(eventually([&] { return queue.add(kilobyte).ok(); }, kResumes)) << "there is room";
  EXPECT_TRUE(worker.status());
}

}  // namespace
}  // namespace echomq::test
