// SPDX-License-Identifier: MIT
// INV1, as the library meets it: a queue whose keys belong to another wire is refused by every
// operation, with what was found, what was expected and the key that showed it; nothing changes.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Fence : public LibraryTest {
 protected:
  ~Fence() override {
    for (const auto& prefix : {"bull", "emq"})
      for (const auto& suffix : {"meta", "id", "wait", "active", "paused", "delayed", "prioritized",
                                 "completed", "failed"})
        redis({"DEL", v1_key(prefix, name, suffix)});
  }

  // Every operation answers this fence, a worker stops over it, and nothing changes.
  void expect_fenced(const std::string& found, const std::string& probe,
                     const std::string& expected = "echomq:2.0.0") {
    const auto fence = fence_error(error_of(queue.open()));
    ASSERT_TRUE(fence);
    EXPECT_EQ(fence->found, found);
    expect_transitions_fenced(found, probe, expected);
  }

  void expect_transitions_fenced(const std::string& found, const std::string& probe,
                                 const std::string& expected = "echomq:2.0.0") {
    // Not the deployment's keys: clients of other tests may still be going.
    const auto before = dump_queue(redis, name);
    const auto check = [&](const Error& error, const char* by) {
      const auto fence = fence_error(error);
      ASSERT_TRUE(fence) << by << ": " << error.message();
      EXPECT_EQ(fence->queue, name) << by;
      EXPECT_EQ(fence->found, found) << by;
      EXPECT_EQ(fence->expected, expected) << by;
      EXPECT_EQ(fence->probe, probe) << by;
    };
    check(error_of(queue.add("x")), "add");
    check(error_of(queue.add_bulk({{"x", {}}, {"y", {}}}).value().at(1)), "add_bulk");
    check(error_of(queue.async_add("x").get()), "async_add");
    Worker worker{queue, {}, [](Job<>&) {}};
    EXPECT_TRUE(worker.wait(10s));
    ASSERT_FALSE(worker.status());
    check(worker.status().error(), "worker");
    EXPECT_EQ(worker.run_until(Signals{}, 1s), 1);
    EXPECT_EQ(difference(before, dump_queue(redis, name)), "");
  }
};

TEST_F(Fence, INV1_V1VersionUnderEachPrefix) {
  for (const auto& prefix : {"bull", "emq"}) {
    const auto meta = v1_key(prefix, name, "meta");
    redis({"HSET", meta, "version", "bullmq:5.65.1"});
    expect_fenced("bullmq:5.65.1", meta);
    redis({"DEL", meta});
  }
  EXPECT_TRUE(queue.add("free"));
}

TEST_F(Fence, INV1_V1KeysWithoutAVersion) {
  const auto refused_over = [this](const char* suffix, const std::vector<std::string>& make) {
    const auto probe = v1_key("bull", name, suffix);
    auto words = make;
    words.insert(words.begin() + 1, probe);
    ASSERT_FALSE(redis(words).is_error());
    expect_fenced("a v1 queue (" + redis({"TYPE", probe}).text + ")", probe);
    redis({"DEL", probe});
  };
  refused_over("wait", {"RPUSH", "1"});
  refused_over("active", {"RPUSH", "1"});
  refused_over("paused", {"RPUSH", "1"});
  refused_over("delayed", {"ZADD", "1", "1"});
  refused_over("prioritized", {"ZADD", "1", "1"});
  refused_over("completed", {"ZADD", "1", "1"});
  refused_over("failed", {"ZADD", "1", "1"});
  refused_over("meta", {"HSET", "opts.maxLenEvents", "10000"});
  EXPECT_TRUE(queue.add("free"));
}

TEST_F(Fence, INV1_WithoutPrefixesV1IsLetBe) {
  redis({"HSET", v1_key("bull", name, "meta"), "version", "bullmq:5.65.1"});
  redis({"RPUSH", v1_key("bull", name, "wait"), "1"});
  auto beside = options();
  beside.v1_prefixes = {};
  auto own = connect(server.url(), beside).value();
  const auto added = Queue<>(own, name).add("x");
  EXPECT_TRUE(added) << added.error().message();
  beside.v1_prefixes = {"emq"};
  auto other = connect(server.url(), beside).value();
  EXPECT_TRUE(Queue<>(other, name).add("x"));
  EXPECT_EQ(error_of(queue.add("x")).code, ErrorCode::fence);
}

// What a migration leaves in the place of v1 keys: strings that no v1 client can work with.
TEST_F(Fence, INV1_TombstonesPass) {
  redis({"SET", v1_key("bull", name, "meta"), "echomq:2.0.0 migrated"});
  redis({"SET", v1_key("bull", name, "id"), "echomq:2.0.0"});
  const auto added = queue.add("x");
  EXPECT_TRUE(added) << added.error().message();
}

TEST_F(Fence, INV1_ForeignVersion) {
  for (const std::string version : {"echomq:3.0.0", "somebody:1", "bullmq:5.65.1"}) {
    set_meta("version", version);
    expect_fenced(version, key_of(Structure::meta));
    EXPECT_EQ(fence_error(error_of(queue.counts())).value().found, version);
    EXPECT_EQ(fence_error(error_of(queue.job("x"))).value().found, version);
  }
}

TEST_F(Fence, INV1_NewerRevision) {
  set_meta("version", "echomq:2.0.0");
  set_meta("min_revision", "99");
  const auto fence = fence_error(error_of(queue.open()));
  ASSERT_TRUE(fence);
  expect_fenced("revision 99", key_of(Structure::meta), fence->expected);
  EXPECT_EQ(fence->expected.rfind("revision ", 0), 0U) << fence->expected;
}

TEST_F(Fence, INV1_KeysOfTheQueueWithoutAMeta) {
  redis({"RPUSH", key_of(Structure::wait), "1"});
  expect_fenced("keys of the queue without a meta", key_of(Structure::meta));
}

TEST_F(Fence, INV1_MetaOfAnotherType) {
  redis({"SET", key_of(Structure::meta), "echomq:2.0.0"});
  expect_fenced("a meta key of another type", key_of(Structure::meta));
}

TEST_F(Fence, INV1_SentinelThatAV1ClientOverwrote) {
  ASSERT_TRUE(another().queues());
  {
    auto own = another();
    ASSERT_TRUE(Queue<>(own, name).open());
  }
  redis({"SET", key_of(Structure::id), "17"});
  expect_fenced("a sentinel overwritten by another wire", key_of(Structure::meta));
}

// Not only at boot: the version changes under a client that has the queue open.
TEST_F(Fence, INV1_StandsInEveryTransition) {
  ASSERT_TRUE(queue.add("x", {.id = "a"}));
  set_meta("version", "echomq:3.0.0");
  expect_transitions_fenced("echomq:3.0.0", key_of(Structure::meta));
  EXPECT_TRUE(fence_error(error_of(queue.counts())));
  EXPECT_TRUE(fence_error(error_of(queue.job("a"))));
}

TEST_F(Fence, INV1_StopsAWorkerThatIsAtWork) {
  ASSERT_TRUE(queue.open());
  Worker worker{queue, {.poll = 100ms}, [](Job<>&) {}};
  ASSERT_TRUE(queue.add("x"));
  ASSERT_TRUE(eventually([&] { return worker.stats().completed == 1; }));
  set_meta("version", "echomq:3.0.0");
  EXPECT_TRUE(worker.wait(10s));
  ASSERT_FALSE(worker.status());
  EXPECT_EQ(worker.status().error().code, ErrorCode::fence) << worker.status().error().message();
}

}  // namespace
}  // namespace echomq::test
