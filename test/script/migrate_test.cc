// SPDX-License-Identifier: MIT
// migrate/open, migrate/put, migrate/append and migrate/close: a target is filled by nobody else,
// each chunk counts once, and nothing of it is half there.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/script_test.h"

namespace echomq::test {
namespace {

using migrate::Fields;
using migrate::MovedJob;

// One word for all items, or each one's.
std::string said(const Reply& reply) {
  return reply.kind == Reply::Kind::text ? reply.text : statuses(reply);
}

constexpr const char* kFull = "EMQFULL the server is at its maxmemory limit";

class MigrateScripts : public ScriptTest {
 protected:
  void SetUp() override {}  // no queue yet

  static MovedJob moved(const std::string& id, const std::string& score = "0") {
    return {.v1_id = id, .id = id, .score = score, .fields = {{"head", "5:1:n"}, {"data", "{}"}}};
  }
  std::string meta(const std::string& field) { return redis({"HGET", q.keys.meta, field}).text; }
};

TEST_F(MigrateScripts, OpenMakesATargetThatEveryOtherTransitionRefuses) {
  EXPECT_EQ(show(q.open_target({{"event_cap", "7"}, {"pause", "1"}})), "1");
  EXPECT_EQ(meta("version"), "echomq:2.0.0:migrating");
  EXPECT_EQ(meta("event_cap"), "7");
  EXPECT_EQ(meta("pause"), "1");
  EXPECT_EQ(redis({"GET", q.keys.id}).text, "echomq:2.0.0");
  const auto before = dump();
  EXPECT_EQ(show(q.open_target({{"event_cap", "8"}})), "0") << "it is there already";
  const std::string refusal = "EMQFENCE expected=echomq:2.0.0 found=echomq:2.0.0:migrating";
  EXPECT_EQ(statuses(q.open()), refusal);
  EXPECT_EQ(statuses(q.add({{.id = "a"}})), refusal);
  EXPECT_EQ(statuses(q.claim(1).reply), refusal);
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(MigrateScripts, OpenMarksATargetAgainThatAV1ClientHasOverwritten) {
  q.open_target({{"event_cap", "7"}});
  q.put("", "0:1:0:", Structure::wait, {moved("a")});
  const auto before = dump();
  redis({"HSET", q.keys.meta, "version", "bullmq:5.65.1", "opts.maxLenEvents", "10000"});
  EXPECT_EQ(said(q.put("0:1:0:", "0:2:0:", Structure::wait, {moved("b")})),
            "EMQFENCE expected=echomq:2.0.0:migrating found=bullmq:5.65.1");
  EXPECT_EQ(show(q.open_target({})), "2");
  EXPECT_EQ(difference(before, dump()), "");
  redis({"HSET", q.keys.meta, "paused", "1"});
  EXPECT_EQ(show(q.open_target({})), "2");
  EXPECT_EQ(difference(before, dump()), "");
  // One that is being taken away is known by the same, and so is one that has nothing yet.
  q.close_target("abort");
  redis({"HSET", q.keys.meta, "version", "bullmq:5.65.1"});
  EXPECT_EQ(show(q.open_target({})), "2");
  EXPECT_EQ(meta("version"), "echomq:2.0.0:migrating");
}

TEST_F(MigrateScripts, OpenMakesNoTargetOfAQueueThatAV1ClientHasOverwritten) {
  q.open();
  redis({"HSET", q.keys.meta, "version", "bullmq:5.65.1"});
  const auto before = dump();
  EXPECT_EQ(statuses(q.open_target({})),
            "EMQFENCE expected=echomq:2.0.0:migrating found=bullmq:5.65.1");
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(MigrateScripts, RepairMakesNoQueueOfATarget) {
  q.open_target({});
  redis({"HSET", q.keys.meta, "version", "bullmq:5.65.1"});
  const auto before = dump();
  EXPECT_EQ(statuses(q.repair()), "EMQFENCE expected=echomq:2.0.0 found=bullmq:5.65.1");
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(MigrateScripts, OpenTakesNothingThatIsThere) {
  q.open();
  const auto before = dump();
  EXPECT_EQ(statuses(q.open_target({})),
            "EMQFENCE expected=echomq:2.0.0:migrating found=echomq:2.0.0");
  EXPECT_EQ(difference(before, dump()), "");
  redis({"DEL", q.keys.meta});
  EXPECT_EQ(statuses(q.open_target({})),
            "EMQFENCE expected=echomq:2.0.0:migrating found=keys of the queue without a meta");
}

TEST_F(MigrateScripts, OpenRefusesSettingsThatItCannotRead) {
  const auto call = ScriptCall::of<scripts::MigrateOpen>(
      q.keys, {.revision = q.revision, .now = q.now, .settings = "3:1:1:ab"});
  EXPECT_EQ(statuses(q.call(call)), "EMQARG settings of an unknown form");
  EXPECT_TRUE(dump().empty());
}

TEST_F(MigrateScripts, ChunksFollowEachOtherAndCountOnce) {
  q.open_target({});
  EXPECT_EQ(said(q.put("", "0:2:0:", Structure::wait, {moved("a"), moved("b")})), "ok");
  const auto before = dump();
  EXPECT_EQ(said(q.put("", "0:2:0:", Structure::wait, {moved("a"), moved("b")})), "done");
  EXPECT_EQ(said(q.put("", "0:1:0:", Structure::wait, {moved("c")})), "moved");
  EXPECT_EQ(difference(before, dump()), "");
  EXPECT_EQ(said(q.put("0:2:0:", "0:4:0:", Structure::wait, {moved("c"), moved("d")})), "ok");
  EXPECT_EQ(list(q.keys.wait), "a b c d");
  EXPECT_EQ(said(q.put("0:4:0:", "3:2:9:f", Structure::delayed,
                       {moved("e", "5"), moved("a", "6"), moved("f", "9")})),
            "ok dup ok")
      << "another job has that id already";
  EXPECT_EQ(texts(redis({"ZRANGE", q.keys.delayed, "0", "-1", "WITHSCORES"})),
            (std::vector<std::string>{"e", "5", "f", "9"}));
  EXPECT_EQ(redis({"HGET", q.job("e"), "data"}).text, "{}");
  EXPECT_EQ(meta("cursor"), "3:2:9:f");
}

TEST_F(MigrateScripts, AChunkOfAnUnknownFormChangesNothing) {
  q.open_target({});
  const auto before = dump();
  EXPECT_EQ(said(q.put("", "0:1:0:", Structure::wait, {moved("a"), {.id = "b"}})),
            "EMQARG fields of an unknown form");
  EXPECT_EQ(said(q.append(q.keys.subkeys, "stream", false, {{"a", "b"}})),
            "EMQARG a type of an unknown name");
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(MigrateScripts, TheFirstPartOfAKeyReplacesWhatStandsThere) {
  q.open_target({});
  const auto logs = q.job("a") + ":logs";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(said(q.append(logs, "list", true, {{"", "one"}, {"", "two"}})), "ok");
    EXPECT_EQ(said(q.append(logs, "list", false, {{"", "three"}})), "ok");
  }
  EXPECT_EQ(texts(redis({"LRANGE", logs, "0", "-1"})),
            (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(said(q.append(q.keys.de, "hash", false, {{"x", "1"}, {"y", "2"}})), "ok");
  EXPECT_EQ(said(q.append(q.keys.de_due, "zset", false, {{"x", "11"}})), "ok");
  EXPECT_EQ(said(q.append(q.keys.subkeys, "set", false, {{"a", ""}})), "ok");
  EXPECT_EQ(redis({"HGET", q.keys.de, "y"}).text, "2");
  EXPECT_EQ(show(redis({"ZSCORE", q.keys.de_due, "x"})), "11");
  EXPECT_EQ(redis({"SISMEMBER", q.keys.subkeys, "a"}).integer, 1);
  EXPECT_EQ(said(q.append(logs, "list", true, {})), "ok") << "nothing, from the beginning";
  EXPECT_EQ(redis({"EXISTS", logs}).integer, 0);
}

TEST_F(MigrateScripts, FinishMakesAQueueWithItsMarks) {
  q.open_target({});
  q.put("", "0:1:0:", Structure::wait, {moved("a")});
  q.put("0:1:0:", "3:1:50:b", Structure::delayed, {moved("b", "50")});
  q.append(q.keys.schedules, "zset", false, {{"s", "70"}});
  EXPECT_EQ(said(q.close_target("finish")), "ok");
  EXPECT_EQ(meta("version"), "echomq:2.0.0");
  EXPECT_EQ(redis({"HEXISTS", q.keys.meta, "cursor"}).integer, 0);
  EXPECT_EQ(texts(redis({"ZRANGE", q.keys.marker, "0", "-1", "WITHSCORES"})),
            (std::vector<std::string>{"0", "0", "1", "50", "3", "70"}));
  EXPECT_EQ(q.claim(1).ids(), "a");
  EXPECT_EQ(said(q.close_target("finish")),
            "EMQFENCE expected=echomq:2.0.0:migrating found=echomq:2.0.0");
}

TEST_F(MigrateScripts, APausedQueueWakesNobody) {
  q.open_target({{"pause", "1"}});
  q.put("", "0:1:0:", Structure::wait, {moved("a")});
  EXPECT_EQ(said(q.close_target("finish")), "ok");
  EXPECT_EQ(redis({"EXISTS", q.keys.marker}).integer, 0);
  EXPECT_EQ(q.claim(1).gate(), "paused");
}

TEST_F(MigrateScripts, AbortKeepsFurtherChunksOut) {
  q.open_target({});
  q.put("", "0:1:0:", Structure::wait, {moved("a")});
  EXPECT_EQ(said(q.close_target("abort")), "ok");
  const auto before = dump();
  const std::string refusal =
      "EMQFENCE expected=echomq:2.0.0:migrating found=echomq:2.0.0:aborting";
  EXPECT_EQ(said(q.put("", "0:1:0:", Structure::wait, {moved("a")})), refusal);
  EXPECT_EQ(said(q.append(q.keys.subkeys, "set", false, {{"a", ""}})), refusal);
  EXPECT_EQ(difference(before, dump()), "");
}

TEST(MigrateOnAFullServer, RefusesAndChangesNothing) {
  TestServer server;
  auto redis = server.connect();
  ScriptQueue q(redis, unique_queue("full"));
  const auto with_full_server = [&](auto&& call) {
    redis({"CONFIG", "SET", "maxmemory", "1"});
    const auto before = dump_queue(redis, q.name());
    EXPECT_EQ(statuses(call()), kFull);
    EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "");
    redis({"CONFIG", "SET", "maxmemory", "0"});
  };
  const std::vector<MovedJob> jobs{{.id = "a", .score = "0", .fields = {{"head", "5:1:n"}}}};
  with_full_server([&] { return q.open_target({}); });
  q.open_target({});
  with_full_server([&] { return q.put("", "0:1:0:", Structure::wait, jobs); });
  with_full_server([&] { return q.append(q.keys.subkeys, "set", true, {{"a", ""}}); });
  EXPECT_EQ(said(q.put("", "0:1:0:", Structure::wait, jobs)), "ok");
}

}  // namespace
}  // namespace echomq::test
