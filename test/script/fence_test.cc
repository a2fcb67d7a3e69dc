// SPDX-License-Identifier: MIT
// INV1: no transition runs on the keys of another wire or version, and none changes a byte of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "support/scene.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

struct Foreign {
  std::string name;
  std::string refusal;
  std::function<void(RawClient&, const ScriptQueue&)> make;
};

const std::vector<Foreign>& foreign_metas() {
  static const std::vector<Foreign> all{
      {"v1", "found=bullmq:5.65.1",
       [](RawClient& redis, const ScriptQueue& q) {
         redis({"DEL", q.keys.meta});
         redis({"HSET", q.keys.meta, "version", "bullmq:5.65.1", "opts.maxLenEvents", "10000"});
       }},
      {"a later version", "found=echomq:3.0.0",
       [](RawClient& redis, const ScriptQueue& q) {
         redis({"HSET", q.keys.meta, "version", "echomq:3.0.0"});
       }},
      {"no version", "found=nothing",
       [](RawClient& redis, const ScriptQueue& q) {
         redis({"HDEL", q.keys.meta, "version"});
       }},
      {"no meta", "found=",
       [](RawClient& redis, const ScriptQueue& q) {
         redis({"DEL", q.keys.meta});
       }},
      {"another type", "found=a meta key of another type",
       [](RawClient& redis, const ScriptQueue& q) {
         redis({"DEL", q.keys.meta});
         redis({"SET", q.keys.meta, "echomq:2.0.0"});
       }},
      {"a pause by v1", "found=a queue that v1 has paused",
       [](RawClient& redis, const ScriptQueue& q) {
         redis({"HSET", q.keys.meta, "paused", "1"});
       }},
      {"a newer revision", "found=revision 1000",
       [](RawClient& redis, const ScriptQueue& q) {
         redis({"HSET", q.keys.meta, "min_revision", "1000"});
       }},
  };
  return all;
}

TEST(Exercises, CoverEveryScriptOfAQueue) {
  std::set<std::string> covered{"node/lease"};  // of the deployment; it has tests of its own
  for (const auto& exercise : exercises()) covered.insert(exercise.script);
  std::set<std::string> known;
  for (const auto* const script : scripts::all()) known.insert(std::string(script->name));
  EXPECT_EQ(covered, known) << "each script wants an exercise in src/probe/scene.cc";
}

TEST(INV1TotalFence, EveryScriptRefusesEveryForeignMetaAndChangesNothing) {
  auto redis = shared_server().connect();
  for (const auto& foreign : foreign_metas()) {
    for (const auto& exercise : exercises()) {
      // That pause is what is repaired.
      if (foreign.name == "a pause by v1" && exercise.script == "queue/repair") continue;
      ScriptQueue q(redis, unique_queue("fence"));
      Scene scene(q);
      foreign.make(redis, q);
      // One exercise changes the queue itself before it calls, so that the dump is of the call
      // alone.
      Dump before;
      Reply reply;
      q.before_call = [&] { before = dump_queue(redis, q.name()); };
      reply = exercise.call(scene);
      const auto where = exercise.script + " on " + foreign.name + ": " + show(reply);
      ASSERT_TRUE(reply.is_error()) << where;
      EXPECT_EQ(reply.text.substr(0, 18), "EMQFENCE expected=") << where;
      EXPECT_NE(reply.text.find(foreign.refusal), std::string::npos) << where;
      EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "") << where;
    }
  }
}

// A deploy in stages: both releases work on one queue, until whoever needs the newer one says so.
TEST(INV1TotalFence, P33_TwoReleasesShareAQueueUntilTheOlderIsRefusedByName) {
  auto redis = shared_server().connect();
  ScriptQueue q(redis, unique_queue("fence"));
  const auto as = [&q](int revision) -> ScriptQueue& {
    q.revision = revision;
    return q;
  };
  constexpr int kOlder = scripts::kRevision;
  constexpr int kNewer = scripts::kRevision + 1;
  as(kNewer).open();
  EXPECT_EQ(show(as(kOlder).open()), "0");
  EXPECT_EQ(statuses(as(kOlder).add({{.id = "a"}, {.id = "b"}})), "ok ok");
  EXPECT_EQ(statuses(as(kNewer).add({{.id = "c"}})), "ok");
  const auto newer = as(kNewer).claim(2).runs;
  const auto older = as(kOlder).claim(1).runs;
  EXPECT_EQ(statuses(as(kOlder).retry({{.run = older.at(0)}})), "ok");
  EXPECT_EQ(as(kNewer).claim(1).ids(), "c");
  EXPECT_EQ(statuses(as(kNewer).finish({{.run = newer.at(0)}})), "ok");
  redis({"HSET", q.keys.meta, "min_revision", std::to_string(kNewer)});
  const auto before = dump_queue(redis, q.name());
  EXPECT_EQ(statuses(as(kOlder).finish({{.run = newer.at(1)}})),
            "EMQFENCE expected=revision " + std::to_string(kOlder) + " found=revision " +
                std::to_string(kNewer));
  EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "");
  EXPECT_EQ(statuses(as(kNewer).finish({{.run = newer.at(1)}})), "ok");
  delete_queue(redis, q.name());
}

// The revision is compared with what the caller has, not with what the test was built with.
TEST(INV1TotalFence, AnOlderReleaseIsRefusedByNameOnceTheQueueNeedsANewerOne) {
  auto redis = shared_server().connect();
  ScriptQueue q(redis, unique_queue("fence"));
  q.open();
  redis({"HSET", q.keys.meta, "min_revision", "12"});
  q.revision = 11;
  EXPECT_EQ(statuses(q.add({{.id = "a"}})), "EMQFENCE expected=revision 11 found=revision 12");
  q.revision = 12;
  EXPECT_EQ(statuses(q.add({{.id = "a"}})), "ok");
  q.revision = 100;
  EXPECT_EQ(q.claim(1).ids(), "a");
}

}  // namespace
}  // namespace echomq::test
