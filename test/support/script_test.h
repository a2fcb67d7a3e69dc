// SPDX-License-Identifier: MIT
// The fixture of the tests of scripts: a connection to the shared server and a new, open queue on
// it, whose keys are deleted afterwards.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "probe/script_queue.h"
#include "support/dump.h"
#include "support/server.h"

namespace echomq::test {

class ScriptTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(show(q.open()), "1"); }
  void TearDown() override { delete_queue(redis, q.name()); }

  Dump dump() { return dump_queue(redis, q.name()); }

  // Runs `call`, which must be refused with a text that begins with `refusal` and change nothing.
  template <class Call>
  void expect_refused(const std::string& refusal, Call&& call) {
    const auto before = dump();
    const auto text = statuses(call());
    EXPECT_EQ(text.substr(0, refusal.size()), refusal) << text;
    EXPECT_EQ(difference(before, dump()), "");
  }

  // Runs `call`, which must succeed and change nothing.
  template <class Call>
  void expect_unchanged(const std::string& answer, Call&& call) {
    const auto before = dump();
    EXPECT_EQ(statuses(call()), answer);
    EXPECT_EQ(difference(before, dump()), "");
  }

  std::string list(const std::string& key) {
    std::string all;
    for (const auto& id : texts(redis({"LRANGE", key, "0", "-1"})))
      all += (all.empty() ? "" : " ") + id;
    return all;
  }

  RawClient redis = shared_server().connect();
  ScriptQueue q{redis, unique_queue("script")};
};

}  // namespace echomq::test
