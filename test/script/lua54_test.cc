// SPDX-License-Identifier: MIT
// The other Lua (protocol.md, 4.5): every script runs in Lua 5.4 as in the server's 5.1, with equal
// answers, and leaves the same behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "probe/recorder.h"
#include "probe/scene.h"
#include "probe/workload.h"
#include "support/dump.h"
#include "support/lua54_link.h"
#include "support/server.h"

namespace echomq::test {
namespace {

class BothLuas : public testing::Test {
 protected:
  // What was said of `q` by the server's Lua, said again to the other: the first difference in the
  // answers or in what stands there.
  std::string difference_by_the_other(ScriptQueue& q) {
    std::string other = q.name();
    std::reverse(other.begin(), other.end());
    const auto answer = recorder.replay(other_lua, q.name(), other);
    if (!answer.empty()) return answer;
    const auto expected = renamed(dump_queue(redis, q.name()), q.name(), other);
    auto differs = difference(expected, dump_queue(redis, other));
    delete_queue(redis, q.name());
    delete_queue(redis, other);
    return differs;
  }

  RawClient redis = shared_server().connect();
  probe::Recorder recorder{redis};
  Lua54Link other_lua{redis};
};

TEST_F(BothLuas, RunWhatTheyAreSaidToBe) {
  EXPECT_EQ(show(redis({"EVAL", "return _VERSION", "0"})), "Lua 5.1");
  EXPECT_EQ(show(other_lua({"EVAL", "return _VERSION", "0"})), "Lua 5.4");
}

// Where a script's text means something else in the other Lua, it is seen.
TEST_F(BothLuas, ADifferenceIsSeen) {
  for (const auto* const source : {"return tostring(10 / 2)", "return 7 // 2", "return 7 .. ''"}) {
    const bool differs =
        show(redis({"EVAL", source, "0"})) != show(other_lua({"EVAL", source, "0"}));
    EXPECT_EQ(differs, std::string(source) != "return 7 .. ''") << source;
  }
}

TEST_F(BothLuas, AnswerAlikeInEveryScript) {
  for (const auto& exercise : exercises()) {
    recorder.forget();
    ScriptQueue q(recorder, unique_queue("lua-five-four"));
    probe::Scene scene(q);
    ASSERT_EQ(scene.problem(), "");
    exercise.call(scene);
    EXPECT_EQ(difference_by_the_other(q), "") << exercise.script;
  }
}

TEST_F(BothLuas, AnswerAlikeThroughARandomLife) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    recorder.forget();
    ScriptQueue q(recorder, unique_queue("lua-five-four"));
    q.open();
    probe::Workload workload(q, seed);
    for (int i = 0; i < 400; ++i) workload.step();
    const auto before = other_lua.scripts_run();
    EXPECT_EQ(difference_by_the_other(q), "") << "seed " << seed;
    EXPECT_GT(other_lua.scripts_run() - before, 300);
  }
}

}  // namespace
}  // namespace echomq::test
