// SPDX-License-Identifier: MIT
// queue/open: makes a queue once, proves it afterwards, and takes nobody else's keys for its own.
#include <gtest/gtest.h>

#include "echomq/keyspace.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

class QueueOpen : public ScriptTest {
 protected:
  void SetUp() override {}  // no queue yet
};

TEST_F(QueueOpen, MakesMetaAndTheSentinels) {
  EXPECT_EQ(show(q.open()), "1");
  const Dump expected{
      {q.keys.meta,
       "hash 'concurrency=echomq:2.0.0' 'created=1800000000000' 'event_cap=10000' 'min_revision=1' "
       "'version=echomq:2.0.0'"},
      {q.keys.id, "string echomq:2.0.0"},
      {q.keys.repeat, "string echomq:2.0.0"},
      {q.keys.active,
       "zset 'echomq:2.0.0 sentinel, which no job can be named: keeps v1 out, and this set fast' "
       "'inf'"}};
  EXPECT_EQ(difference(expected, dump()), "");
}

// Found by the server's time: packed into a flat list, the set is searched from the front.
TEST_F(QueueOpen, ActiveIsFastFromTheFirstLeaseOn) {
  q.open();
  q.add({{.id = "a"}});
  q.claim(1);
  EXPECT_EQ(show(redis({"OBJECT", "ENCODING", q.keys.active})), "skiplist");
  EXPECT_EQ(q.counts().items.at(2).integer, 1);
  redis({"DEL", q.keys.active});
  EXPECT_EQ(q.counts().items.at(2).integer, 0);
  EXPECT_EQ(show(q.open()), "0");
  EXPECT_EQ(show(redis({"OBJECT", "ENCODING", q.keys.active})), "skiplist");
}

TEST_F(QueueOpen, ProvesAQueueThatIsThere) {
  q.open();
  q.add({{.id = "a"}});
  const auto before = dump();
  q.now += 1'000;
  EXPECT_EQ(show(q.open()), "0");
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(QueueOpen, PutsMissingSentinelsBack) {
  q.open();
  for (const auto& key : {q.keys.id, q.keys.repeat}) {
    const auto before = dump();
    redis({"DEL", key});
    EXPECT_EQ(show(q.open()), "0");
    EXPECT_EQ(difference(before, dump()), "");
  }
  const auto before = dump();
  redis({"HDEL", q.keys.meta, "concurrency"});
  EXPECT_EQ(show(q.open()), "0");
  EXPECT_EQ(difference(before, dump()), "");
}

TEST_F(QueueOpen, RefusesAForeignVersion) {
  redis({"HSET", q.keys.meta, "version", "bullmq:5.65.1"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=bullmq:5.65.1", [&] { return q.open(); });
}

TEST_F(QueueOpen, RefusesAMetaWithoutAVersion) {
  redis({"HSET", q.keys.meta, "paused", "1"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=nothing", [&] { return q.open(); });
}

TEST_F(QueueOpen, RefusesAMetaOfAnotherType) {
  redis({"SET", q.keys.meta, "echomq:2.0.0"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=a meta key of another type",
                 [&] { return q.open(); });
}

TEST_F(QueueOpen, RefusesANewerRevision) {
  q.open();
  redis({"HSET", q.keys.meta, "min_revision", std::to_string(scripts::kRevision + 1)});
  expect_refused("EMQFENCE expected=revision " + std::to_string(scripts::kRevision) +
                     " found=revision " + std::to_string(scripts::kRevision + 1),
                 [&] { return q.open(); });
}

// Each of the fixed keys alone is enough: a queue whose meta was lost must not be made anew over
// it.
TEST_F(QueueOpen, RefusesAnyFixedKeyWithoutAMeta) {
  for (const auto structure : kStructures) {
    if (structure == Structure::meta) continue;
    const auto left_over = key(q.name(), structure);
    redis({"SET", left_over, "left over"});
    expect_refused("EMQFENCE expected=echomq:2.0.0 found=keys of the queue without a meta",
                   [&] { return q.open(); });
    redis({"DEL", left_over});
  }
  EXPECT_EQ(show(q.open()), "1");
}

// What a v1 client leaves when it wrote while a sentinel was missing: a counter, a sorted set.
TEST_F(QueueOpen, RefusesAnOverwrittenSentinel) {
  q.open();
  redis({"SET", q.keys.id, "17"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=a sentinel", [&] { return q.open(); });
  redis({"SET", q.keys.id, "echomq:2.0.0"});
  redis({"DEL", q.keys.repeat});
  redis({"ZADD", q.keys.repeat, "1", "every-minute"});
  expect_refused("EMQFENCE expected=echomq:2.0.0 found=a sentinel", [&] { return q.open(); });
}

// The sentinels' purpose: the first writes of a v1 client fail on them.
TEST_F(QueueOpen, SentinelsStopTheFirstActsOfV1) {
  q.open();
  const auto before = dump();
  EXPECT_TRUE(redis({"INCR", q.keys.id}).is_error());
  EXPECT_TRUE(redis({"ZADD", q.keys.repeat, "1", "every-minute"}).is_error());
  EXPECT_EQ(difference(before, dump()), "");
}

}  // namespace
}  // namespace echomq::test
