// SPDX-License-Identifier: MIT
// queue/page, queue/line, queue/priorities and queue/pause: looking at a queue, and stopping it.
#include <gtest/gtest.h>

#include <cstdint>
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
  using Passed = std::vector<std::string>;
  std::string line(bool descending, std::int64_t seen, const Passed& passed, unsigned limit) {
    return show(q.line(q.keys.wait, descending, seen, passed, limit));
  }
  void push(const std::string& id, int times = 1) {
    for (int i = 0; i < times; ++i) redis({"RPUSH", q.keys.wait, id});
  }
};

TEST_F(QueueLine, GoesOnBehindTheEntrySeenInBothDirections) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}});
  EXPECT_EQ(line(false, 0, {}, 2), "[0  1 a b]");
  EXPECT_EQ(line(false, 1, {"b"}, 5), "[2 b 0 c d]");
  EXPECT_EQ(line(false, 1, {"b"}, 1), "[2 b 1 c]");
  EXPECT_EQ(line(false, 1, {"b"}, 2), "[2 b 0 c d]");
  EXPECT_EQ(line(false, 3, {"d"}, 5), "[4 d 0]");
  EXPECT_EQ(line(true, -1, {}, 2), "[3  1 d c]");
  EXPECT_EQ(line(true, 2, {"c"}, 5), "[1 c 0 b a]");
  EXPECT_EQ(line(true, 0, {"a"}, 5), "[-1 a 0]");
}

TEST_F(QueueLine, FollowsAnEntryThatMoved) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}});
  q.claim(1);
  EXPECT_EQ(line(false, 1, {"b"}, 5), "[1 b 0 c d]") << "it stands further to the front";
  q.add({{.id = "front", .lifo = true}, {.id = "first", .lifo = true}});
  EXPECT_EQ(line(true, 2, {"c"}, 5), "[2 c 0 b front first]") << "it stands further to the back";
}

TEST_F(QueueLine, GoesOnBehindTheLastOneThatIsStillThere) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}, {.id = "e"}});
  q.remove({"b", "c"});
  EXPECT_EQ(line(false, 2, {"c", "b", "a"}, 5), "[1 a 0 d e]");
  EXPECT_EQ(line(true, 1, {"b", "c", "e", "d"}, 5), "[1 e 0 d a]") << "the order is the caller's";
}

// To go on at the index where it stood would leave out as many as have left in front of it.
TEST_F(QueueLine, SaysThatNoneOfThoseThatWerePassedIsThere) {
  q.add({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}});
  q.claim(2);
  EXPECT_EQ(line(false, 1, {"b", "a"}, 5), "[]");
  EXPECT_EQ(line(true, 1, {"b", "a"}, 5), "[]");
  EXPECT_EQ(line(true, 90, {}, 5), "[1  0 d c]") << "the index is behind the end";
  EXPECT_EQ(line(false, 90, {}, 5), "[90  0]");
}

TEST_F(QueueLine, LooksAThousandEntriesFarForThem) {
  push("before");
  push("x", 1'000);
  push("here");
  push("x", 1'000);
  push("behind");
  EXPECT_EQ(line(false, 1'001, {"behind"}, 1), "[]");
  EXPECT_EQ(line(false, 1'001, {"before"}, 1), "[]");
  EXPECT_EQ(line(false, 1'002, {"behind"}, 1), "[2003 behind 0]");
  EXPECT_EQ(line(true, 1'000, {"before"}, 1), "[-1 before 0]");
  EXPECT_EQ(line(false, 1'001, {"here"}, 1), "[1002 here 1 x]");
}

TEST_F(QueueLine, PassesByGhostsAndAnswersThem) {
  push("a");
  push("", 3);
  push("b");
  push("");
  push("c");
  EXPECT_EQ(line(false, 0, {"a"}, 2), "[1 a 0    b  c]");
  EXPECT_EQ(line(false, 0, {"a"}, 1), "[1 a 1    b]");
  EXPECT_EQ(line(true, 6, {"c"}, 1), "[5 c 1  b]");
  EXPECT_EQ(line(true, 6, {"c"}, 5), "[5 c 0  b    a]");
  push("", 5'000);
  push("d");
  const auto far = texts(q.line(q.keys.wait, false, 6, {"c"}, 2));
  EXPECT_EQ(far.size(), 3 + 2 + 4'096U) << "its work is bounded";
  EXPECT_EQ(far[2], "1");
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
