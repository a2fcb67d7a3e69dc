// SPDX-License-Identifier: MIT
// What is recorded of flows: what sweeps do with it, and what obliterating does.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "client/client_core.h"
#include "probe/planned.h"
#include "probe/script_queue.h"
#include "support/flow_test.h"
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
