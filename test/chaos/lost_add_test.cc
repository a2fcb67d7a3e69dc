// SPDX-License-Identifier: MIT
// Answers that are lost on their way to a client that connects, opens and adds: the server has done
// what it was told, and the client must find that out.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "chaos.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class LostAnswer : public Chaos {
 protected:
  // Time enough to say it again more than once.
  [[nodiscard]] ClientOptions patient() const {
    auto how = hasty();
    how.connect_timeout = how.command_timeout = 5s;
    return how;
  }
};

TEST_F(LostAnswer, OfAnAdd) {
  auto own = far(patient());
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  proxy.lose(Loss::answer, "job/add", {.times = 2});
  const auto minted = q.add("x");
  ASSERT_TRUE(minted) << minted.error().message();
  EXPECT_EQ(proxy.lost("job/add"), 2U);
  proxy.lose(Loss::answer, "job/add", {.times = 3});
  const auto custom = q.add("y", {.id = "mine"});
  EXPECT_TRUE(custom) << "its own job is no duplicate: " << custom.error().message();
  EXPECT_EQ(proxy.lost("job/add"), 5U);
  EXPECT_EQ(places(redis, name),
            (std::map<std::string, std::string>{{*minted, "wait"}, {"mine", "wait"}}));
  EXPECT_EQ(counts().waiting, 2);
}

// Each item of a batch hears again what it was told at first.
TEST_F(LostAnswer, OfABatchWithADuplicateInIt) {
  auto own = far(patient());
  Queue<> q{own, name};
  ASSERT_TRUE(queue.add("there", {.id = "a"}));
  ASSERT_TRUE(q.open());
  proxy.lose(Loss::answer, "job/add", {.times = 2});
  const auto results = q.add_bulk({{"x", {.id = "b"}}, {"x", {.id = "a"}}, {"x", {}}}).value();
  EXPECT_TRUE(results[0]);
  EXPECT_EQ(error_of(results[1]).code, ErrorCode::duplicate) << error_of(results[1]).message();
  EXPECT_TRUE(results[2]);
  EXPECT_EQ(proxy.lost("job/add"), 2U);
  EXPECT_EQ(counts().waiting, 3);
  EXPECT_EQ(info("a").data, "there");
}

// Said again it is the add that it was, and no hit of its own id.
TEST_F(LostAnswer, OfADeduplicatedAdd) {
  auto own = far(patient());
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  JobOptions how;
  how.deduplication = Deduplication::simple("D");
  proxy.lose(Loss::answer, "job/add_deduplicated", {.times = 2});
  const auto added = q.add("x", how);
  ASSERT_TRUE(added) << added.error().message();
  EXPECT_FALSE(added->deduplicated);
  proxy.lose(Loss::answer, "job/add_deduplicated", {.times = 2});
  const auto second = q.add("y", how);
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_TRUE(second->deduplicated);
  EXPECT_EQ(second->id, added->id);
  EXPECT_EQ(proxy.lost("job/add_deduplicated"), 4U);
  EXPECT_EQ(counts().waiting, 1);
  EXPECT_EQ(queue.deduplication_owner("D").value()->job, added->id);
}

TEST_F(LostAnswer, OfAnAddThatNeverArrived) {
  auto own = far(patient());
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  proxy.lose(Loss::command, "job/add", {.times = 2});
  EXPECT_TRUE(q.add("x"));
  EXPECT_EQ(proxy.lost("job/add"), 2U);
  EXPECT_EQ(counts().waiting, 1);
}

// When the add is said again its job has been worked and nothing is left of it.
TEST_F(LostAnswer, OfAnAddWhoseJobIsGoneBeforeItIsSaidAgain) {
  auto own = far(patient());
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  auto how = steady();
  how.keep_completed = Keep::none();
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.data()); }};
  for (const JobOptions& options : {JobOptions{}, JobOptions{.id = "mine"}}) {
    const auto before = runs.size();
    proxy.lose(Loss::answer, "job/add", {.shut = true});
    auto added = q.async_add("x", options);
    ASSERT_TRUE(eventually([&] { return runs.size() == before + 1; }, kResumes));
    ASSERT_TRUE(eventually([&] { return counts().active == 0; }, kResumes));
    ASSERT_TRUE(eventually([&] { return proxy.lost("job/add") == runs.size(); }, kResumes));
    proxy.refuse(false);
    ASSERT_EQ(added.wait_for(10s), std::future_status::ready);
    const auto id = added.get();
    ASSERT_TRUE(id) << id.error().message();
    EXPECT_EQ(redis({"EXISTS", job_key(name, *id)}).integer, 0) << id->id << " came back";
  }
  EXPECT_EQ(proxy.lost("job/add"), 2U);
  EXPECT_TRUE(worker.stop(10s));
  EXPECT_EQ(runs.size(), 2U) << "each ran once";
  EXPECT_EQ(places(redis, name), (std::map<std::string, std::string>{}));
}

// The same with a job that was evicted by retention, from the trash.
TEST_F(LostAnswer, OfAnAddWhoseJobWasEvictedBeforeItIsSaidAgain) {
  auto own = far(patient());
  Queue<> q{own, name};
  ASSERT_TRUE(q.open());
  Runs runs;
  auto how = steady(1);
  how.keep_completed = {1, 0s};
  Worker worker{queue, how, [&](Job<>& job) { runs.note(job.data()); }};
  proxy.lose(Loss::answer, "job/add", {.shut = true});
  auto added = q.async_add("x", {.id = "mine"});
  ASSERT_TRUE(eventually([&] { return counts().completed == 1; }, kResumes));
  // Of one millisecond they would leave in the order of their ids.
  const auto end = info("mine").finished_ms;
  ASSERT_TRUE(eventually([&] { return client.server_time_ms() > end + 1; }, kResumes));
  ASSERT_TRUE(queue.add("after it"));
  ASSERT_TRUE(eventually(
      [&] {
        return runs.size() == 2 && redis({"EXISTS", job_key(name, "mine")}).integer == 0;
      },
      kResumes));
  ASSERT_TRUE(eventually([&] { return proxy.lost("job/add") == 1; }, kResumes));
  proxy.refuse(false);
  ASSERT_EQ(added.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(added.get());
  EXPECT_EQ(proxy.lost("job/add"), 1U);
  EXPECT_TRUE(worker.stop(10s));
  EXPECT_EQ(runs.size(), 2U);
  EXPECT_EQ(redis({"EXISTS", job_key(name, "mine")}).integer, 0) << "it came back";
}

// Opening changes nothing where the queue is there, so it is said again too.
TEST_F(LostAnswer, OfTheOpeningBeforeTheFirstAdd) {
  auto own = far(patient());
  Queue<> q{own, name};
  proxy.lose(Loss::answer, "queue/open", {.times = 2});
  const auto id = q.add("x");
  EXPECT_TRUE(id) << id.error().message();
  EXPECT_EQ(proxy.lost("queue/open"), 2U);
  EXPECT_EQ(counts().waiting, 1);
}

TEST_F(LostAnswer, OfAnOpeningByItself) {
  auto own = far(patient());
  Queue<> q{own, name};
  proxy.lose(Loss::answer, "queue/open");
  const auto opened = q.open();
  EXPECT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(proxy.lost("queue/open"), 1U);
  EXPECT_TRUE(q.open());
  EXPECT_TRUE(q.add("x"));
}

// A worker that starts in that moment must not end over it.
TEST_F(LostAnswer, OfTheOpeningUnderAStartingWorker) {
  auto own = far(patient());
  Queue<> q{own, name};
  proxy.lose(Loss::answer, "queue/open", {.times = 2});
  Runs runs;
  Worker worker{q, steady(), [&](Job<>& job) { runs.note(job.id()); }};
  ASSERT_TRUE(eventually([&] { return proxy.lost("queue/open") > 0; }, kResumes));
  const auto id = queue.add("x").value();
  EXPECT_TRUE(eventually([&] { return runs.size() == 1 || worker.wait(0ms); }, kResumes));
  EXPECT_TRUE(worker.status()) << error_of(worker.status()).message();
  expect_done({id}, runs);
}

// The connection is cut in the middle of connect(), within the time that it has.
TEST_F(LostAnswer, OfTheNodeLeaseWhileConnecting) {
  proxy.lose(Loss::answer, "node/lease", {.times = 2});
  auto own = connect(proxy.url(), patient());
  ASSERT_TRUE(own) << own.error().message();
  EXPECT_EQ(proxy.lost("node/lease"), 2U);
  Queue<> q{*own, name};
  EXPECT_TRUE(q.add("x"));
}

// A fixed node id is granted again to whoever holds it.
TEST_F(LostAnswer, OfTheNodeLeaseOfAFixedNode) {
  auto how = patient();
  how.node = unused_node();
  proxy.lose(Loss::answer, "node/lease", {.times = 2});
  auto own = connect(proxy.url(), how);
  ASSERT_TRUE(own) << own.error().message();
  EXPECT_EQ(proxy.lost("node/lease"), 2U);
  EXPECT_EQ(own->node(), *how.node);
  Queue<> q{*own, name};
  const auto results = q.add_bulk(std::vector<NewJob<>>(300, {"x", {}})).value();
  for (const auto& id : results) ASSERT_TRUE(id) << id.error().message();
  EXPECT_EQ(counts().waiting, 300);
}

TEST_F(LostAnswer, OfARenewalOfTheNodeLease) {
  auto how = patient();
  how.node_lease = 3s;  // renewed every second
  auto own = far(how);
  const auto node = own.node();
  proxy.lose(Loss::answer, "node/lease", {.times = 2});
  Queue<> q{own, name};
  std::vector<std::string> ids;
  ASSERT_TRUE(eventually(
      [&] {
        if (const auto id = q.add("x")) ids.push_back(*id);
        return proxy.lost("node/lease") == 2;
      },
      10s));
  for (int i = 0; i < 10; ++i) ids.push_back(q.add("x").value());
  EXPECT_EQ(own.node(), node);
  EXPECT_FALSE(log.says("took over"));
  EXPECT_EQ(counts().waiting, static_cast<std::int64_t>(ids.size()));
}

// A node id that is given back is free, whether the answer arrives or not; close() waits for it a
// moment and no more.
TEST_F(LostAnswer, OfTheReturnOfANodeId) {
  auto how = patient();
  how.node = unused_node();
  {
    auto own = far(how);
    proxy.lose(Loss::silence, "node/lease");
    const auto begin = std::chrono::steady_clock::now();
    own.close();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
    EXPECT_EQ(proxy.lost("node/lease"), 1U);
  }
  const auto next = connect(server.url(), how);
  EXPECT_TRUE(next) << next.error().message();
}

}  // namespace
}  // namespace echomq::test
