// SPDX-License-Identifier: MIT
// The user line says what a client needs, and no more.
#include "echomq/acl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace echomq {
namespace {

// Whether the line has this word.
bool grants(const AclOptions& options, const std::string& word) {
  return (acl_line(options).value() + " ").find(" " + word + " ") != std::string::npos;
}

TEST(AclLine, GrantsKeysOfTheQueuesThatAreNamed) {
  EXPECT_TRUE(grants({}, "~emq:{*}:*"));
  EXPECT_FALSE(grants({.queues = {"mail"}}, "~emq:{*}:*"));
  EXPECT_TRUE(grants({.queues = {"mail", "{orders}"}}, "~emq:{mail}:*"));
  EXPECT_TRUE(grants({.queues = {"mail", "{orders}"}}, "~emq:{orders}:*"));
  EXPECT_TRUE(grants({.v1_prefixes = {"jobs"}}, "%R~jobs:*"));
  EXPECT_TRUE(grants({}, "%R~emq:[^{]*"));
  EXPECT_FALSE(grants({.v1_prefixes = {}}, "%R~bull:*"));
}

// The look for v1 under the prefix emq would open our own keys of every queue.
TEST(AclLine, OfOneQueueDoesNotReadTheOthers) {
  const auto line = acl_line({.queues = {"mail"}}).value();
  for (const auto* key :
       {"~emq:{mail}:*", "~{emq}:*", "%R~emq:mail:*", "%R~bull:mail:*", "%R~bull:{mail}:*"})
    EXPECT_TRUE(grants({.queues = {"mail"}}, key)) << key;
  EXPECT_EQ(std::count(line.begin(), line.end(), '~'), 5) << line;
}

TEST(AclLine, GrantsWhatIsAskedForAndNoMore) {
  for (const auto* word : {"-@all", "+evalsha", "+bzpopmin", "+hset", "+client|kill"})
    EXPECT_TRUE(grants({}, word)) << word;
  for (const auto* word :
       {"+@all", "+flushall", "+config|get", "+keys", "+wait", "+waitaof", "+scan"})
    EXPECT_FALSE(grants({}, word)) << word;
  EXPECT_FALSE(grants({.client_kill = false}, "+client|kill"));
  EXPECT_TRUE(grants({.wait = true}, "+wait"));
  EXPECT_TRUE(grants({.waitaof = true}, "+waitaof"));
  EXPECT_TRUE(grants({.config_get = true}, "+config|get"));
  EXPECT_TRUE(grants({.scan = true}, "+scan"));
}

TEST(AclLine, RefusesWhatWouldBeAnotherWord) {
  for (const auto* user : {"", "two words", "tab\t", "line\n"}) {
    const auto line = acl_line({.user = user});
    ASSERT_FALSE(line) << user;
    EXPECT_EQ(line.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(*line.error().field("value"), user);
  }
  EXPECT_EQ(acl_line({.queues = {"a b"}}).error().code, ErrorCode::invalid_name);
  EXPECT_EQ(acl_line({.v1_prefixes = {"a*"}}).error().code, ErrorCode::invalid_name);
}

TEST(V1AclLine, GrantsTheKeysOfItsPrefixesAndNoneOfOurs) {
  EXPECT_EQ(v1_acl_line().value(),
            "user bullmq on resetkeys resetchannels -@all ~bull:* +@all -@admin -@dangerous +info "
            "+client|list");
  const auto line = v1_acl_line({.user = "legacy", .prefixes = {"emq", "jobs"}}).value();
  EXPECT_EQ(line.rfind("user legacy on resetkeys resetchannels -@all ~emq:[^{]* ~jobs:* ", 0), 0U)
      << line;
}

TEST(V1AclLine, RefusesWhatWouldBeAnotherWordOrNoKeyAtAll) {
  EXPECT_EQ(v1_acl_line({.user = "two words"}).error().code, ErrorCode::invalid_argument);
  for (const auto* prefix : {"", "a*", "a b", "{emq}"})
    EXPECT_EQ(v1_acl_line({.prefixes = {prefix}}).error().code, ErrorCode::invalid_name) << prefix;
  EXPECT_EQ(v1_acl_line({.prefixes = {}}).error().code, ErrorCode::invalid_name);
}

}  // namespace
}  // namespace echomq
