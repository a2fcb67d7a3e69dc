// SPDX-License-Identifier: MIT
// P10: somebody deletes a key of a queue. What stood there stands in no state any more: the doctor
// finds it, it can be removed and added again, and an obliteration leaves nothing of it.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "echomq/doctor.h"
#include "support/dump.h"
#include "support/library_test.h"
#include "support/runs.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

class LostKey : public LibraryTest, public testing::WithParamInterface<Structure> {
 protected:
  // A job of this id, with a line of log, in the state whose key is named.
  void put_into(Structure structure, const std::string& id) {
    ASSERT_TRUE(queue.add("data", {.id = id}));
    ASSERT_TRUE(queue.log(id, "a line"));
    if (structure == Structure::wait) return;
    redis({"LREM", key_of(Structure::wait), "1", id});
    if (structure == Structure::crashed) {
      redis({"HSET", job_key(name, id), "run", "1:0:1:0:0::w"});
      redis({"RPUSH", key_of(structure), id});
    } else if (structure == Structure::trash) {
      redis({"SADD", key_of(structure), id});
    } else {
      redis({"ZADD", key_of(structure), "9000000000000", id});
    }
  }
  // The keys of the queue, without its prefix.
  std::string keys_left() {
    std::string all;
    for (const auto& [key, content] : dump_queue(redis, name))
      all += (all.empty() ? "" : " ") + key.substr(key.find("}:") + 2);
    return all;
  }
  [[nodiscard]] std::string orphans() const {
    const auto report = examine(server.administrators_url(), {.queues = 10'000});
    for (const auto& finding : report.value().findings)
      if (finding.what == "orphans" && finding.queue == name) return finding.found;
    return "nothing is told";
  }
};

TEST_P(LostKey, P10_ItsJobIsFoundRemovedAndAddedAgain) {
  put_into(GetParam(), "mine");
  redis({"DEL", key_of(GetParam())});
  EXPECT_NE(orphans().find(" 1 jobs in no state"), std::string::npos) << orphans();
  EXPECT_EQ(error_of(queue.add("again", {.id = "mine"})).code, ErrorCode::duplicate);
  const auto removed = queue.remove("mine");
  EXPECT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(error_of(queue.remove("mine")).code, ErrorCode::not_found);
  for (const auto& left : {job_key(name, "mine"), job_key(name, "mine", Sub::logs)})
    EXPECT_EQ(redis({"EXISTS", left}).integer, 0) << left;
  EXPECT_NE(orphans().find("none of "), std::string::npos) << orphans();
  ASSERT_TRUE(queue.add("again", {.id = "mine"}));
  EXPECT_EQ(counts().waiting, 1);
  Runs runs;
  Worker worker{queue, {.stop_when_empty = true}, [&](Job<>& job) { runs.note(job.data()); }};
  ASSERT_TRUE(worker.wait(20s));
  EXPECT_EQ(runs.times("again"), 1);
}

TEST_P(LostKey, P10_AnObliterationLeavesNothingOfItsJobs) {
  for (int i = 0; i < 300; ++i) put_into(GetParam(), "job-" + std::to_string(i));
  ASSERT_TRUE(queue.add("stays", {.delay = 1h, .id = "later"}));
  if (GetParam() == Structure::delayed)
    redis({"ZREM", key_of(Structure::delayed), "later"});  // one more
  redis({"DEL", key_of(GetParam())});
  const auto report = queue.obliterate({.all = true});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->done, 301);
  EXPECT_EQ(report->strays.value_or(-1), 0);
  EXPECT_EQ(keys_left(), "");
}

INSTANTIATE_TEST_SUITE_P(EachState, LostKey,
                         testing::Values(Structure::wait, Structure::crashed,
                                         Structure::prioritized, Structure::active,
                                         Structure::delayed, Structure::completed,
                                         Structure::failed, Structure::waiting_children,
                                         Structure::trash),
                         [](const auto& param) {
                           std::string name;
                           for (const char c : word(param.param))
                             if (c != '-') name += c;
                           return name;
                         });

class LostKeys : public LostKey {};

TEST_F(LostKeys, P10_OfJobsDeepInALongLineOnlyTheLostOneIsLost) {
  put_into(Structure::wait, "mine");
  redis({"LREM", key_of(Structure::wait), "1", "mine"});
  const auto ids = add_many(6'000);
  EXPECT_TRUE(queue.remove("mine"));
  EXPECT_TRUE(queue.remove(ids.at(3'000)));
  EXPECT_EQ(counts().waiting, 5'999);
  EXPECT_EQ(error_of(queue.job(ids.at(3'000))).code, ErrorCode::not_found);
}

TEST_F(LostKeys, P10_APriorityIsNoWayOut) {
  put_into(Structure::wait, "mine");
  redis({"DEL", key_of(Structure::wait)});
  const auto refused = error_of(queue.change_priority("mine", 3));
  EXPECT_EQ(refused.code, ErrorCode::wrong_state);
  EXPECT_NE(refused.detail.find("stands in no state"), std::string::npos) << refused.detail;
}

TEST_F(LostKeys, P10_WithoutTheCountOfGhostsAnObliterationEnds) {
  auto ids = add_many(2'000);
  ids = {ids.begin() + 900, ids.begin() + 1'100};
  ASSERT_TRUE(queue.remove(ids));
  ASSERT_EQ(redis({"HGET", key_of(Structure::ghosts), "wait"}).text, "200");
  redis({"DEL", key_of(Structure::ghosts)});
  const auto report = queue.obliterate();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->done, 1'800);
  EXPECT_EQ(keys_left(), "active id meta repeat");
}

// Beside jobs: what has lost the structure that named it, and what is none of this wire.
TEST_F(LostKeys, P10_AnObliterationLeavesNoStrayKeys) {
  ASSERT_TRUE(queue.add("one"));
  const auto prefix = "emq:{" + name + "}:";
  for (const auto* const key : {"schedule:lost", "paused", "odd:name:of:its:own", "metrics:odd"})
    redis({"HSET", prefix + key, "a", "b"});
  redis({"RPUSH", prefix + "flow:lost", "a"});
  redis({"RPUSH", job_key(name, "nobody", Sub::logs), "a line"});
  redis({"SET", "emq:{" + name + "x}:kept", "of another queue"});
  const auto report = queue.obliterate();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->done, 1);
  EXPECT_EQ(report->strays.value_or(-1), 5);
  EXPECT_EQ(keys_left(), "active id meta repeat");
  EXPECT_EQ(redis({"DEL", "emq:{" + name + "x}:kept"}).integer, 1);
}

class LostKeysOfTheLeast : public OwnServerTest {};

TEST_F(LostKeysOfTheLeast, P10_WhoMayNotScanIsToldThatNobodyLooked) {
  auto other = connect_with({});
  ASSERT_TRUE(other) << other.error().message();
  Queue<> same{*other, name};
  ASSERT_TRUE(same.add("one"));
  ASSERT_TRUE(same.add("lost", {.id = "lost"}));
  redis({"RPOP", key_of(Structure::wait)});
  const auto report = same.obliterate();
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->done, 1);
  EXPECT_FALSE(report->strays);
  EXPECT_EQ(redis({"EXISTS", job_key(name, "lost")}).integer, 1);
  EXPECT_EQ(queue.obliterate().value().done, 1) << "whoever may finds it later";
  EXPECT_EQ(redis({"EXISTS", job_key(name, "lost")}).integer, 0);
}

}  // namespace
}  // namespace echomq::test
