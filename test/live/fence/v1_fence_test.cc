// SPDX-License-Identifier: MIT
// clients/v1-fence: a service of v1 learns by name that its queue is ours, and nothing is written.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "echomq/migration.h"
#include "live/fence/stock.h"

namespace echomq::test {
namespace {

using nlohmann::json;

class V1FenceModule : public StockTest {
 protected:
  json ask(const std::string& prefix, const std::string& of, const std::string& how = "import") {
    const auto before = everything();
    ChildProcess script = v1_script("assert_v1.mjs", {server.socket_path(), prefix, of, how});
    EXPECT_EQ(script.wait(), 0) << script.output();
    EXPECT_EQ(difference(before, everything()), "");
    return json::parse(script.output());
  }
  void expect_fenced(const json& answer, const std::string& state, const std::string& found) {
    EXPECT_EQ(answer.value("typed", false), true) << answer;
    EXPECT_EQ(answer.value("code", ""), "EMQ_V1_FENCE");
    EXPECT_EQ(answer.value("state", ""), state);
    EXPECT_EQ(answer.value("found", ""), found);
    EXPECT_NE(answer.value("message", "").find(answer.value("key", "?")), std::string::npos);
  }
};

TEST_F(V1FenceModule, LetsV1QueuesPass) {
  EXPECT_EQ(ask("bull", name).at("passed").at("state"), "fresh");
  redis({"HSET", v1_key("bull", name, "meta"), "version", "bullmq:5.65.1"});
  for (const auto* const how : {"import", "require"})
    EXPECT_EQ(ask("bull", name, how).at("passed"),
              (json{{"state", "v1"}, {"found", "bullmq:5.65.1"}}));
}

TEST_F(V1FenceModule, RefusesWhatIsOurs) {
  expect_fenced(ask("emq", braced(name)), "v2", "");
  ASSERT_TRUE(queue.open());
  expect_fenced(ask("emq", braced(name), "require"), "v2", "echomq:2.0.0");
  set_meta("version", "bullmq:5.65.1");
  expect_fenced(ask("emq", braced(name)), "v2", "bullmq:5.65.1");
  set_meta("version", "echomq:2.0.0:migrating");
  expect_fenced(ask("emq", braced(name)), "being-migrated", "echomq:2.0.0:migrating");
}

TEST_F(V1FenceModule, RefusesTombstonesAndStrangers) {
  const auto text = "echomq:2.0.0 migrated to emq:{" + name + "}";
  redis({"SET", v1_key("bull", name, "id"), text});
  expect_fenced(ask("bull", name), "migrated-away", text);
  redis({"SET", v1_key("bull", name, "meta"), text});
  expect_fenced(ask("bull", name), "migrated-away", text);
  redis({"SET", v1_key("bull", name, "meta"), "else"});
  expect_fenced(ask("bull", name), "foreign", "else");
}

// Until a migration is finished the queue may come back, so nobody is told that it has gone.
TEST_F(V1FenceModule, TellsAQueueThatIsOnItsWayFromOneThatHasGone) {
  const auto prefix = "{" + unique_queue("v1") + "}";
  const auto at = [&](const std::string& word) { return v1_key(prefix, name, word); };
  redis({"HSET", at("meta"), "version", "bullmq:5.65.1"});
  redis({"HSET", at("1"), "name", "n", "data", "{}", "opts", "{}", "timestamp", "1700000000000"});
  redis({"LPUSH", at("wait"), "1"});
  redis({"SET", at("id"), "1"});
  Migration migration(client, {.queues = {{name, name}}, .prefix = prefix});
  ASSERT_TRUE(migration.run());
  const auto text = "echomq:2.0.0 migrated to emq:{" + name + "}";
  expect_fenced(ask(prefix, name), "being-migrated", text);
  ASSERT_TRUE(migration.abort());
  EXPECT_EQ(ask(prefix, name).at("passed").at("state"), "v1");
  ASSERT_TRUE(migration.run());
  ASSERT_TRUE(migration.finish());
  expect_fenced(ask(prefix, name), "migrated-away", text);
  redis({"DEL", at("meta")});
  expect_fenced(ask(prefix, name), "migrated-away", text);
  for (const auto* const word : {"id", "repeat"}) redis({"DEL", at(word)});
  redis({"DEL", migration_key(name)});
}

}  // namespace
}  // namespace echomq::test
