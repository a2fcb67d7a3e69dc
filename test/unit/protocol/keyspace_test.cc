// SPDX-License-Identifier: MIT
// Names and keys by example: what each builder writes, what each check refuses and how it says so.
#include "echomq/keyspace.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "protocol/registry.h"

namespace echomq {
namespace {

void expect_refused(const Error& error, std::string_view value, std::string_view about) {
  EXPECT_EQ(error.code, ErrorCode::invalid_name);
  ASSERT_NE(error.field("value"), nullptr);
  EXPECT_EQ(*error.field("value"), value);
  EXPECT_NE(error.detail.find(about), std::string::npos) << error.detail;
}

TEST(QueueName, IsTheSameWithAndWithoutBraces) {
  EXPECT_EQ(queue_name("orders").value(), "orders");
  EXPECT_EQ(queue_name("{orders}").value(), "orders");
  EXPECT_EQ(queue_name("a.B-c_9").value(), "a.B-c_9");
  EXPECT_EQ(queue_name(std::string(128, 'q')).value().size(), 128U);
}

TEST(QueueName, EmqIsTakenInEitherForm) {
  for (const char* const name : {"emq", "{emq}"})
    expect_refused(queue_name(name).error(), name, "deployment");
  EXPECT_TRUE(queue_name("EMQ").ok());
  EXPECT_TRUE(queue_name("emq2").ok());
}

TEST(QueueName, OutsideTheGrammarIsRefusedWithWhatAndWhere) {
  expect_refused(queue_name("").error(), "", "empty");
  expect_refused(queue_name("{}").error(), "{}", "empty");
  expect_refused(queue_name("or ders").error(), "or ders", "\" \" at byte 3");
  expect_refused(queue_name("a:b").error(), "a:b", "\":\" at byte 2");
  expect_refused(queue_name("{{orders}}").error(), "{{orders}}", "\"{\" at byte 1");
  expect_refused(queue_name("{orders").error(), "{orders", "\"{\" at byte 1");
  expect_refused(queue_name("orders}").error(), "orders}", "\"}\" at byte 7");
  expect_refused(queue_name("gr\xc3\xbc n").error(), "gr\xc3\xbc n", "\\xc3");
  expect_refused(queue_name(std::string(129, 'q')).error(), std::string(129, 'q'), "129 bytes");
  const std::string_view with_null("a\0b", 3);
  expect_refused(queue_name(with_null).error(), with_null, "\\x00");
}

TEST(JobId, CustomIdsOfTheGrammarAreAccepted) {
  for (const char* const id :
       {"a", "invoice-2024.07_1", "1a", "1-2", ".", "-1", "1.5", "BAT", "BAT0KHTOWnGLu",
        "BAT0KHTOWnGLuCx", "TSK0KHTOWnGLuC", "Wait", "waiting", "due"}) {
    EXPECT_TRUE(check_job_id(id).ok()) << id;
    EXPECT_TRUE(check_any_job_id(id).ok()) << id;
  }
  EXPECT_TRUE(check_job_id(std::string(255, 'j')).ok());
}

TEST(JobId, OutsideTheGrammarIsRefused) {
  expect_refused(check_job_id("").error(), "", "empty");
  expect_refused(check_job_id("a b").error(), "a b", "at byte 2");
  expect_refused(check_job_id("a:logs").error(), "a:logs", "\":\" at byte 2");
  expect_refused(check_job_id("{a}").error(), "{a}", "at byte 1");
  expect_refused(check_job_id(std::string(256, 'j')).error(), std::string(256, 'j'), "256 bytes");
}

TEST(JobId, NoJobIsCalledLikeAStructure) {
  for (const auto structure : kStructures) {
    EXPECT_FALSE(check_job_id(word(structure)).ok()) << word(structure);
    EXPECT_FALSE(check_any_job_id(word(structure)).ok()) << word(structure);
  }
  for (const auto named : kNamedWords) expect_refused(check_job_id(named).error(), named, "queue");
}

TEST(JobId, NoJobIsCalledLikeAKeyThatV1ClientsWrite) {
  for (const char* const id :
       {"stalled", "stalled-check", "paused", "pc", "delay", "priority", "repeat", "id", "wait"}) {
    EXPECT_FALSE(check_job_id(id).ok()) << id;
    EXPECT_FALSE(check_any_job_id(id).ok()) << id;
    const auto parsed = parse_key(job_key("q", id));
    EXPECT_TRUE(!parsed.ok() || parsed->kind == KeyKind::structure) << id;
  }
}

TEST(JobId, SubWordsAndUnitsAreOrdinaryIdsBecauseTheirKeysStayApart) {
  for (const char* const id : {"logs", "dependencies", "processed", "unsuccessful", "checkpoint",
                               "version", "nodes", "queues", "bundle", "migration"}) {
    ASSERT_TRUE(check_job_id(id).ok()) << id;
    const auto job = parse_key(job_key("q", id)).value();
    EXPECT_EQ(job.kind, KeyKind::job);
    EXPECT_EQ(job.id, id);
    const auto sub = parse_key(job_key("q", id, Sub::logs)).value();
    EXPECT_EQ(sub.kind, KeyKind::sub);
    EXPECT_EQ(sub.id, id);
  }
}

TEST(JobId, FailedIsAStructureAloneAndASubKeyAfterAJob) {
  EXPECT_EQ(parse_key("emq:{q}:failed").value().kind, KeyKind::structure);
  EXPECT_EQ(parse_key("emq:{q}:a:failed").value().kind, KeyKind::sub);
  EXPECT_EQ(parse_key("emq:{q}:metrics:failed").value().kind, KeyKind::named);
  EXPECT_FALSE(parse_key("emq:{q}:failed:logs").ok());
}

TEST(JobId, DigitsAreForMintedIdsOnly) {
  for (const char* const id : {"7", "007", "274557032793636864", "99999999999999999999"})
    expect_refused(check_job_id(id).error(), id, "digits only");
  EXPECT_TRUE(check_any_job_id("7").ok());
  EXPECT_TRUE(check_any_job_id("274557032793636864").ok());
  expect_refused(check_any_job_id("007").error(), "007", "leading zero");
  expect_refused(check_any_job_id("9223372036854775808").error(), "9223372036854775808", "2^63");
}

TEST(JobId, ABrandedIdIsRefusedAndALookUpTellsItsDecimalForm) {
  expect_refused(check_job_id("BAT0KHTOWnGLuC").error(), "BAT0KHTOWnGLuC", "branded");
  const auto error = check_any_job_id("BAT0KHTOWnGLuC").error();
  expect_refused(error, "BAT0KHTOWnGLuC", "274557032793636864");
  ASSERT_NE(error.field("decimal"), nullptr);
  EXPECT_EQ(*error.field("decimal"), "274557032793636864");
  expect_refused(check_any_job_id("BATzzzzzzzzzzz").error(), "BATzzzzzzzzzzz", "2^63");
}

TEST(Key, BuildersWriteTheGrammar) {
  EXPECT_EQ(key("orders", Structure::meta), "emq:{orders}:meta");
  EXPECT_EQ(key("orders", Structure::waiting_children), "emq:{orders}:waiting-children");
  EXPECT_EQ(key("orders", Structure::de_due), "emq:{orders}:de:due");
  EXPECT_EQ(key("orders", Structure::crashed), "emq:{orders}:crashed");
  EXPECT_EQ(named_key("orders", "schedule", "nightly"), "emq:{orders}:schedule:nightly");
  EXPECT_EQ(job_key("orders", "42"), "emq:{orders}:42");
  EXPECT_EQ(job_key("orders", "42", Sub::checkpoint), "emq:{orders}:42:checkpoint");
  EXPECT_EQ(reserve_key(Reserve::nodes), "{emq}:nodes");
  EXPECT_EQ(migration_key("orders"), "{emq}:migration:orders");
  EXPECT_EQ(v1_key("bull", "mail", "meta"), "bull:mail:meta");
}

TEST(Key, EveryStructureHasAWordAndAType) {
  const std::set<std::string_view> types{"hash", "list", "zset", "set", "stream", "string"};
  std::set<std::string_view> words;
  for (const auto structure : kStructures) {
    EXPECT_TRUE(words.insert(word(structure)).second) << word(structure);
    EXPECT_EQ(types.count(redis_type(structure)), 1U) << word(structure);
  }
  EXPECT_EQ(words.size(), kStructures.size());
  EXPECT_EQ(redis_type(Structure::id), "string");
  EXPECT_EQ(redis_type(Structure::wait), "list");
  EXPECT_EQ(redis_type(Structure::active), "zset") << "a v1 fetch must fail at it";
}

TEST(Key, KeysThatMeanNothingAreRefusedWithTheReason) {
  const auto refused = [](std::string_view text, std::string_view about) {
    ASSERT_FALSE(parse_key(text).ok()) << text;
    expect_refused(parse_key(text).error(), text, about);
  };
  refused("", "another family");
  refused("bull:mail:meta", "another family");
  refused("emq:mail:meta", "another family");
  refused("EMQ:{mail}:meta", "another family");
  refused("emq:{mail", "}:");
  refused("emq:{mail}", "}:");
  refused("emq:{mail}meta", "}:");
  refused("emq:{}:meta", "empty");
  refused("emq:{emq}:meta", "deployment");
  refused("emq:{a b}:meta", "at byte 2");
  refused("emq:{mail}:", "empty");
  refused("emq:{mail}:stalled-check", "v1");
  refused("emq:{mail}:de:x", "\"de\"");
  refused("emq:{mail}:schedule", "schedule that is empty");
  refused("emq:{mail}:schedule:", "schedule that is empty");
  refused("emq:{mail}:schedule:a:b", "\":\" at byte 2");
  refused("emq:{mail}:group:{x}", "\"{\" at byte 1");
  refused("emq:{mail}:007", "leading zero");
  refused("emq:{mail}:BAT0KHTOWnGLuC", "branded");
  refused("emq:{mail}:42:", "\"\" after the job id");
  refused("emq:{mail}:42:lock", "\"lock\" after the job id");
  refused("emq:{mail}:42:logs:1", "\"logs:1\" after the job id");
  refused("emq:{mail}::logs", "empty");
  refused("{emq}:", "expected version");
  refused("{emq}:wait", "\"wait\"");
  refused("{emq}:nodes:1", "\"nodes:1\"");
  refused("{emq}:migration", "\"migration\"");
  refused("{emq}:migration:", "empty");
  refused("{emq}:migration:emq", "deployment");
  refused("{emq}:migration:{mail}", "\"{\" at byte 1");
}

TEST(Slot, AgreesWithTheKnownVectors) {
  EXPECT_EQ(slot("123456789"), 12739U);
  EXPECT_EQ(slot("foo"), 12182U);
  EXPECT_EQ(slot(""), 0U);
  // What a cluster node answered to CLUSTER KEYSLOT.
  EXPECT_EQ(slot("foo{}{bar}"), 8363U);
  EXPECT_EQ(slot("foo{bar}{zap}"), 5061U);
  EXPECT_EQ(slot("foo{{bar}}zap"), 4015U);
  EXPECT_EQ(slot("{foo"), 13308U);
  EXPECT_EQ(slot("}foo{"), 8453U);
  EXPECT_EQ(slot("{}"), 15257U);
  EXPECT_EQ(slot("emq:{orders}:wait"), 105U);
  EXPECT_EQ(slot("{emq}:nodes"), 9051U);
}

TEST(Slot, LooksOnlyAtTheFirstHashtag) {
  EXPECT_EQ(slot("{user1000}.following"), slot("{user1000}.followers"));
  EXPECT_EQ(slot("{user1000}.following"), slot("user1000"));
  EXPECT_EQ(slot("foo{bar}{zap}"), slot("bar"));
  EXPECT_EQ(slot("foo{{bar}}zap"), slot("{bar"));
}

}  // namespace
}  // namespace echomq
