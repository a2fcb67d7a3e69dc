// SPDX-License-Identifier: MIT
// node/lease: a node id has one live holder, and each new holder starts after the end of the last.
#include <gtest/gtest.h>

#include "echomq/keyspace.h"
#include "probe/script_queue.h"
#include "support/dump.h"
#include "support/server.h"

namespace echomq::test {
namespace {

// On a server of its own, because the deployment's keys are shared by all queues of a server.
class NodeLease : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<TestServer>(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override { redis({"FLUSHALL"}); }

  std::string lease(const NodeRequest& request) { return show(lease_node(redis, request)); }

  void expect_refused(const std::string& refusal, const NodeRequest& request) {
    const auto before = dump_all(redis);
    EXPECT_EQ(lease(request).substr(0, refusal.size()), refusal);
    EXPECT_EQ(difference(before, dump_all(redis)), "");
  }

  static inline std::unique_ptr<TestServer> server_;
  RawClient redis = server_->connect();
  const std::string version_ = reserve_key(Reserve::version);
  const std::string nodes_ = reserve_key(Reserve::nodes);
};

constexpr std::int64_t kNow = 1'800'000'000'000;

TEST_F(NodeLease, TheFirstOneMakesTheDeployment) {
  EXPECT_EQ(lease({}), "[1 1 0]");
  EXPECT_EQ(redis({"GET", version_}).text, "echomq:2.0.0");
  EXPECT_EQ(redis({"HGET", nodes_, "1"}).text, "1800000030000 1 owner-1");
}

TEST_F(NodeLease, IsExclusiveWhileItLasts) {
  lease({});
  const auto before = dump_all(redis);
  EXPECT_EQ(lease({.owner = "owner-2"}), "[]");
  EXPECT_EQ(lease({.now = kNow + 30'000, .until = kNow + 60'000, .owner = "owner-2"}), "[]");
  EXPECT_EQ(difference(before, dump_all(redis)), "");
}

TEST_F(NodeLease, TheFirstFreeOneOfThoseOfferedIsGranted) {
  lease({.nodes = {3}});
  EXPECT_EQ(lease({.owner = "owner-2", .nodes = {3, 9, 4}}), "[9 2 0]");
  EXPECT_EQ(show(redis({"HGET", nodes_, "4"})), "(nil)");
}

TEST_F(NodeLease, AnExpiredOneIsTakenOverWithItsEndAsFloorAndANewGrant) {
  lease({});
  EXPECT_EQ(lease({.now = kNow + 30'001, .until = kNow + 60'000, .owner = "owner-2"}),
            "[1 2 1800000030000]");
  // The one before cannot renew any more.
  EXPECT_EQ(lease({.now = kNow + 30'002, .until = kNow + 60'000}), "[]");
}

TEST_F(NodeLease, RenewingKeepsTheGrant) {
  lease({});
  EXPECT_EQ(lease({.now = kNow + 10'000, .until = kNow + 40'000}), "[1 1 1800000030000]");
  EXPECT_EQ(redis({"HGET", nodes_, "1"}).text, "1800000040000 1 owner-1");
  EXPECT_EQ(redis({"HGET", nodes_, "grants"}).text, "1");
}

TEST_F(NodeLease, RenewingWorksLateAsLongAsNobodyTookIt) {
  lease({});
  EXPECT_EQ(lease({.now = kNow + 90'000, .until = kNow + 120'000}), "[1 1 1800000030000]");
}

TEST_F(NodeLease, AReturnedOneIsFreeAtOnceFromTheLastMillisecondMintedFor) {
  lease({});
  lease({.now = kNow + 2'000, .until = kNow + 1'500, .keep = false});
  EXPECT_EQ(redis({"HGET", nodes_, "1"}).text, "1800000001500 1 -");
  EXPECT_EQ(lease({.now = kNow + 2'000, .until = kNow + 32'000, .owner = "owner-2"}),
            "[1 2 1800000001500]");
}

// Clocks are estimates: the next process may place "now" a little before the last one's last id.
TEST_F(NodeLease, AReturnedOneIsFreeForAClockThatIsBehind) {
  lease({});
  lease({.now = kNow + 2'000, .until = kNow + 1'999, .keep = false});
  EXPECT_EQ(lease({.now = kNow + 1'990, .until = kNow + 32'000, .owner = "owner-2"}),
            "[1 2 1800000001999]");
}

TEST_F(NodeLease, AReturnedOneMayBeTakenAgainByWhoReturnedIt) {
  lease({});
  lease({.now = kNow + 2'000, .until = kNow + 1'500, .keep = false});
  EXPECT_EQ(lease({.now = kNow + 2'000, .until = kNow + 32'000}), "[1 2 1800000001500]");
}

TEST_F(NodeLease, GrantsRiseOverAllNodes) {
  EXPECT_EQ(lease({.owner = "a", .nodes = {5}}), "[5 1 0]");
  EXPECT_EQ(lease({.owner = "b", .nodes = {6}}), "[6 2 0]");
  EXPECT_EQ(lease({.now = kNow + 40'000, .until = kNow + 70'000, .owner = "c", .nodes = {5}}),
            "[5 3 1800000030000]");
}

TEST_F(NodeLease, OwnersMayHaveBlanksInTheirNames) {
  lease({.owner = "host 7 worker"});
  EXPECT_EQ(lease({.owner = "host 7 worker"}), "[1 1 1800000030000]");
  EXPECT_EQ(lease({.owner = "worker"}), "[]");
}

TEST_F(NodeLease, IsRefusedOnADeploymentOfAnotherVersion) {
  redis({"SET", version_, "echomq:3.0.0"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=echomq:3.0.0", {});
  redis({"DEL", version_});
  redis({"HSET", version_, "a", "b"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=a version key of another type", {});
}

TEST_F(NodeLease, NodesOfAnotherTypeAreLeftAlone) {
  redis({"SET", nodes_, "foreign"});
  expect_refused("WRONGTYPE", {});
}

// A full server must not cost its workers their node ids.
TEST_F(NodeLease, GoesOnWhileTheServerIsFull) {
  redis({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(lease({}), "[1 1 0]");
  EXPECT_EQ(lease({.now = kNow + 10'000, .until = kNow + 40'000}), "[1 1 1800000030000]");
  redis({"CONFIG", "SET", "maxmemory", "0"});
}

}  // namespace
}  // namespace echomq::test
