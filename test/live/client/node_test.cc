// SPDX-License-Identifier: MIT
// Node ids: one live process holds one, a clean exit returns it at once, a killed process's comes
// back with the end of its lease, and 1,024 are all there are.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/library_test.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class Nodes : public OwnServerTest {
 protected:
  static ClientOptions fixed(unsigned node) {
    ClientOptions options;
    options.node = node;
    return options;
  }
  // As if a process held it until an hour from now.
  void hold(unsigned node) {
    redis(
        {"HSET", reserve_key(Reserve::nodes), std::to_string(node),
         std::to_string(client.server_time_ms() + 3'600'000) + " 1 host:" + std::to_string(node)});
  }
};

TEST_F(Nodes, FixedAndTaken) {
  const auto first = connect(server.url(), fixed(unused_node())).value();
  const auto second = connect(server.url(), fixed(first.node()));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::nodes_exhausted) << second.error().message();
  ASSERT_NE(second.error().field("node"), nullptr);
  EXPECT_EQ(*second.error().field("node"), std::to_string(first.node()));
}

TEST_F(Nodes, CleanExitReturnsItAtOnce) {
  const unsigned node = unused_node();
  for (int time = 0; time < 3; ++time) {
    auto holder = connect(server.url(), fixed(node));
    ASSERT_TRUE(holder) << "time " << time << ": " << holder.error().message();
    ASSERT_TRUE(holder->mint_id());
    if (time == 0) holder->close();  // otherwise the last handle goes
  }
}

TEST_F(Nodes, KilledProcessGivesItBackWithItsLease) {
  const unsigned node = unused_node();
  ChildProcess holder("worker_process", {"url=" + server.url(), "queue=" + name,
                                         "node=" + std::to_string(node), "node_lease=3000"});
  const auto taken = [&] {
    return !redis({"HGET", reserve_key(Reserve::nodes), std::to_string(node)}).is_null();
  };
  ASSERT_TRUE(eventually(taken)) << holder.output();
  holder.kill9();
  const auto early = connect(server.url(), fixed(node));
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::nodes_exhausted) << early.error().message();
  EXPECT_TRUE(eventually([&] { return connect(server.url(), fixed(node)).ok(); }, 10s));
}

TEST_F(Nodes, AllHeld) {
  client.close();
  for (unsigned node = 0; node < 1'024; ++node) hold(node);
  const auto none = connect(server.url(), options());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::nodes_exhausted) << none.error().message();
  const auto* holders = none.error().field("holders");
  ASSERT_NE(holders, nullptr);
  EXPECT_NE(holders->find("host:"), std::string::npos) << *holders;

  redis({"HDEL", reserve_key(Reserve::nodes), "517"});
  const auto last = connect(server.url(), options());
  ASSERT_TRUE(last) << last.error().message();
  EXPECT_EQ(last->node(), 517U);
}

TEST_F(Nodes, ConcurrentClientsHoldDifferentOnes) {
  std::vector<Client> clients;
  std::set<unsigned> nodes{client.node()};
  for (int i = 0; i < 12; ++i) {
    clients.push_back(another());
    nodes.insert(clients.back().node());
  }
  EXPECT_EQ(nodes.size(), 13U);
}

TEST_F(Nodes, MintedIdsNameTheNodeAndRise) {
  std::string before;
  for (int i = 0; i < 10'000; ++i) {
    const auto id = client.mint_id().value();
    ASSERT_TRUE(before.size() < id.size() || before < id) << before << " then " << id;
    before = id;
  }
  EXPECT_EQ(decode_id(before).value().node, client.node());
}

// What the next holder of a node id mints lies above everything that its holder before minted.
TEST_F(Nodes, SuccessorMintsAboveItsPredecessor) {
  const unsigned node = unused_node();
  std::string before;
  for (int time = 0; time < 5; ++time) {
    auto holder = connect(server.url(), fixed(node)).value();
    for (int i = 0; i < 2'000; ++i) {
      const auto id = holder.mint_id().value();
      ASSERT_TRUE(before.size() < id.size() || before < id) << before << " then " << id;
      before = id;
    }
  }
}

}  // namespace
}  // namespace echomq::test
