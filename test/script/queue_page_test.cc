// SPDX-License-Identifier: MIT
// queue/page, queue/line, queue/priorities and queue/pause: looking at a queue, and stopping it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/script_test.h"

namespace echomq::test {
namespace {

class QueuePage : public ScriptTest {
 protected:
  void place(const std::string& score, const std::string& id) {
    redis({"ZADD", q.keys.completed, score, id});
  }
  std::string page(bool descending, const Seen& from, unsigned limit) {
    return show(q.page(q.keys.completed, descending, from, limit));
  }
};

TEST_F(QueuePage, GoesOnBehindTheEntrySeenInBothDirections) {
  for (const char* const id : {"a", "b", "c", "d", "e"}) place("7", id);
  place("3", "low");
  place("9", "high");
  EXPECT_EQ(page(false, {}, 3), "[low 3 a 7 b 7]");
  EXPECT_EQ(page(false, {"b", "7"}, 3), "[c 7 d 7 e 7]");
  EXPECT_EQ(page(false, {"e", "7"}, 3), "[high 9]");
  EXPECT_EQ(page(false, {"high", "9"}, 3), "[]");
  EXPECT_EQ(page(true, {}, 3), "[high 9 e 7 d 7]");
  EXPECT_EQ(page(true, {"d", "7"}, 3), "[c 7 b 7 a 7]");
  EXPECT_EQ(page(true, {"a", "7"}, 3), "[low 3]");
  EXPECT_EQ(page(true, {"low", "3"}, 3), "[]");
}

// What counts is where the entry stood, not whether it is there.
TEST_F(QueuePage, AnEntryThatHasLeftKeepsItsPlace) {
  for (const char* const id : {"a", "c", "e"}) place("7", id);
  EXPECT_EQ(page(false, {"b", "7"}, 1), "[c 7]");
  EXPECT_EQ(page(true, {"b", "7"}, 1), "[a 7]");
  EXPECT_EQ(page(false, {"cc", "7"}, 1), "[e 7]");
  EXPECT_EQ(page(false, {"z", "6"}, 1), "[a 7]");
  EXPECT_EQ(page(true, {"a", "8"}, 1), "[e 7]");
}

TEST_F(QueuePage, LeavesOutTheSentinelOfActive) {
  EXPECT_EQ(show(q.page(q.keys.active, false, {}, 5)), "[]");
  EXPECT_EQ(show(q.page(q.keys.active, true, {}, 5)), "[]");
  for (const char* const id : {"a", "b", "c"}) redis({"ZADD", q.keys.active, "7", id});
  EXPECT_EQ(show(q.page(q.keys.active, false, {}, 5)), "[a 7 b 7 c 7]");
  EXPECT_EQ(show(q.page(q.keys.active, true, {}, 2)), "[c 7 b 7]");
  EXPECT_EQ(show(q.page(q.keys.active, true, {"b", "7"}, 2)), "[a 7]");
  EXPECT_EQ(show(q.page(q.keys.active, false, {"c", "7"}, 2)), "[]");
}

// The order is that of the bytes, whatever the server's locale says of letters.
TEST_F(QueuePage, ManyEntriesOfOneScoreAreEachSeenOnce) {
  std::vector<std::string> ids;
  for (const char* const letter : {"A", "Z", "_", "a", "b", "z", "-", "."})
    for (int i = 0; i < 40; ++i) ids.push_back(letter + std::to_string(i));
  for (const auto& id : ids) place("7", id);
  for (const bool descending : {false, true}) {
    std::vector<std::string> seen;
    Seen from;
    for (;;) {
      const auto flat = texts(q.page(q.keys.completed, descending, from, 7));
      if (flat.empty()) break;
      for (std::size_t i = 0; i < flat.size(); i += 2) seen.push_back(flat[i]);
      from = {flat[flat.size() - 2], flat.back()};
    }
    EXPECT_EQ(seen,
              texts(redis({descending ? "ZREVRANGE" : "ZRANGE", q.keys.completed, "0", "-1"})));
  }
}

class QueueLine : public ScriptTest {
 protected:
  std::string line(bool descending, const Seen& from, unsigned limit) {
    return show(q.line(q.keys.wait, descending, from, limit));
  }
};

TEST_F(QueueLine, GoesOnBehindTheEntrySeenInBothDirections) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}});
  EXPECT_EQ(line(false, {"", "0"}, 2), "[0 a b]");
  EXPECT_EQ(line(false, {"b", "1"}, 5), "[2 c d]");
  EXPECT_EQ(line(false, {"d", "3"}, 5), "[4]");
  EXPECT_EQ(line(true, {"", "-1"}, 2), "[3 d c]");
  EXPECT_EQ(line(true, {"c", "2"}, 5), "[1 b a]");
  EXPECT_EQ(line(true, {"a", "0"}, 5), "[-1]");
}

TEST_F(QueueLine, FollowsAnEntryThatMoved) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}});
  q.claim(1);
  EXPECT_EQ(line(false, {"b", "1"}, 5), "[1 c d]") << "it stands further to the front";
  q.add({{.id = "front", .lifo = true}, {.id = "first", .lifo = true}});
  EXPECT_EQ(line(true, {"c", "2"}, 5), "[2 b front first]") << "it stands further to the back";
}

TEST_F(QueueLine, GoesOnAtThePlaceOfOneThatLeft) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}});
  q.remove({"b"});
  EXPECT_EQ(line(false, {"b", "1"}, 5), "[1 c d]");
  EXPECT_EQ(line(true, {"b", "1"}, 5), "[0 a]");
  EXPECT_EQ(line(true, {"gone", "90"}, 5), "[2 d c a]");
}

class QueuePriorities : public ScriptTest {};

TEST_F(QueuePriorities, CountsThoseThatAreInUse) {
  q.add({{.id = "a", .priority = 3},
         {.id = "b", .priority = 3},
         {.id = "c", .priority = 1},
         {.id = "d", .priority = 2'097'151},
         {.id = "w"},
         {.id = "later", .delay = 500, .priority = 8}});
  EXPECT_EQ(show(q.priorities()), "[1 1 3 2 2097151 1]");
  EXPECT_EQ(show(q.priorities(2, 1)), "[3 2]");
  EXPECT_EQ(show(q.priorities(4, 256)), "[2097151 1]");
}

class QueuePause : public ScriptTest {};

TEST_F(QueuePause, StopsClaimsAndLetsThemGoOn) {
  q.add({{.id = "a"}});
  EXPECT_EQ(show(q.pause(true)), "1");
  EXPECT_EQ(q.claim(1).gate(), "paused");
  q.add({{.id = "b"}});
  redis({"DEL", q.keys.marker});
  EXPECT_EQ(show(q.pause(false)), "1");
  EXPECT_EQ(q.score(q.keys.marker, "0"), "0");
  EXPECT_EQ(q.claim(5).ids(), "a b");
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "2", "2"})), "[[2-0 [at 1800000000000 paused ]]]");
  EXPECT_EQ(show(redis({"XRANGE", q.keys.events, "4", "4"})),
            "[[4-0 [at 1800000000000 resumed ]]]");
}

TEST_F(QueuePause, WhatItIsAlreadyChangesNothing) {
  for (const bool paused : {false, true}) {
    q.pause(paused);
    const auto before = dump();
    EXPECT_EQ(show(q.pause(paused)), "0");
    EXPECT_EQ(difference(before, dump()), "");
  }
}

}  // namespace
}  // namespace echomq::test
