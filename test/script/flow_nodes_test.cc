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
#include "queue/outbox.h"
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
  // A queue of its own whose slot is of that node.
  static std::string queue_of(std::size_t i) {
    for (;;) {
      auto name = unique_queue("q");
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

// A parent and two children, each on a node of its own.
class FlowOverNodes : public testing::Test {
 protected:
  // They take seconds to find each other.
  static void SetUpTestSuite() { cluster_ = std::make_unique<ThreeNodes>(); }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override {
    ASSERT_TRUE(eventually([] { return cluster_->ready(); }, std::chrono::seconds(60)));
    const auto plan = parent.name() + ":7";
    const auto tree = plan_of(plan, {{.queue = parent.name(), .id = "p"},
                                     {.queue = left.name(), .id = "a", .parent = 0},
                                     {.queue = right.name(), .id = "b", .parent = 0}});
    for (auto* const queue : {&parent, &left, &right}) ASSERT_EQ(show(queue->open()), "1");
    // The root's node records the plan; then each queue gets its part, the parents first.
    ASSERT_EQ(show(parent.plan("7", tree)), "ok");
    for (auto* const queue : {&parent, &left, &right})
      ASSERT_TRUE(statuses(queue->add_flow(plan, tree)).starts_with("ok"));
    ASSERT_EQ(state("p"), "waiting-children");
  }

  // What a relay does that knows nothing but what stands in the child's outbox, so it may be
  // another one than that of the process which ended the child. Answers what the parent's node
  // said.
  std::string relay(ScriptQueue& child) {
    std::string said;
    for (const auto& message :
         read_outbox(child.redis()({"HGETALL", child.keys.outbox})).messages) {
      const auto kind = static_cast<char>(message.kind);
      const EndOfChild end{.parent = message.parent,
                           .ref = child.name() + ":" + message.child,
                           .epoch = std::stoull(message.epoch),
                           .kind = kind,
                           .policy = message.policy,
                           .value = message.value};
      said += statuses(parent.settle({end}));
      EXPECT_EQ(statuses(parent.settle({end})), "moved") << "said again";
      EXPECT_EQ(statuses(child.delivered(
                    {{.field = message.field, .seen = message.epoch + ":" + kind + ":"}})),
                "ok");
    }
    EXPECT_EQ(read_outbox(child.redis()({"HGETALL", child.keys.outbox})).messages.size(), 0U)
        << "nothing is left to tell";
    return said;
  }
  static void end(ScriptQueue& child, bool completed) {
    const auto run = child.claim(1).runs.at(0);
    ASSERT_EQ(statuses(child.finish({{.run = run, .completed = completed, .value = "of " + run.id}},
                                    {.parents = true})),
              "ok");
  }
  std::string state(const std::string& id) { return show(parent.read(id).items.at(0)); }
  void expect_parent_runs() {
    const auto run = parent.claim(1).runs.at(0);
    EXPECT_EQ(run.id, "p");
    EXPECT_EQ(statuses(parent.finish({{.run = run}})), "ok");
  }

  ScriptQueue parent{cluster_->node(0), ThreeNodes::queue_of(0)};
  ScriptQueue left{cluster_->node(1), ThreeNodes::queue_of(1)};
  ScriptQueue right{cluster_->node(2), ThreeNodes::queue_of(2)};

  static std::unique_ptr<ThreeNodes> cluster_;
};
std::unique_ptr<ThreeNodes> FlowOverNodes::cluster_;

TEST_F(FlowOverNodes, B2_ParentAndChildrenOnThreeNodesOfACluster) {
  EXPECT_NE(cluster_->node(1)({"GET", parent.keys.id}).text.find("MOVED"), std::string::npos)
      << "the nodes serve slots of their own";
  for (auto* const child : {&left, &right}) {
    end(*child, /*completed=*/true);
    EXPECT_EQ(relay(*child), "ok");
  }
  EXPECT_EQ(parent.edge("p", Sub::processed, left.name() + ":a"), "1:+of a");
  EXPECT_EQ(parent.edge("p", Sub::processed, right.name() + ":b"), "1:+of b");
  expect_parent_runs();
}

TEST_F(FlowOverNodes, B2_AFailureAndItsRetryReachTheOtherNode) {
  end(left, /*completed=*/false);
  EXPECT_EQ(relay(left), "ok");
  EXPECT_EQ(state("p"), "failed");
  EXPECT_EQ(statuses(left.retry_finished({"a"})), "ok");
  EXPECT_EQ(relay(left), "ok");
  EXPECT_EQ(state("p"), "waiting-children");
  // The right one fails and is retried before anybody has told of it: only the last word counts.
  end(right, /*completed=*/false);
  EXPECT_EQ(statuses(right.retry_finished({"b"})), "ok");
  end(right, /*completed=*/true);
  end(left, /*completed=*/true);
  EXPECT_EQ(relay(right), "ok");
  EXPECT_EQ(state("p"), "waiting-children");
  EXPECT_EQ(relay(left), "ok");
  expect_parent_runs();
}

TEST_F(FlowOverNodes, B2_ARemovedChildReachesTheOtherNode) {
  EXPECT_EQ(statuses(left.remove({"a"}, {.of = parent.name() + ":p"})), "ok");
  EXPECT_EQ(state("p"), "waiting-children");
  EXPECT_EQ(relay(left), "ok");
  EXPECT_EQ(state("p"), "failed");
  EXPECT_EQ(statuses(parent.remove({"p"})), "ok");
  // Its sibling ends when there is no parent any more.
  end(right, /*completed=*/true);
  EXPECT_EQ(statuses(parent.settle({{.parent = "p", .ref = right.name() + ":b"}})), "gone");
}

}  // namespace
}  // namespace echomq::test
