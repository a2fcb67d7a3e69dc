// SPDX-License-Identifier: MIT
// inspect_fence tells each state of a keyspace, the key that decided, and what else speaks; and
// changes nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

class InspectFence : public LibraryTest {
 protected:
  ~InspectFence() override {
    for (const auto& key : made_) redis({"DEL", key});
  }

  // A key outside of the queue's own, deleted afterwards.
  std::string v1(const std::string& prefix, const std::string& of, const std::string& suffix) {
    made_.push_back(v1_key(prefix, of, suffix));
    return made_.back();
  }

  FenceReport look() {
    const auto before = dump_queue(redis, name);
    auto report = inspect_fence(client, name);
    EXPECT_TRUE(report) << report.error().message();
    EXPECT_EQ(difference(before, dump_queue(redis, name)), "");
    return std::move(report).value();
  }

  void expect(FenceState state, const std::string& found, const std::string& probe) {
    const auto report = look();
    EXPECT_EQ(report.queue, name);
    EXPECT_EQ(echomq::name(report.state), echomq::name(state));
    EXPECT_EQ(report.found, found);
    EXPECT_EQ(report.probe, probe);
    EXPECT_EQ(report.repairable, state == FenceState::damaged);
  }

  const std::string meta_ = key_of(Structure::meta);

 private:
  std::vector<std::string> made_;
};

TEST_F(InspectFence, Fresh) {
  expect(FenceState::fresh, "", "");
  EXPECT_TRUE(look().findings.empty());
}

TEST_F(InspectFence, V2) {
  ASSERT_TRUE(queue.add("x"));
  expect(FenceState::v2, "echomq:2.0.0", meta_);
  EXPECT_TRUE(look().findings.empty());
}

TEST_F(InspectFence, V1UnderItsNames) {
  for (const std::string prefix : {"bull", "emq"}) {
    const auto meta = v1(prefix, name, "meta");
    redis({"HSET", meta, "version", "bullmq:5.65.1"});
    expect(FenceState::v1, "bullmq:5.65.1", meta);
    redis({"DEL", meta});
  }
  const auto braced = v1("bull", "{" + name + "}", "meta");
  redis({"HSET", braced, "version", "bullmq:5.65.1"});
  expect(FenceState::v1, "bullmq:5.65.1", braced);
  EXPECT_EQ(fence_error(error_of(queue.add("x"))).value().probe, braced);
  redis({"DEL", braced});
  const auto wait = v1("bull", name, "wait");
  redis({"RPUSH", wait, "1"});
  expect(FenceState::v1, "a v1 queue (list)", wait);
}

TEST_F(InspectFence, V1InOurPlace) {
  redis({"HSET", meta_, "version", "bullmq:5.65.1", "opts.maxLenEvents", "10000"});
  redis({"RPUSH", key_of(Structure::active), "1"});
  expect(FenceState::v1, "bullmq:5.65.1", meta_);
}

TEST_F(InspectFence, MigratedAway) {
  const auto meta = v1("bull", name, "meta");
  redis({"SET", meta, "echomq:2.0.0 migrated to emq:{" + name + "}"});
  redis({"SET", v1("bull", name, "id"), "echomq:2.0.0 migrated to emq:{" + name + "}"});
  expect(FenceState::migrated_away, "echomq:2.0.0", meta);
  EXPECT_EQ(look().findings.at(1).key, v1("bull", name, "repeat")) << "it has none there";
  redis({"SET", v1("bull", name, "repeat"), "echomq:2.0.0 migrated to emq:{" + name + "}"});
  EXPECT_EQ(look().findings.size(), 1U);
  ASSERT_TRUE(queue.add("x"));
  expect(FenceState::v2, "echomq:2.0.0", meta_);
  EXPECT_EQ(look().findings.at(0).key, meta);
}

TEST_F(InspectFence, BeingMigrated) {
  ASSERT_TRUE(queue.open());
  set_meta("version", "echomq:2.0.0:migrating");
  redis({"HSET", migration_key(name), "phase", "fenced"});
  expect(FenceState::being_migrated, "echomq:2.0.0:migrating", meta_);
  EXPECT_EQ(look().findings.at(0).key, migration_key(name));
  // A v1 client that overwrites the version does not make a queue of it that could be repaired.
  set_meta("version", "bullmq:5.65.1");
  expect(FenceState::being_migrated, "bullmq:5.65.1", meta_);
  EXPECT_EQ(fence_error(error_of(repair_fence(client, name))).value().probe, migration_key(name));
  redis({"HSET", migration_key(name), "phase", "finished"});
  expect(FenceState::damaged, "bullmq:5.65.1", meta_);
  redis({"DEL", migration_key(name)});
}

TEST_F(InspectFence, ForeignAndNewer) {
  for (const std::string version : {"somebody:1", "echomq:1.9.9", "echomq:2.0.0:other"}) {
    set_meta("version", version);
    expect(FenceState::foreign, version, meta_);
  }
  for (const std::string version :
       {"echomq:3.0.0", "echomq:2.0.1", "echomq:2.1", "echomq:10.0.0"}) {
    set_meta("version", version);
    expect(FenceState::newer, version, meta_);
  }
  redis({"HDEL", meta_, "version"});
  set_meta("other", "field");
  expect(FenceState::foreign, "nothing", meta_);
  redis({"DEL", meta_});
  redis({"RPUSH", key_of(Structure::wait), "1"});
  expect(FenceState::foreign, "keys of the queue without a meta", meta_);
  redis({"SET", meta_, "echomq:2.0.0"});
  expect(FenceState::foreign, "a meta key of another type", meta_);
  redis({"DEL", meta_, key_of(Structure::wait)});
  ASSERT_TRUE(another().queues());
  auto own = another();
  ASSERT_TRUE(Queue<>(own, name).open());
  set_meta("min_revision", "99");
  expect(FenceState::newer, "revision 99", meta_);
}

TEST_F(InspectFence, DamagedByEachOfWhatAV1ClientCanDo) {
  ASSERT_TRUE(queue.add("x"));
  set_meta("version", "bullmq:5.65.1");
  expect(FenceState::damaged, "bullmq:5.65.1", meta_);
  set_meta("version", "echomq:2.0.0");
  const auto paused = "emq:{" + name + "}:paused";
  redis({"RENAME", key_of(Structure::wait), paused});
  expect(FenceState::damaged, "list", paused);
  set_meta("paused", "1");
  expect(FenceState::damaged, "a queue that v1 has paused", meta_);
  EXPECT_EQ(fence_error(error_of(queue.add("y"))).value().found, "a queue that v1 has paused");
  redis({"HDEL", meta_, "paused"});
  redis({"RENAME", paused, key_of(Structure::wait)});
  redis({"XADD", key_of(Structure::events), "*", "event", "paused"});
  expect(FenceState::damaged, look().found, key_of(Structure::events));
  redis({"DEL", key_of(Structure::events)});
  redis({"SET", key_of(Structure::limiter), "9007199254740991"});
  expect(FenceState::damaged, "string", key_of(Structure::limiter));
  redis({"DEL", key_of(Structure::limiter)});
  redis({"SET", key_of(Structure::id), "17"});
  expect(FenceState::damaged, "17", key_of(Structure::id));
  redis({"SET", key_of(Structure::id), "echomq:2.0.0"});
  // As v1's changeDelay multiplies a time. One of ours is not taken for one.
  redis({"ZADD", key_of(Structure::delayed), "7356829727793152", "a", "1796097406744", "b"});
  expect(FenceState::damaged, "1 time", key_of(Structure::delayed));
  redis({"DEL", key_of(Structure::delayed)});
  expect(FenceState::v2, "echomq:2.0.0", meta_);
}

TEST_F(InspectFence, AMissingSentinelIsDamage) {
  ASSERT_TRUE(queue.open());
  for (const auto structure : {Structure::id, Structure::repeat, Structure::active}) {
    redis({"DEL", key_of(structure)});
    expect(FenceState::damaged, "no sentinel", key_of(structure));
    EXPECT_EQ(repair_fence(client, name).value().sentinels, 1);
    expect(FenceState::v2, "echomq:2.0.0", meta_);
  }
  redis({"HDEL", meta_, "concurrency"});
  expect(FenceState::damaged, "no sentinel", meta_);
  EXPECT_EQ(repair_fence(client, name).value().sentinels, 1);
  set_meta("concurrency", "2");
  expect(FenceState::damaged, "2", meta_);
  EXPECT_EQ(repair_fence(client, name).value().sentinels, 1);
  expect(FenceState::v2, "echomq:2.0.0", meta_);
}

TEST_F(InspectFence, ALeftoverOfARefusedWorkerIsNoDamage) {
  ASSERT_TRUE(queue.open());
  redis({"SET", "emq:{" + name + "}:stalled-check", "1", "PX", "30000"});
  expect(FenceState::v2, "echomq:2.0.0", meta_);
  EXPECT_EQ(look().findings.at(0).damage, false);
}

TEST_F(InspectFence, AV1QueueBesideOursIsToldFirst) {
  ASSERT_TRUE(queue.open());
  const auto meta = v1("bull", name, "meta");
  redis({"HSET", meta, "version", "bullmq:5.1.0"});
  expect(FenceState::v1, "bullmq:5.1.0", meta);
}

TEST_F(InspectFence, ABadNameIsRefused) {
  EXPECT_EQ(error_of(inspect_fence(client, "a b")).code, ErrorCode::invalid_name);
}

}  // namespace
}  // namespace echomq::test
