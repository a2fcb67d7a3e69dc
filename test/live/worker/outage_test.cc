// SPDX-License-Identifier: MIT
// INV7 while the server dies, sleeps, forgets its scripts and cuts connections.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "job/record.h"
#include "support/library_test.h"
#include "support/runs.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// Adds jobs from one thread of its own, and remembers what was acknowledged and what is unknown.
class Producer {
 public:
  explicit Producer(Client client, const std::string& queue)
      : queue_(client, queue), thread_([this] { run(); }) {}
  ~Producer() { stop(); }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  void stop() {
    ending_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  // After stop().
  [[nodiscard]] const std::vector<std::string>& acknowledged() const { return acknowledged_; }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  void run() {
    while (!ending_) {
      auto results = queue_.add_bulk(std::vector<echomq::NewJob<>>(5, {"x", {}}));
      for (auto& id : results.value()) {
        if (!id) problems_.push_back(id.error().message());
        if (id) acknowledged_.push_back(std::move(id).value());
      }
      count_ = acknowledged_.size();
      std::this_thread::yield();
    }
  }

  Queue<> queue_;
  std::vector<std::string> acknowledged_;
  std::vector<std::string> problems_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

WorkerOptions busy(std::chrono::milliseconds lease = 30s) {
  WorkerOptions how;
  how.concurrency = 8;
  how.lease = lease;
  how.keep_completed = Keep::all();
  return how;
}

class Outage : public OwnServerTest {
 protected:
  explicit Outage(ServerOptions with = {}) : OwnServerTest(std::move(with)) {}

  // Every acknowledged job is completed, ran once, and no crash was counted.
  void expect_once_each(const std::vector<std::string>& ids, const Runs& runs) {
    auto fresh = server.connect();
    const auto stand = places(fresh, name);
    const auto times = runs.times();
    for (const auto& id : ids) {
      const auto at = stand.find(id);
      ASSERT_NE(at, stand.end()) << id << " is lost";
      ASSERT_EQ(at->second, "completed") << id;
      ASSERT_EQ(times.at(id), 1) << id;
      const auto left = job::read_runs(fresh({"HGET", job_key(name, id), "run"}).text);
      ASSERT_TRUE(left) << id;
      ASSERT_EQ(left->crashes, 0U) << id;
    }
    for (const auto& [id, states] : stand) ASSERT_EQ(states, "completed") << id;
  }
};

class DurableOutage : public Outage {
 protected:
  DurableOutage() : Outage({.appendonly = true, .appendfsync = "always"}) {}
};

// What one node shows of moving a slot: it does not serve it for a while, again and again.
class SlotOutage : public Outage {
 protected:
  SlotOutage() : Outage({.cluster = true}) {}
  // How often the server has said that it does not serve a slot.
  std::int64_t refusals() {
    const auto stats = redis({"INFO", "errorstats"}).text;
    const std::string word = "errorstat_CLUSTERDOWN:count=";
    const auto at = stats.find(word);
    return at == std::string::npos ? 0 : std::stoll(stats.substr(at + word.size()));
  }
};

TEST_F(SlotOutage, P24_ASlotThatIsNotServedLosesAndTearsNothing) {
  if (!plain_servers_wanted()) GTEST_SKIP() << kServersOfItsOwn;
  ASSERT_TRUE(queue.open());
  const auto slot = std::to_string(redis({"CLUSTER", "KEYSLOT", key_of(Structure::meta)}).integer);
  Runs runs;
  Worker worker{queue, busy(), [&](Job<>& job) { runs.note(job.id()); }};
  Producer producer(client, name);
  for (int time = 0; time < 20; ++time) {
    const auto before = refusals();
    ASSERT_EQ(redis({"CLUSTER", "DELSLOTS", slot}).text, "OK");
    EXPECT_TRUE(eventually([&] { return refusals() > before; }));
    ASSERT_EQ(redis({"CLUSTER", "ADDSLOTS", slot}).text, "OK");
    const auto added = producer.count();
    const auto ran = runs.size();
    ASSERT_TRUE(eventually([&] { return producer.count() > added && runs.size() > ran; }))
        << "both go on by themselves; time " << time << "\n"
        << log.text();
  }
  producer.stop();
  EXPECT_EQ(producer.problems(), std::vector<std::string>{});
  EXPECT_TRUE(eventually([&] {
    const auto now = counts();
    return now.waiting + now.active + now.delayed == 0;
  }));
  expect_once_each(producer.acknowledged(), runs);
}

// An acknowledged add is on disk.
TEST_F(DurableOutage, INV7_ServerKilledAndEveryAcknowledgedAddSurvives) {
  ASSERT_TRUE(queue.open());
  Producer producer(client, name);
  for (int time = 0; time < 2; ++time) {
    const auto before = producer.count();
    ASSERT_TRUE(eventually([&] { return producer.count() >= before + 200; }));
    server.kill9();
    server.start();
  }
  const auto before = producer.count();
  EXPECT_TRUE(eventually([&] { return producer.count() > before; })) << "adds go on afterwards";
  producer.stop();
  auto fresh = server.connect();
  const auto stand = places(fresh, name);
  for (const auto& id : producer.acknowledged()) {
    const auto at = stand.find(id);
    ASSERT_NE(at, stand.end()) << id << " was acknowledged and is lost";
    ASSERT_EQ(at->second, "wait") << id;
  }
  for (const auto& [id, states] : stand)
    ASSERT_EQ(fresh({"HEXISTS", job_key(name, id), "data"}).integer, 1) << id << " is torn";
}

TEST_F(DurableOutage, INV7_ServerKilledUnderABusyWorker) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  Worker worker{queue, busy(), [&](Job<>& job) { runs.note(job.id()); }};
  Producer producer(client, name);
  for (int time = 0; time < 2; ++time) {
    const auto before = runs.size();
    ASSERT_TRUE(eventually([&] { return runs.size() >= before + 200; }))
        << error_of(worker.status()).message() << "\n"
        << log.text();
    server.kill9();
    server.start();
  }
  producer.stop();
  EXPECT_TRUE(eventually([&] {
    const auto now = counts();
    return now.waiting == 0 && now.active == 0;
  }));
  expect_once_each(producer.acknowledged(), runs);
  EXPECT_TRUE(worker.status());
}

TEST_F(DurableOutage, ProgressReportedWhileTheServerIsAwayIsNotLost) {
  auto how = options();
  how.command_timeout = 200ms;
  auto hasty = connect(server.url(), how).value();
  Queue<> theirs{hasty, name};
  const auto id = queue.add("x").value();
  std::atomic<bool> begun{false};
  std::atomic<bool> away{false};
  std::atomic<bool> seen{false};
  Worker worker{theirs, busy(), [&](Job<>& job) {
                  begun = true;
                  EXPECT_TRUE(eventually([&] { return away.load(); }));
                  EXPECT_TRUE(job.progress("half"));
                  EXPECT_TRUE(eventually([&] { return seen.load(); }));
                }};
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  server.kill9();
  away = true;
  const auto until = std::chrono::steady_clock::now() + 3 * how.command_timeout;
  EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > until; }));
  server.start();
  auto fresh = server.connect();
  EXPECT_TRUE(eventually([&] {
    return fresh({"HGET", job_key(name, id), "progress"}).text == "half";
  })) << log.text();
  seen = true;
}

TEST_F(Outage, INV7_ScriptFlushUnderLoad) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  Worker worker{queue, busy(), [&](Job<>& job) { runs.note(job.id()); }};
  Producer producer(client, name);
  for (int flushes = 0; flushes < 300 || producer.count() < 2'000; ++flushes) {
    ASSERT_FALSE(redis({"SCRIPT", "FLUSH"}).is_error());
    std::this_thread::yield();
  }
  producer.stop();
  EXPECT_EQ(producer.problems(), std::vector<std::string>{});
  EXPECT_TRUE(eventually(
      [&] { return counts().completed == static_cast<std::int64_t>(producer.count()); }));
  expect_once_each(producer.acknowledged(), runs);
}

TEST_F(Outage, INV7_ConnectionsKilledWhileBusy) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  Worker worker{queue, busy(), [&](Job<>& job) { runs.note(job.id()); }};
  Producer producer(client, name);
  for (int time = 0; time < 15; ++time) {
    const auto before = runs.size();
    ASSERT_TRUE(eventually([&] { return runs.size() >= before + 50; })) << log.text();
    redis({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  }
  producer.stop();
  EXPECT_EQ(producer.problems(), std::vector<std::string>{});
  EXPECT_TRUE(eventually([&] {
    // A read that is in flight when its connection is killed is lost, and may be made again.
    const auto now = queue.counts();
    return now && now->waiting == 0 && now->active == 0;
  })) << log.text();
  expect_once_each(producer.acknowledged(), runs);
}

TEST_F(Outage, ConnectionsKilledWhileIdle) {
  ASSERT_TRUE(queue.open());
  Runs runs;
  WorkerOptions how = busy();
  how.poll = 60s;
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.id()); }};
  std::vector<std::string> ids;
  for (int time = 0; time < 10; ++time) {
    redis({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    ids.push_back(queue.add("x").value());
    ASSERT_TRUE(eventually([&] { return runs.times(ids.back()) == 1; }, 10s)) << log.text();
  }
  EXPECT_TRUE(eventually([&] { return counts().completed == 10; }));
  expect_once_each(ids, runs);
}

// Nobody is robbed by an outage, however long: all leases look expired at once.
class Robbery : public DurableOutage {
 protected:
  // Two processes hold long jobs and work short ones when the server goes away by `away` and comes
  // back by `back`.
  template <class Away, class Back>
  void expect_nobody_robbed(std::chrono::milliseconds time, Away away, Back back) {
    ASSERT_TRUE(queue.open());
    auto other = another();
    Queue<> theirs{other, name};
    Runs runs;
    Gate gate;
    const auto handler = [&](Job<>& job) {
      runs.note(job.id());
      if (job.data() == "long") gate.pass();
    };
    Worker first{queue, busy(2s), handler};
    Worker second{theirs, busy(2s), handler};
    auto ids = add(std::vector<std::string>(6, "long"));
    ASSERT_TRUE(eventually([&] { return gate.waiting() == 6; }));
    for (auto& id : add_many(300)) ids.push_back(std::move(id));
    ASSERT_TRUE(eventually([&] { return runs.size() > 50; }));
    away();
    const auto until = std::chrono::steady_clock::now() + time;
    eventually([&] { return std::chrono::steady_clock::now() >= until; });
    back();
    // Time for a thief, who must wait before he takes.
    const auto later = client.server_time_ms() + 3'500;
    ASSERT_TRUE(eventually([&] { return client.server_time_ms() > later; }));
    gate.open();
    EXPECT_TRUE(eventually(
        [&] { return queue.counts().value_or({}).completed == std::int64_t(ids.size()); }, 10s))
        << log.text();
    EXPECT_EQ(first.stats().recovered + second.stats().recovered, 0U);
    EXPECT_EQ(first.stats().refused + second.stats().refused, 0U);
    expect_once_each(ids, runs);
  }
  void stand_still(std::chrono::milliseconds time) {
    expect_nobody_robbed(
        time, [this] { server.stop_signal(); }, [this] { server.continue_signal(); });
  }
};

TEST_F(Robbery, INV7_StandstillForLessThanTheLease) { stand_still(1s); }
TEST_F(Robbery, INV7_StandstillForMoreThanTheLease) { stand_still(4s); }

// Each process comes back at a moment of its own, and its leases are all over by then.
TEST_F(Robbery, INV7_ServerDownForMoreThanTheLease) {
  expect_nobody_robbed(
      4s, [this] { server.kill9(); }, [this] { server.start(); });
}

}  // namespace
}  // namespace echomq::test
