// SPDX-License-Identifier: MIT
// job/evict: deletes what is in the trash and nothing else, and keeps ages on idle queues.
#include <gtest/gtest.h>

#include "support/script_test.h"
#include "wire/reply_form.h"

namespace echomq::test {
namespace {

class JobEvict : public ScriptTest {
 protected:
  // Adds, works and evicts into the trash.
  void add_to_trash(const std::vector<std::string>& ids) {
    for (const auto& id : ids) {
      q.add({{.id = id}});
      q.keep_completed = {.count = 0};
      ASSERT_EQ(second(q.finish({{.run = q.claim(1).runs.at(0)}})), id);
      q.keep_completed = {};
    }
  }
};

TEST_F(JobEvict, DeletesAllKeysOfTheJobsInTrash) {
  add_to_trash({"one", "two"});
  for (const char* const sub :
       {":logs", ":dependencies", ":processed", ":failed", ":unsuccessful", ":checkpoint"})
    redis({"SET", q.job("one") + sub, "x"});
  redis({"SADD", q.keys.subkeys, "one"});
  EXPECT_EQ(statuses(q.evict({"one", "two"}, {"one"})), "ok ok");
  for (const auto& [key, content] : dump()) {
    EXPECT_NE(key.substr(0, q.job("one").size()), q.job("one")) << key;
    EXPECT_NE(key.substr(0, q.job("two").size()), q.job("two")) << key;
  }
  EXPECT_EQ(redis({"SCARD", q.keys.trash}).integer, 0);
  EXPECT_EQ(redis({"SCARD", q.keys.subkeys}).integer, 0);
}

// The caller looked before somebody wrote the first sub-key.
TEST_F(JobEvict, AJobWhoseSubKeysWereNotDeclaredStaysInTheTrash) {
  add_to_trash({"one", "two"});
  redis({"SADD", q.keys.subkeys, "one"});
  redis({"RPUSH", q.job("one") + ":logs", "a line"});
  EXPECT_EQ(statuses(q.evict({"one", "two"})), "moved ok");
  EXPECT_EQ(texts(redis({"SMEMBERS", q.keys.trash})), std::vector<std::string>{"one"});
  EXPECT_EQ(statuses(q.evict({"one"}, {"one"})), "ok");
  for (const auto& [key, content] : dump())
    EXPECT_EQ(key.find(q.job("one")), std::string::npos) << key;
}

// R: trash never eats a job that was added again.
TEST_F(JobEvict, AJobThatWasAddedAgainIsMovedAndStays) {
  add_to_trash({"a", "b", "c"});
  q.add({{.id = "b", .data = "new"}});
  EXPECT_EQ(statuses(q.evict({"a", "b", "c"})), "ok moved ok");
  EXPECT_EQ(q.field("b", "data"), "new");
  EXPECT_FALSE(dump().contains(q.job("a")));
  EXPECT_FALSE(dump().contains(q.job("c")));
  EXPECT_EQ(q.claim(2).ids(), "b");
}

TEST_F(JobEvict, WhatWasNeverInTrashStays) {
  q.add({{.id = "a"}});
  expect_unchanged("moved moved", [&] { return q.evict({"a", "never"}); });
}

TEST_F(JobEvict, ARepeatChangesNothing) {
  add_to_trash({"a"});
  EXPECT_EQ(statuses(q.evict({"a"})), "ok");
  expect_unchanged("moved", [&] { return q.evict({"a"}); });
}

TEST_F(JobEvict, KeepsAgesAndCountsOfAnIdleQueue) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const auto runs = q.claim(3).runs;
  q.finish({{.run = runs.at(0)}});
  q.finish({{.run = runs.at(1), .completed = false}});
  q.now += 5'000;
  q.finish({{.run = runs.at(2)}});
  q.now += 5'000;
  q.keep_completed = {.age_ms = 10'000};
  q.keep_failed = {.count = 0};
  const auto reply = q.evict({});
  EXPECT_EQ(statuses(reply), "");
  EXPECT_EQ(second(reply), "a b");
  EXPECT_EQ(redis({"ZCARD", q.keys.completed}).integer, 1);
  EXPECT_EQ(statuses(q.evict({"a", "b"})), "ok ok");
}

TEST_F(JobEvict, TakesABoundedNumberOutOfASet) {
  std::vector<std::string> words{"ZADD", q.keys.failed};
  for (int i = 0; i < 1'500; ++i) {
    words.push_back(std::to_string(i));
    words.push_back("old-" + std::to_string(i));
  }
  redis(words);
  q.keep_failed = {.age_ms = 1'000};
  for (const std::size_t expected : {512U, 512U, 476U, 0U})
    EXPECT_EQ(wire::ids_of(q.evict({}).items.at(1)).size(), expected);
}

}  // namespace
}  // namespace echomq::test
