// SPDX-License-Identifier: MIT
// INV7: the server does not roll back, so a script looks before it writes. For each script and each
// fixed key of the queue: with a value of a foreign type in that key, a call is refused and changes
// nothing, or it succeeds and does all that it does otherwise. Never the one half of it.
#include <gtest/gtest.h>

#include <string>

#include "echomq/keyspace.h"
#include "support/scene.h"
#include "support/script_test.h"

namespace echomq::test {
namespace {

// A dump whose keys carry no queue name, so that two queues can be compared; without `except`.
Dump nameless(RawClient& redis, const ScriptQueue& q, const std::string& except) {
  Dump all;
  for (const auto& [key, content] : dump_queue(redis, q.name()))
    if (key != except) all[key.substr(key.find('}'))] = content;
  return all;
}

class WrongType : public testing::TestWithParam<Structure> {
 protected:
  RawClient redis = shared_server().connect();
};

TEST_P(WrongType, INV7_IsRefusedBeforeTheFirstWriteOrHarmless) {
  for (const auto& exercise : exercises()) {
    ScriptQueue q(redis, unique_queue("type"));
    Scene scene(q);
    const auto foreign = key(q.name(), GetParam());
    redis({"DEL", foreign});
    redis({"SET", foreign, "foreign"});
    Dump before;
    q.before_call = [&] { before = dump_queue(redis, q.name()); };
    const auto reply = exercise.call(scene);
    if (reply.is_error()) {
      EXPECT_EQ(difference(before, dump_queue(redis, q.name())), "")
          << exercise.script << " was torn: " << reply.text;
      continue;
    }
    // Obliterating leaves nothing, whatever it is.
    if (redis({"EXISTS", foreign}).integer == 0 && exercise.script == "queue/obliterate") continue;
    // A v1 client may have made it a string; that is what is repaired.
    if (exercise.script == "queue/repair" && GetParam() == Structure::limiter) continue;
    EXPECT_EQ(redis({"GET", foreign}).text, "foreign") << exercise.script;
    // The same with the key's own type: nothing else may differ, and the answer is the same.
    ScriptQueue whole(redis, unique_queue("type"));
    Scene other(whole);
    redis({"DEL", key(whole.name(), GetParam())});
    const auto expected = exercise.call(other);
    EXPECT_EQ(show(reply), show(expected)) << exercise.script;
    EXPECT_EQ(difference(nameless(redis, whole, key(whole.name(), GetParam())),
                         nameless(redis, q, foreign)),
              "")
        << exercise.script;
  }
}

std::string name_of(const testing::TestParamInfo<Structure>& info) {
  std::string name(word(info.param));
  for (auto& c : name)
    if (c == '-' || c == ':') c = '_';
  return name;
}

// meta is the fence's, id and repeat are queue/open's; the others that no script of this release
// touches are harmless by that.
INSTANTIATE_TEST_SUITE_P(EachKey, WrongType,
                         testing::Values(Structure::wait, Structure::ghosts, Structure::prioritized,
                                         Structure::crashed, Structure::active, Structure::delayed,
                                         Structure::completed, Structure::failed,
                                         Structure::waiting_children, Structure::marker,
                                         Structure::events, Structure::limiter,
                                         Structure::producers, Structure::outbox, Structure::trash,
                                         Structure::subkeys, Structure::schedules, Structure::de,
                                         Structure::de_due, Structure::de_next),
                         name_of);

// What a broken stream or marker must not cost: the transition itself.
TEST(Decorations, AStreamOrMarkerOfAForeignTypeTearsNothing) {
  auto redis = shared_server().connect();
  for (const auto& exercise : exercises()) {
    // Whose transition is of the stream itself.
    if (exercise.script == "queue/emit" || exercise.script == "queue/trim") continue;
    ScriptQueue q(redis, unique_queue("type"));
    Scene scene(q);
    for (const auto& key : {q.keys.events, q.keys.marker}) {
      redis({"DEL", key});
      redis({"SET", key, "foreign"});
    }
    const auto reply = exercise.call(scene);
    EXPECT_FALSE(reply.is_error()) << exercise.script << ": " << reply.text;
  }
}

}  // namespace
}  // namespace echomq::test
