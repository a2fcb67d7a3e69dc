// SPDX-License-Identifier: MIT
// How parents are told: at once, together, and each for itself where one is broken.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "client/client_core.h"
#include "queue/relay.h"
#include "support/chaos_proxy.h"
#include "support/flow_test.h"
#include "support/monitor.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class ToldParents : private detail::ServerFirst, public FlowTest {
 protected:
  ToldParents() : detail::ServerFirst{TestServer()}, FlowTest(own) {}

  // A parent in "a" with a child in each of these queues.
  AddedFlow parent_of(const std::vector<std::string>& words) {
    FlowJob root{.queue = named("a")};
    for (const auto& word : words) root.children.push_back({.queue = named(word)});
    return flows.add(root).value();
  }
  EndMessage end_of(const AddedFlow& tree, std::size_t child) {
    const auto& of = tree.children.at(child);
    EndMessage message;
    message.field = message_field(of.id, tree.queue, tree.id);
    message.child = of.id;
    message.parent_queue = tree.queue;
    message.parent = tree.id;
    message.epoch =
        redis({"HGET", SubKeys(tree.queue, tree.id).dependencies, of.queue + ":" + of.id}).text;
    message.value = "+1";
    return message;
  }
  std::shared_ptr<QueueCore> core_of(const std::string& word) {
    return QueueCore::of(client.core(), named(word));
  }
};

TEST_F(ToldParents, ChildrenOfManyQueuesAreToldOfInOneCall) {
  const std::vector<std::string> words{"b", "c", "d", "e"};
  const auto tree = parent_of(words);
  std::vector<EndMessage> ends;
  for (std::size_t i = 0; i < words.size(); ++i) ends.push_back(end_of(tree, i));
  Monitor monitor(server);
  std::promise<void> done;
  client.core()->loop().post([&] {
    const auto left = std::make_shared<std::size_t>(words.size());
    for (std::size_t i = 0; i < words.size(); ++i)
      std::make_shared<Relay>(core_of(words[i]), [left, &done] {
        if (--*left == 0) done.set_value();
      })->push({ends[i]});
  });
  ASSERT_EQ(done.get_future().wait_for(10s), std::future_status::ready) << log.text();
  EXPECT_EQ(job_of("a", tree.id).state, JobState::waiting);
  const auto waiting = key(named("a"), Structure::waiting_children);
  const auto lines = monitor.take(redis);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [&](const auto& line) {
                            return line.in_script && line.words.size() > 1 &&
                                   line.words[0] == "ZREM" && line.words[1] == waiting &&
                                   line.words[2].empty();
                          }),
            1)
      << "flow/settle begins its writes so, once a call";
}

TEST_F(ToldParents, OneThatIsBrokenHoldsUpNoOther) {
  const auto broken = parent_of({"b"});
  const auto sound = parent_of({"b"});
  const std::vector<EndMessage> ends{end_of(broken, 0), end_of(sound, 0)};
  const auto processed = SubKeys(broken.queue, broken.id).processed;
  redis({"SET", processed, "no hash"});
  EXPECT_EQ(deliver(*core_of("b"), ends).value(), 1U);
  EXPECT_EQ(job_of("a", sound.id).state, JobState::waiting);
  EXPECT_EQ(job_of("a", broken.id).state, JobState::waiting_children);
  EXPECT_NE(log.text().find("not told to their parents in \"" + named("a") + "\""),
            std::string::npos)
      << log.text();
  redis({"DEL", processed});
  EXPECT_EQ(deliver(*core_of("b"), ends).value(), 0U);
  EXPECT_EQ(job_of("a", broken.id).state, JobState::waiting);
}

// The lag is one round trip of the child's finish: the stamps of both calls are of their sending.
TEST_F(ToldParents, AreToldOneRoundTripAfterTheEnd) {
  constexpr auto kOneWay = 150ms;
  const auto tree = parent_of({"b"});
  ChaosProxy proxy(server);
  auto far = connect(proxy.url(), options()).value();
  // The scripts are on the server from here on, so that none is asked for twice.
  const auto before = parent_of({"b"});
  work_as(far, "b", [](Job<>&) { return Outcome::done(); });
  ASSERT_TRUE(reaches("a", before.id, JobState::waiting)) << log.text();
  ASSERT_TRUE(reaches("a", tree.id, JobState::waiting)) << log.text();
  proxy.set({.delay = kOneWay});
  const auto timed = parent_of({"b"});
  ASSERT_TRUE(reaches("a", timed.id, JobState::waiting)) << log.text();
  const auto stamp_of = [&](const std::string& word, const std::string& event,
                            const std::string& id) {
    const auto entries = redis({"XRANGE", key(named(word), Structure::events), "-", "+"});
    for (const auto& entry : entries.items) {
      const auto words = texts(entry.items.at(1));
      for (std::size_t i = 2; i + 1 < words.size(); i += 2)
        if (words[i] == event && words[i + 1] == id) return std::stoll(words[1]);
    }
    return -1LL;
  };
  const auto ended = stamp_of("b", "completed", timed.children.at(0).id);
  const auto told = stamp_of("a", "ready", timed.id);
  ASSERT_GT(ended, 0);
  ASSERT_GT(told, 0);
  const auto round_trip = 2 * kOneWay.count();
  EXPECT_GE(told - ended, round_trip - 5);
  EXPECT_LT(told - ended, 2 * round_trip) << "a second round trip was waited for";
}

}  // namespace
}  // namespace echomq::test
