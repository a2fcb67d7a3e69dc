// SPDX-License-Identifier: MIT
// What is recorded of flows: what sweeps do with it, and what obliterating does.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "client/client_core.h"
#include "probe/planned.h"
#include "probe/script_queue.h"
#include "queue/outbox.h"
#include "support/flow_test.h"
#include "support/sanitizer.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class RecordedFlows : public FlowTest {
 protected:
  explicit RecordedFlows(TestServer& on = shared_server()) : FlowTest(on) {}

  // The fields of an outbox that begin so.
  std::size_t notes(const std::string& word, const std::string& kind) {
    std::size_t count = 0;
    for (const auto& field : texts(redis({"HKEYS", key(named(word), Structure::outbox)})))
      count += field.starts_with(kind) ? 1 : 0;
    return count;
  }
  // A plan as a creator that died has left it.
  void record(bool sealed, std::chrono::milliseconds ago) {
    ScriptQueue home(redis, named("a"));
    home.open();
    home.now = client.server_time_ms() - ago.count();
    const auto plan = plan_of(named("a") + ":7", {{.queue = named("a"), .id = "p"},
                                                  {.queue = named("b"), .id = "c", .parent = 0}});
    ASSERT_EQ(show(home.plan("7", plan, 0, sealed)), "ok");
  }
  void set_ahead(const Client& of, std::chrono::milliseconds ahead) {
    const auto core = of.core();
    std::promise<void> done;
    core->loop().post([&] {
      core->jump(ahead);
      done.set_value();
    });
    done.get_future().wait();
  }
};

TEST_F(RecordedFlows, ASealedOneIsAddedByAnyWorkerOfItsQueue) {
  record(true, 10s);
  work("a", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(eventually([&] { return counts_of("b").waiting == 1; })) << log.text();
  EXPECT_EQ(job_of("a", "p").state, JobState::waiting_children);
  EXPECT_TRUE(eventually([&] { return notes("a", "flow:") == 0; }));
  work("b", [](Job<>&) { return Outcome::done(); });
  EXPECT_TRUE(reaches("a", "p", JobState::completed));
}

TEST_F(RecordedFlows, AnOpenOneIsGivenUpAfterAMinute) {
  record(false, 61s);
  work("a", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(eventually([&] { return notes("a", "flow:") == 0; })) << log.text();
  EXPECT_EQ(counts_of("a").waiting_children, 0);
  EXPECT_EQ(redis({"EXISTS", named_key(named("a"), "flow", "7")}).integer, 0);
}

TEST_F(RecordedFlows, HowFarOneCameIsForgottenAnHourAfterIt) {
  ASSERT_TRUE(flows.add({.queue = named("a"), .children = {{.queue = named("b")}}}));
  EXPECT_EQ(notes("b", "from:"), 1U);
  auto later = another();
  set_ahead(later, 2h);
  redis({"HSET", key(named("c"), Structure::outbox), "flow:7", "s:1:2"});  // that is not done
  redis({"HSET", key(named("b"), Structure::outbox), "from:" + named("c") + ":7", "1:1"});
  work_as(later, "b", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(eventually([&] { return notes("b", "from:") == 1; })) << log.text();
  EXPECT_EQ(notes("b", "from:" + named("c")), 1U) << "its flow is still being added";
  redis({"DEL", key(named("c"), Structure::outbox)});
  EXPECT_TRUE(eventually([&] { return notes("b", "from:") == 0; }));
}

// What a crash left stands among the notes of all flows of the last hour.
TEST_F(RecordedFlows, AMessageIsToldHoweverManyFlowsWereAddedBeforeIt) {
  const auto tree = flows.add({.queue = named("a"), .children = {{.queue = named("b")}}}).value();
  const auto outbox = key(named("b"), Structure::outbox);
  const auto minute_ago = std::to_string(client.server_time_ms() - 60'000);
  for (int i = 0; i < 10'000; i += 100) {
    std::vector<std::string> words{"HSET", outbox};
    for (int j = i; j < i + 100; ++j) {
      words.push_back("from:" + named("c") + ":" + std::to_string(1'000'000 + j));
      words.push_back("3:" + minute_ago);
    }
    redis(words);
  }
  const auto& child = tree.children.at(0);
  const auto epoch =
      redis({"HGET", job_key(named("a"), tree.id, Sub::dependencies), named("b") + ":" + child.id});
  // The child ended, and the process died before it told that.
  redis({"LREM", key(named("b"), Structure::wait), "1", child.id});
  redis({"DEL", job_key(named("b"), child.id)});
  redis({"HSET", outbox, message_field(child.id, named("a"), tree.id),
         epoch.text + ":c:" + minute_ago + ":f:+1"});
  const auto began = std::chrono::steady_clock::now();
  auto how = quick();
  work(
      "b", [](Job<>&) { return Outcome::done(); }, how);
  ASSERT_TRUE(reaches("a", tree.id, JobState::waiting)) << log.text();
  if (!kSanitized) {
    EXPECT_LT(std::chrono::steady_clock::now() - began, how.lease)
        << "longer than two maintenances, each a third of the lease";
  }
  EXPECT_EQ(notes("b", "from:"), 10'001U) << "these are kept for an hour";
}

TEST_F(RecordedFlows, NotesOfFlowsOfLongAgoAreAllForgottenInOneGo) {
  ASSERT_TRUE(queue_of("b").open());
  const auto outbox = key(named("b"), Structure::outbox);
  const auto long_ago = std::to_string(client.server_time_ms() - 2 * 3'600'000);
  for (int i = 0; i < 3'000; ++i)
    redis({"HSET", outbox, "from:" + named("c") + ":" + std::to_string(1'000'000 + i),
           "3:" + long_ago});
  auto how = quick();
  how.lease = 60s;  // the second maintenance comes after the test
  work(
      "b", [](Job<>&) { return Outcome::done(); }, how);
  EXPECT_TRUE(eventually([&] { return notes("b", "from:") == 0; }, 15s)) << notes("b", "from:");
}

TEST_F(RecordedFlows, ObliteratingWaitsForOneThatIsBeingAdded) {
  record(true, 0s);
  const auto error = error_of(queue_of("a").obliterate());
  EXPECT_EQ(error.code, ErrorCode::wrong_state) << error.message();
  EXPECT_EQ(notes("a", "flow:"), 1U);
  redis({"DEL", key(named("a"), Structure::outbox)});
  record(false, 0s);
  EXPECT_TRUE(queue_of("a").obliterate());
  EXPECT_EQ(redis({"EXISTS", named_key(named("a"), "flow", "7")}).integer, 0);
}

class FlowsOnAFullServer : private detail::ServerFirst, public RecordedFlows {
 protected:
  FlowsOnAFullServer() : detail::ServerFirst{TestServer()}, RecordedFlows(own) {}
};

TEST_F(FlowsOnAFullServer, AreRefusedAndNothingIsLeft) {
  const FlowJob tree{.queue = named("a"), .children = {{.queue = named("b")}}};
  ASSERT_TRUE(flows.add(tree));
  redis({"CONFIG", "SET", "maxmemory", "1"});
  const auto error = error_of(flows.add(tree));
  EXPECT_EQ(error.code, ErrorCode::full) << error.message();
  EXPECT_EQ(error.field("recorded"), nullptr);
  redis({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(notes("a", "flow:"), 0U);
  EXPECT_EQ(counts_of("a").waiting_children, 1);
  EXPECT_TRUE(flows.add(tree));
}

}  // namespace
}  // namespace echomq::test
