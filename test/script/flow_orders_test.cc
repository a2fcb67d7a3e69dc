// SPDX-License-Identifier: MIT
// P20: whatever happens to the children of a parent in whatever order, and however late, often or
// never its messages are told, the parent ends up where it runs, has ended, or waits for a child
// that will tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "probe/planned.h"
#include "queue/outbox.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class Orders {
 public:
  Orders(RawClient& redis, std::uint32_t seed)
      : random_(seed),
        parents(redis, unique_queue("orders")),
        children(redis, unique_queue("orders")) {
    parents.open();
    children.open();
    const auto plan = parents.name() + ":7";
    std::vector<PlanJob> jobs{{.queue = parents.name(), .id = "p"}};
    for (int i = 0; i < 3; ++i)
      jobs.push_back({.queue = children.name(),
                      .id = "c" + std::to_string(i),
                      .parent = 0,
                      .policy = static_cast<ChildFailure>(below(4))});
    tree_ = plan_of(plan, jobs);
    parents.add_flow(plan, tree_);
    children.add_flow(plan, tree_);
  }

  void step() {
    switch (below(8)) {
      case 0:
      case 1: end_one(); break;
      case 2: children.remove({some()}, {.seen = 0}); break;
      case 3: children.retry_finished({some()}); break;
      case 4: deliver_old(); break;
      case 5: children.add_flow(parents.name() + ":7", tree_); break;
      case 6: run_parent(); break;
      default: deliver_one(/*forget=*/below(2) == 0); break;
    }
    ++parents.now;
    ++children.now;
    note_messages();
  }

  // All that is on its way is told, and all that may run runs, until nothing moves.
  void come_to_rest() {
    for (int round = 0; round < 20; ++round) {
      while (deliver_one(true)) {
      }
      end_one();
    }
  }

  // Why the parent can neither run nor has ended; empty: it can or has.
  std::string stuck() {
    const auto read = parents.read("p");
    if (read.items.empty()) return "";
    const auto state = show(read.items.at(0));
    if (state != "waiting-children") return "";
    return "it waits, and nothing is on its way: " +
           show(parents.redis()({"HGETALL", edges(Sub::dependencies)}));
  }
  // In more than one of its books.
  std::string twice() {
    std::map<std::string, int> times;
    for (const auto sub : {Sub::dependencies, Sub::processed, Sub::failed, Sub::unsuccessful})
      for (const auto& ref : texts(parents.redis()({"HKEYS", edges(sub)}))) ++times[ref];
    for (const auto& [ref, count] : times)
      if (count > 1) return ref;
    return "";
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  std::string some() { return "c" + std::to_string(below(3)); }
  [[nodiscard]] std::string edges(Sub sub) const { return job_key(parents.name(), "p", sub); }

  void end_one() {
    const auto claimed = children.claim(1).runs;
    if (claimed.empty()) return;
    children.finish({{.run = claimed[0], .completed = below(2) == 0, .drop = below(4) == 0}},
                    {.parents = true});
  }
  void run_parent() {
    const auto claimed = parents.claim(1).runs;
    if (claimed.empty()) return;
    if (below(2) == 0)
      parents.wait_for_children({{.run = claimed[0], .ats = 1}});
    else
      parents.finish({{.run = claimed[0], .completed = below(2) == 0}});
  }
  EndOfChild told(const EndMessage& message) {
    return {.parent = message.parent,
            .ref = children.name() + ":" + message.child,
            .epoch = std::stoull(message.epoch),
            .kind = static_cast<char>(message.kind),
            .policy = message.policy,
            .value = message.value};
  }
  void note_messages() {
    for (auto& message : read_outbox(children.redis()({"HGETALL", children.keys.outbox})).messages)
      seen_.push_back(std::move(message));
  }
  bool deliver_one(bool forget) {
    auto messages = read_outbox(children.redis()({"HGETALL", children.keys.outbox})).messages;
    if (messages.empty()) return false;
    const auto& message = messages[below(messages.size())];
    parents.settle({told(message)});
    if (forget)
      children.delivered({{.field = message.field,
                           .seen = message.epoch + ":" + static_cast<char>(message.kind) + ":"}});
    return true;
  }
  // By a relay that was asleep since it read it.
  void deliver_old() {
    if (!seen_.empty()) parents.settle({told(seen_[below(seen_.size())])});
  }

  std::mt19937 random_;
  flow::Plan tree_;
  std::vector<EndMessage> seen_;

 public:
  ScriptQueue parents, children;
};

TEST(FlowOrders, P20_AParentAlwaysReachesAStateInWhichItRunsOrHasEnded) {
  auto redis = shared_server().connect();
  int released = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    Orders orders(redis, seed);
    for (int i = 0; i < 40; ++i) {
      orders.step();
      ASSERT_EQ(orders.twice(), "") << "seed " << seed << " step " << i;
    }
    orders.come_to_rest();
    EXPECT_EQ(orders.stuck(), "") << "seed " << seed;
    released += orders.parents.read("p").items.empty() ? 0 : 1;
    delete_queue(redis, orders.parents.name());
    delete_queue(redis, orders.children.name());
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(released, 100);
}

}  // namespace
}  // namespace echomq::test
