// SPDX-License-Identifier: MIT
// queue/emit and queue/trim: events of a caller's own, and how long the stream is.
#include <gtest/gtest.h>

#include <string>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class QueueEmit : public ScriptTest {};

TEST_F(QueueEmit, IsNumberedWithTheOthers) {
  q.add({{.id = "a"}});
  EXPECT_EQ(show(q.emit("mine", "some \"bytes\"")), "2");
  EXPECT_EQ(show(q.emit("yours")), "3");
  q.add({{.id = "b"}});
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "+"})),
            "[[2-0 [at 1800000000000 custom mine payload some \"bytes\"]] "
            "[3-0 [at 1800000000000 custom yours payload ]] [4-0 [at 1800000000000 added b]]]");
}

TEST_F(QueueEmit, KeepsTheCap) {
  ASSERT_EQ(statuses(q.trim(3, {.cap = "3", .trim = "="})), "0 0");
  for (int i = 0; i < 10; ++i) q.emit("mine");
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 3);
}

// It is nothing but its entry.
TEST_F(QueueEmit, IsRefusedWhereItCannotBeWritten) {
  redis({"SET", q.keys.events, "foreign"});
  expect_refused("WRONGTYPE", [&] { return q.emit("mine"); });
}

class QueueTrim : public ScriptTest {
 protected:
  void fill(int entries) {
    for (int i = 0; i < entries; ++i) q.emit("mine");
  }
  std::string cap() { return show(redis({"HMGET", q.keys.meta, "event_cap", "event_trim"})); }
};

TEST_F(QueueTrim, KeepsTheNewest) {
  fill(10);
  EXPECT_EQ(statuses(q.trim(4)), "6 0");
  EXPECT_EQ(redis({"XLEN", q.keys.events}).integer, 4);
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "-", "+", "COUNT", "1"})).substr(0, 6), "[[7-0 ");
  expect_unchanged("0 0", [&] { return q.trim(4); });
  EXPECT_EQ(statuses(q.trim(0)), "4 0");
  // The numbering goes on.
  EXPECT_EQ(show(q.emit("mine")), "11");
}

TEST_F(QueueTrim, TakesABoundedNumberACall) {
  fill(10);
  EXPECT_EQ(statuses(q.trim(2, {.most = 3})), "3 5");
  EXPECT_EQ(statuses(q.trim(2, {.most = 3})), "3 2");
  EXPECT_EQ(statuses(q.trim(2, {.most = 3})), "2 0");
}

TEST_F(QueueTrim, SetsTheCapOnceNothingIsOver) {
  fill(5);
  EXPECT_EQ(statuses(q.trim(2, {.most = 2, .cap = "2", .trim = "="})), "2 1");
  EXPECT_EQ(cap(), "[10000 (nil)]");
  EXPECT_EQ(statuses(q.trim(2, {.most = 2, .cap = "2", .trim = "="})), "1 0");
  EXPECT_EQ(cap(), "[2 =]");
  EXPECT_EQ(statuses(q.trim(2, {.cap = "100"})), "0 0");
  EXPECT_EQ(cap(), "[100 ~]");
}

// An exact cap is kept by every transition, not only by trims.
TEST_F(QueueTrim, AnExactCapHoldsForWhoeverWrites) {
  q.trim(2, {.cap = "2", .trim = "="});
  for (int i = 0; i < 5; ++i) {
    q.add({{.id = "j" + std::to_string(i)}});
    const auto runs = q.claim(1).runs;
    q.finish({{.run = runs.at(0)}});
    EXPECT_LE(redis({"XLEN", q.keys.events}).integer, 2);
  }
  EXPECT_EQ(show(redis({"XLEN", q.keys.events})), "2");
}

TEST_F(QueueTrim, OfNoEventsIsNoError) {
  expect_unchanged("0 0", [&] { return q.trim(10); });
}

TEST_F(QueueTrim, IsRefusedOnAStreamOfAForeignType) {
  redis({"SET", q.keys.events, "foreign"});
  expect_refused("WRONGTYPE", [&] { return q.trim(1, {.cap = "1"}); });
}

}  // namespace
}  // namespace echomq::test
