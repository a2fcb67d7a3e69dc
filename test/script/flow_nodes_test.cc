// SPDX-License-Identifier: MIT
// A flow over a cluster of three nodes: parent and children on nodes of their own, each of which
// refuses whatever touches another's slots.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "echomq/keyspace.h"
#include "probe/planned.h"
#include "probe/script_queue.h"
#include "support/deadline.h"
#include "support/server.h"

namespace echomq::test {
namespace {

using namespace probe;

constexpr unsigned kSlots = 16'384;

// Three nodes on the loopback address that share the slots and know each other.
class ThreeNodes {
 public:
  ThreeNodes() {
    for (auto& node : nodes_) {
      node.server = std::make_unique<TestServer>(
          ServerOptions{.cluster = true, .extra = {"--cluster-node-timeout", "1000"}});
      node.redis = std::make_unique<RawClient>(node.server->connect());
      (*node.redis)({"CLUSTER", "FLUSHSLOTS"});
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto& redis = *nodes_.at(i).redis;
      redis({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
      redis(
          {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first(i)), std::to_string(first(i + 1) - 1)});
    }
    for (const auto& node : nodes_)
      (*nodes_.front().redis)(
          {"CLUSTER", "MEET", "127.0.0.1", std::to_string(node.server->port())});
  }

  // Each node sees all slots served, by three.
  bool ready() {
    return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
      const auto info = (*node.redis)({"CLUSTER", "INFO"}).text;
      return info.find("cluster_state:ok") != std::string::npos &&
             info.find("cluster_slots_ok:16384") != std::string::npos &&
             info.find("cluster_size:3") != std::string::npos;
    });
  }
  RawClient& node(std::size_t i) { return *nodes_.at(i).redis; }
  // A queue whose slot is of that node.
  static std::string queue_of(std::size_t i) {
    for (int n = 0;; ++n) {
      auto name = "q" + std::to_string(n);
      const auto at = slot(key(name, Structure::meta));
      if (at >= first(i) && at < first(i + 1)) return name;
    }
  }

 private:
  struct Node {
    std::unique_ptr<TestServer> server;
    std::unique_ptr<RawClient> redis;
  };
  static unsigned first(std::size_t i) { return static_cast<unsigned>(i * kSlots / 3); }

  std::array<Node, 3> nodes_;
};

// A child on the node of its queue, told of by its outbox as a relay carries it.
EndOfChild end_of(const ScriptQueue& child, const std::string& id) {
  return {.parent = "p", .ref = child.name() + ":" + id, .value = "+of " + id};
}

TEST(FlowOverNodes, B2_ParentAndChildrenOnThreeNodesOfACluster) {
  ThreeNodes cluster;
  ASSERT_TRUE(eventually([&] { return cluster.ready(); }, std::chrono::seconds(60)));
  ScriptQueue parent(cluster.node(0), ThreeNodes::queue_of(0));
  ScriptQueue left(cluster.node(1), ThreeNodes::queue_of(1));
  ScriptQueue right(cluster.node(2), ThreeNodes::queue_of(2));
  EXPECT_NE(cluster.node(1)({"GET", parent.keys.id}).text.find("MOVED"), std::string::npos)
      << "the nodes serve slots of their own";
  const auto plan = parent.name() + ":7";
  const auto tree = plan_of(plan, {{.queue = parent.name(), .id = "p"},
                                   {.queue = left.name(), .id = "a", .parent = 0},
                                   {.queue = right.name(), .id = "b", .parent = 0}});
  for (auto* const queue : {&parent, &left, &right}) ASSERT_EQ(show(queue->open()), "1");
  // The root's node records the plan; then each queue gets its part, the parents first.
  ASSERT_EQ(show(parent.plan("7", tree)), "ok");
  for (auto* const queue : {&parent, &left, &right})
    ASSERT_TRUE(statuses(queue->add_flow(plan, tree)).starts_with("ok"));
  EXPECT_EQ(show(parent.read("p").items.at(0)), "waiting-children");

  for (auto* const child : {&left, &right}) {
    const auto run = child->claim(1).runs.at(0);
    const auto value = "of " + run.id;
    const auto ended = child->finish({{.run = run, .value = value}}, {.parents = true});
    const auto& message = ended.items.at(5);
    ASSERT_EQ(show(message.items.at(0)), run.id + " " + parent.name() + ":p");
    EXPECT_EQ(statuses(parent.settle({end_of(*child, run.id)})), "ok");
    EXPECT_EQ(statuses(parent.settle({end_of(*child, run.id)})), "moved") << "said again";
    EXPECT_EQ(statuses(child->delivered(
                  {{.field = message.items.at(0).text, .seen = message.items.at(1).text}})),
              "ok");
    EXPECT_EQ(child->message(run.id, parent.name(), "p"), "(nil)") << "nothing is left to tell";
  }
  const auto run = parent.claim(1).runs.at(0);
  EXPECT_EQ(run.id, "p");
  EXPECT_EQ(parent.edge("p", Sub::processed, left.name() + ":a"), "1:+of a");
  EXPECT_EQ(parent.edge("p", Sub::processed, right.name() + ":b"), "1:+of b");
  EXPECT_EQ(statuses(parent.finish({{.run = run}})), "ok");
}

}  // namespace
}  // namespace echomq::test
