// SPDX-License-Identifier: MIT
// The verbs that only look: status, job, id, keys.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

using Status = EmqTest;

TEST_F(Status, CountsEachState) {
  add_many(3);
  add_many(2, {.delay = 1h});
  add_many(1, {.priority = 1});
  const auto one = emq({"status", name, "--json"}).json();
  const json expected{{"queue", name}, {"paused", false},       {"limited", false},
                      {"waiting", 3},  {"prioritized", 1},      {"active", 0},
                      {"delayed", 2},  {"waiting_children", 0}, {"completed", 0},
                      {"failed", 0},   {"schedulers", 0}};
  EXPECT_EQ(one, (json{{"queues", {expected}}}));
  const auto text = emq({"status", "{" + name + "}"}).out;
  EXPECT_NE(text.find(name), std::string::npos);
  EXPECT_NE(text.find("waiting-children"), std::string::npos);
  const auto all = emq({"status", "--json"}).json();
  bool listed = false;
  for (const auto& each : all.at("queues")) listed |= each == expected;
  EXPECT_TRUE(listed);
  set_meta("pause", "1");
  EXPECT_EQ(emq({"status", name, "--json"}).json().at("queues").at(0).at("paused"), true);
  EXPECT_NE(emq({"status", name}).out.find(name + " (paused)"), std::string::npos);
  ASSERT_TRUE(queue.resume());
  ASSERT_TRUE(queue.set_concurrency(3));
  EXPECT_EQ(emq({"status", name, "--json"}).json().at("queues").at(0).at("limited"), true);
  EXPECT_NE(emq({"status", name}).out.find(name + " (limited)"), std::string::npos);
}

TEST_F(Status, ForPrometheus) {
  add_many(3);
  ASSERT_TRUE(queue.pause());
  const auto gauges = emq({"status", name, "--prometheus"}).out;
  EXPECT_EQ(gauges.find("# HELP echomq_jobs "), 0U) << gauges;
  EXPECT_NE(gauges.find("\n# TYPE echomq_jobs gauge\n"), std::string::npos) << gauges;
  EXPECT_NE(gauges.find("\nechomq_jobs{queue=\"" + name + "\",state=\"waiting\"} 3\n"),
            std::string::npos)
      << gauges;
  EXPECT_NE(gauges.find("\nechomq_queue_paused{queue=\"" + name + "\"} 1\n"), std::string::npos)
      << gauges;
  EXPECT_EQ(emq({"status", name + ".none", "--prometheus"}).code, 5);
}

TEST_F(Status, LookingMakesNoQueue) {
  EXPECT_EQ(emq({"status", name}).code, 5);
  EXPECT_EQ(emq({"status", name, "--prometheus", "--json"}).code, 2);
  EXPECT_EQ(emq({"job", name, "x"}).code, 5);
  EXPECT_TRUE(dump_queue(redis, name).empty());
}

using EmqJob = EmqTest;

TEST_F(EmqJob, ShowsEveryField) {
  const std::string id = queue
                             .add("data", {.attempts = 3,
                                           .backoff = Backoff::fixed(5s, 0.5),
                                           .delay = 90s,
                                           .name = "send",
                                           .keep_failed = Keep{7, 60s}})
                             .value();
  const auto job = emq({"job", name, id, "--json"}).json();
  EXPECT_EQ(job.at("queue"), name);
  EXPECT_EQ(job.at("id"), id);
  EXPECT_EQ(job.at("branded"), brand_id(id).value());
  EXPECT_EQ(job.at("name"), "send");
  EXPECT_EQ(job.at("state"), "delayed");
  EXPECT_EQ(job.at("data"), "data");
  const json options{{"attempts", 3},
                     {"backoff", {{"type", "fixed"}, {"delay_ms", 5'000}, {"jitter", 0.5}}},
                     {"delay_ms", 90'000},
                     {"expires_in_ms", nullptr},
                     {"priority", 0},
                     {"lifo", false},
                     {"keep_completed", nullptr},
                     {"keep_failed", {{"count", 7}, {"age_s", 60}, {"bytes", 0}}},
                     {"deduplication", nullptr},
                     {"traceparent", ""},
                     {"tracestate", ""}};
  EXPECT_EQ(job.at("options"), options);
  EXPECT_EQ(job.at("due_ms").get<std::int64_t>(), job.at("added_ms").get<std::int64_t>() + 90'000);
  for (const char* field : {"processed_ms", "finished_ms", "result"})
    EXPECT_TRUE(job.at(field).is_null()) << field;
  for (const char* field : {"attempts_made", "attempts_started", "crashes"})
    EXPECT_EQ(job.at(field), 0) << field;

  const auto text = emq({"job", name, brand_id(id).value()});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const auto& part :
       {id, brand_id(id).value(), std::string("delayed"), std::string("fixed, 5000 ms, jitter 0.5"),
        std::string("in 1 min"), std::string("0 of 3 made"), std::string("7, for 1 min")})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
}

TEST_F(EmqJob, BytesThatAreNoTextDoNotReachTheTerminal) {
  const std::string binary = queue.add(std::string("\xff\x00\x01", 3)).value();
  const auto job = emq({"job", name, binary, "--json"}).json();
  EXPECT_TRUE(job.at("data").is_null());
  EXPECT_EQ(job.at("data_base64"), "/wAB");
  EXPECT_NE(emq({"job", name, binary}).out.find("/wAB"), std::string::npos);

  const std::string escape = queue
                                 .add(
                                     "a\x1b[31mb\xc2\x9b"
                                     "c\nd\te")
                                 .value();
  const auto text = emq({"job", name, escape}).out;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_NE(text.find("a\\x1b[31mb\\x9bc\n                d\te"), std::string::npos) << text;
  EXPECT_EQ(emq({"job", name, escape, "--json"}).json().at("data"),
            "a\x1b[31mb\xc2\x9b"
            "c\nd\te");

  const std::string large = queue.add(std::string(100'000, 'x')).value();
  EXPECT_LT(emq({"job", name, large}).out.size(), 6'000U);
  EXPECT_EQ(emq({"job", name, large, "--json"}).json().at("data").get<std::string>().size(),
            100'000U);
}

using EmqId = EmqTest;

TEST_F(EmqId, KnownPair) {
  EXPECT_EQ(emq({"id", "brand", "274557032793636864"}).out, "BAT0KHTOWnGLuC\n");
  const json parts{{"id", "274557032793636864"},
                   {"branded", "BAT0KHTOWnGLuC"},
                   {"time", "2026-01-27T15:11:37.641Z"},
                   {"unix_ms", kIdEpochMs + 65'459'497'641},
                   {"ms_since_2024", 65'459'497'641},
                   {"node", 0},
                   {"seq", 0}};
  EXPECT_EQ(emq({"id", "decode", "BAT0KHTOWnGLuC", "--json"}).json(), parts);
  EXPECT_EQ(emq({"id", "decode", "274557032793636864", "--json"}).json(), parts);
  EXPECT_NE(emq({"id", "decode", "BAT0KHTOWnGLuC"}).out.find("274557032793636864"),
            std::string::npos);
}

TEST_F(EmqId, OtherNamespacesAndOtherTextAreRefused) {
  const auto task = emq({"id", "decode", "TSK0KHTOWnGLuC"});
  EXPECT_EQ(task.code, 2);
  EXPECT_NE(task.err.find("TSK"), std::string::npos);
  for (const char* text : {"", "0123", "9223372036854775808", "BATzzzzzzzzzzz", "mail"})
    for (const char* verb : {"brand", "decode"})
      EXPECT_EQ(emq({"id", verb, text, "--json"}).error().at("code"), "invalid_name")
          << verb << " " << text;
}

TEST_F(EmqId, MintedIdsAreNew) {
  std::set<std::string> all;
  for (int i = 0; i < 2; ++i) {
    const auto minted = emq({"id", "mint", "--count", "50", "--json"}).json();
    for (const auto& id : minted.at("ids")) {
      EXPECT_TRUE(is_minted_id(id.get<std::string>()));
      all.insert(id);
    }
  }
  EXPECT_EQ(all.size(), 100U);
  EXPECT_EQ(emq({"id", "mint", "--branded"}).out.rfind("BAT", 0), 0U);
  EXPECT_EQ(emq({"id", "mint", "--count", "0"}).code, 2);
}

using EmqKeys = EmqTest;

TEST_F(EmqKeys, NamesTypesAndSlotsOfBothWires) {
  EmqHow nowhere;
  nowhere.environment = {{"EMQ_URL", "unix://" + file("nobody.sock")}};
  const auto list = emq({"keys", "orders", "--v1-prefix", "bull", "--json"}, nowhere).json();
  EXPECT_EQ(list.at("queue"), "orders");
  std::set<std::string> keys;
  for (const auto& row : list.at("keys")) {
    if (const auto& v2 = row.at("v2"); !v2.is_null()) {
      const auto parsed = parse_key(v2.at("key").get<std::string>());
      ASSERT_TRUE(parsed) << v2;
      EXPECT_EQ(v2.at("type"), redis_type(parsed->structure));
      EXPECT_EQ(v2.at("slot"), slot("{orders}"));
      keys.insert(v2.at("key"));
    }
    if (const auto& v1 = row.at("v1"); !v1.is_null()) {
      EXPECT_EQ(v1.at("key").get<std::string>().rfind("bull:orders:", 0), 0U);
      EXPECT_EQ(v1.at("slot"), slot(v1.at("key").get<std::string>()));
    }
  }
  EXPECT_EQ(keys.size(), kStructures.size());
  EXPECT_NE(emq({"keys", "orders"}, nowhere).out.find("emq:{orders}:waiting-children"),
            std::string::npos);
}

TEST_F(EmqKeys, KeysOfAJob) {
  const auto list = emq({"keys", name, "BAT0KHTOWnGLuC", "--json"}).json().at("keys");
  std::set<std::string> keys;
  for (const auto& row : list)
    if (!row.at("v2").is_null()) keys.insert(row.at("v2").at("key"));
  std::set<std::string> expected{job_key(name, "274557032793636864")};
  for (const auto sub : kSubs) expected.insert(job_key(name, "274557032793636864", sub));
  EXPECT_EQ(keys, expected);
  EXPECT_EQ(emq({"keys", name, "wait"}).code, 2);
  EXPECT_EQ(emq({"keys", "no blanks"}).code, 2);
}

}  // namespace
}  // namespace echomq::test
