// SPDX-License-Identifier: MIT
// The fence's table (docs/fence.md), cell by cell: the right side with our own worker, the left one
// with a stock client of npm that tries everything that a producer or a worker does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "live/fence/stock.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

// What a refused client is known to leave: docs/fence.md, "What stops v1".
constexpr std::string_view kLeftover = ":stalled-check";

class FenceMatrix : public StockTest {
 protected:
  // Our own side needs no client of npm.
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    if (test.starts_with("V1")) StockTest::SetUp();
  }

  // --- the keyspaces

  void make_tombstones(const std::string& prefix, const std::string& of) {
    const auto text = "echomq:2.0.0 migrated to emq:{" + name + "}";
    for (const auto* const suffix : {"meta", "id", "repeat"})
      redis({"SET", v1_key(prefix, of, suffix), text});
  }
  void make_foreign() {
    redis({"HSET", meta_, "version", "somebody:1"});
    redis({"RPUSH", key_of(Structure::wait), "theirs"});
  }

  // --- what a stock client meets

  // Every act is refused, and changes nothing beside what is known.
  void expect_v1_refused(const std::vector<Attempts>& targets) {
    const auto before = everything();
    const auto tried = try_stock(server, targets);
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (const auto& [act, ok, error, value] : tried[i]) {
        const auto where = targets[i].prefix + ":" + targets[i].queue + " " + act + ": " + error;
        // The one does not tell, and of the other nobody waits for what it writes.
        if (act == "flow" || act == "construct") continue;
        EXPECT_FALSE(ok) << where;
        EXPECT_TRUE(error.find("WRONGTYPE") != std::string::npos ||
                    error.find("not an integer") != std::string::npos)
            << where;
      }
    EXPECT_EQ(difference(before, without_leftovers(before)), "");
  }
  static std::vector<Attempts> all_at(const std::string& prefix, const std::string& of) {
    return {{prefix, of, all_work()}};
  }

  // Everything as it is now, but for what a refused client is known to leave.
  Dump without_leftovers(const Dump& before) {
    auto after = everything();
    std::erase_if(after, [](const auto& entry) { return entry.first.ends_with(kLeftover); });
    if (before.contains(meta_)) {
      EXPECT_NE(after[meta_].find("'opts.maxLenEvents=10000'"), std::string::npos);
      const auto version = redis({"HGET", meta_, "version"}).text;
      EXPECT_EQ(version, "bullmq:5.65.1") << "its constructor overwrites it";
      after[meta_] = before.at(meta_);
    }
    return after;
  }

  // --- what our worker meets

  void expect_v2_works() {
    const auto added = queue.add("x");
    ASSERT_TRUE(added) << added.error().message();
    Worker worker{queue, {.stop_when_empty = true}, [](Job<>&) {}};
    EXPECT_TRUE(worker.wait(20s));
    EXPECT_TRUE(worker.status());
    EXPECT_EQ(worker.stats().completed, 1U);
  }
  void expect_v2_refused(const std::string& found) {
    const auto before = everything();
    for (const auto& error : {error_of(queue.add("x")), error_of(queue.open())}) {
      const auto fence = fence_error(error);
      ASSERT_TRUE(fence) << error.message();
      EXPECT_EQ(fence->found, found);
    }
    Worker worker{queue, {}, [](Job<>&) {}};
    EXPECT_TRUE(worker.wait(20s));
    ASSERT_FALSE(worker.status());
    EXPECT_EQ(fence_error(worker.status().error()).value().found, found);
    EXPECT_EQ(difference(before, everything()), "");
  }

  FenceState state() { return inspect_fence(client, name).value().state; }

  const std::string meta_ = key_of(Structure::meta);
};

TEST_F(FenceMatrix, V1WorkerOnFresh) {
  const auto tried = try_stock(server, {{"bull", name, {"construct", "add", "work"}}});
  for (const auto& [act, ok, error, value] : tried.at(0)) EXPECT_TRUE(ok) << act << ": " << error;
  EXPECT_EQ(state(), FenceState::v1);
  expect_v2_refused("bullmq:5.65.1");
}

TEST_F(FenceMatrix, V1WorkerOnV1) {
  (void)try_stock(server, {{"bull", name, {"construct", "add"}}});
  ASSERT_EQ(state(), FenceState::v1);
  const auto tried = try_stock(server, {{"bull", name, {"add", "work", "counts"}}});
  for (const auto& [act, ok, error, value] : tried.at(0)) EXPECT_TRUE(ok) << act << ": " << error;
}

TEST_F(FenceMatrix, V1WorkerOnV2) {
  fill(name);
  ASSERT_EQ(state(), FenceState::v2);
  expect_v1_refused(all_at("emq", braced(name)));
  EXPECT_EQ(state(), FenceState::damaged) << "by the constructor";
  ASSERT_TRUE(repair_fence(client, name));
  // A queue that is paused is shut as well.
  ASSERT_TRUE(queue.pause());
  expect_v1_refused(all_at("emq", braced(name)));
}

TEST_F(FenceMatrix, V1WorkerOnMigratedAway) {
  std::vector<Attempts> targets;
  for (const std::string prefix : {"bull", "emq", "shop-1"})
    for (const auto& of : {name, braced(name)}) {
      if (prefix == "emq" && of != name) continue;  // those are our own keys
      make_tombstones(prefix, of);
      targets.push_back({prefix, of, all_work()});
    }
  ASSERT_EQ(state(), FenceState::migrated_away);
  expect_v1_refused(targets);
  ASSERT_EQ(state(), FenceState::migrated_away);
}

TEST_F(FenceMatrix, V1WorkerOnBeingMigrated) {
  make_tombstones("bull", name);
  fill(name);
  set_meta("version", "echomq:2.0.0:migrating");
  redis({"HSET", migration_key(name), "phase", "fenced"});
  ASSERT_EQ(state(), FenceState::being_migrated);
  expect_v1_refused({{"bull", name, all_work()}, {"emq", braced(name), all_work()}});
  EXPECT_EQ(state(), FenceState::being_migrated);
}

TEST_F(FenceMatrix, V1WorkerOnForeign) {
  make_foreign();
  ASSERT_EQ(state(), FenceState::foreign);
  const auto tried = try_stock(server, {{"emq", braced(name), {"construct", "add"}}});
  for (const auto& [act, ok, error, value] : tried.at(0)) EXPECT_TRUE(ok) << act << ": " << error;
}

TEST_F(FenceMatrix, V1WorkerOnNewer) {
  fill(name);
  set_meta("version", "echomq:2.1.0");
  ASSERT_EQ(state(), FenceState::newer);
  expect_v1_refused(all_at("emq", braced(name)));
}

TEST_F(FenceMatrix, V1WorkerOnDamaged) {
  fill(name);
  (void)try_stock(server, {{"emq", braced(name), {"construct"}}});
  ASSERT_EQ(state(), FenceState::damaged);
  expect_v1_refused(all_at("emq", braced(name)));
}

TEST_F(FenceMatrix, V2WorkerOnFresh) {
  ASSERT_EQ(state(), FenceState::fresh);
  expect_v2_works();
  EXPECT_EQ(state(), FenceState::v2);
}

TEST_F(FenceMatrix, V2WorkerOnV1) {
  for (const auto& of : {name, braced(name)}) {
    const auto meta = v1_key("bull", of, "meta");
    redis({"HSET", meta, "version", "bullmq:5.65.1", "opts.maxLenEvents", "10000"});
    redis({"RPUSH", v1_key("bull", of, "wait"), "1"});
    ASSERT_EQ(state(), FenceState::v1);
    expect_v2_refused("bullmq:5.65.1");
    redis({"DEL", meta});
    expect_v2_refused("a v1 queue (list)");
    redis({"DEL", v1_key("bull", of, "wait")});
  }
}

TEST_F(FenceMatrix, V2WorkerOnV2) {
  ASSERT_TRUE(another().queues());
  ASSERT_TRUE(queue.open());
  ASSERT_EQ(state(), FenceState::v2);
  expect_v2_works();
}

TEST_F(FenceMatrix, V2WorkerOnMigratedAway) {
  make_tombstones("bull", name);
  ASSERT_EQ(state(), FenceState::migrated_away);
  expect_v2_works();
  EXPECT_EQ(state(), FenceState::v2);
}

TEST_F(FenceMatrix, V2WorkerOnBeingMigrated) {
  make_tombstones("bull", name);
  auto other = another();
  ASSERT_TRUE(Queue<>(other, name).open());
  set_meta("version", "echomq:2.0.0:migrating");
  ASSERT_EQ(state(), FenceState::being_migrated);
  expect_v2_refused("echomq:2.0.0:migrating");
  // The source is whole until the migration is finished.
  redis({"RPUSH", v1_key("bull", name, "wait"), "1"});
  ASSERT_EQ(state(), FenceState::being_migrated);
  expect_v2_refused("a v1 queue (list)");
}

TEST_F(FenceMatrix, V2WorkerOnForeign) {
  make_foreign();
  ASSERT_EQ(state(), FenceState::foreign);
  expect_v2_refused("somebody:1");
  redis({"DEL", meta_});
  ASSERT_EQ(state(), FenceState::foreign);
  expect_v2_refused("keys of the queue without a meta");
}

TEST_F(FenceMatrix, V2WorkerOnNewer) {
  auto other = another();
  ASSERT_TRUE(Queue<>(other, name).open());
  set_meta("version", "echomq:3.0.0");
  ASSERT_EQ(state(), FenceState::newer);
  expect_v2_refused("echomq:3.0.0");
  set_meta("version", "echomq:2.0.0");
  set_meta("min_revision", "99");
  ASSERT_EQ(state(), FenceState::newer);
  expect_v2_refused("revision 99");
}

TEST_F(FenceMatrix, V2WorkerOnDamaged) {
  auto other = another();
  ASSERT_TRUE(Queue<>(other, name).open());
  set_meta("version", "bullmq:5.65.1");
  ASSERT_EQ(state(), FenceState::damaged);
  expect_v2_refused("bullmq:5.65.1");
  ASSERT_TRUE(repair_fence(client, name).value().version);
  expect_v2_works();
}

}  // namespace
}  // namespace echomq::test
