// SPDX-License-Identifier: MIT
// The other Lua (protocol.md, 4.5): every script runs in Lua 5.4 as in the server's 5.1, with equal
// answers, and leaves the same behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "echomq_scripts.h"
#include "probe/recorder.h"
#include "probe/scene.h"
#include "probe/ways.h"
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

// The script of the deployment, with keys of a queue in the place of the deployment's.
void lease_nodes(ScriptQueue& q) {
  NodeRequest request{
      .owner = "one", .nodes = {7}, .version_key = q.keys.id, .nodes_key = q.keys.limiter};
  const auto lease = [&] { return show(lease_node(q.redis(), request)); };
  EXPECT_EQ(lease(), "[7 1 0]");
  EXPECT_EQ(lease(), "[7 1 " + std::to_string(request.until) + "]");
  request.owner = "two";
  EXPECT_EQ(lease(), "[]");
  request.nodes = {7, 8};
  EXPECT_EQ(lease().substr(0, 3), "[8 ");
  request.owner = "three";
  request.now = request.until + 1;
  request.until += 60'000;
  EXPECT_EQ(lease().substr(0, 5), "[7 3 ");
  request.keep = false;
  lease();
  q.redis()({"SET", q.keys.id, "echomq:3.0.0"});
  EXPECT_EQ(lease().substr(0, 8), "EMQFENCE");
}

TEST_F(BothLuas, AnswerAlikeInEveryScript) {
  std::set<std::string, std::less<>> run;
  for (const auto* const list : {&exercises(), &probe::further_exercises()})
    for (const auto& exercise : *list) {
      recorder.forget();
      ScriptQueue q(recorder, unique_queue("lua-five-four"));
      probe::Scene scene(q);
      ASSERT_EQ(scene.problem(), "");
      exercise.call(scene);
      EXPECT_EQ(difference_by_the_other(q), "") << exercise.script;
      run.insert(exercise.script);
    }
  recorder.forget();
  ScriptQueue q(recorder, unique_queue("lua-five-four"));
  q.open();
  lease_nodes(q);
  EXPECT_EQ(difference_by_the_other(q), "") << "node/lease";
  run.insert("node/lease");
  for (const auto* const script : scripts::all())
    EXPECT_TRUE(run.contains(script->name)) << script->name << " was not run";
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
