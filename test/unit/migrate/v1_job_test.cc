// SPDX-License-Identifier: MIT
// A v1 job's fields in their new form, legacy forms among them; what is not understood is said.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "job/encode.h"
#include "job/record.h"
#include "migrate/v1_job.h"

namespace echomq::inline v2::migrate {
namespace {

using nlohmann::json;

const Unit kUnit("bull", {{"orders", "orders"}, {"mail", "post"}});

class MigratedJob : public testing::Test {
 protected:
  V1Hash hash{{"name", "send"},
              {"data", "{\"a\":1}"},
              {"opts", "{\"attempts\":0}"},
              {"timestamp", "1700000000000"}};
  std::string id = "7";
  JobState state = JobState::waiting;
  std::string place{};

  std::map<std::string, std::string> mapped() {
    auto fields = map_job(kUnit, {state, place}, id, hash);
    EXPECT_TRUE(fields) << (fields ? "" : fields.error().detail);
    if (!fields) return {};
    return {fields->begin(), fields->end()};
  }
  std::string refused() {
    const auto fields = map_job(kUnit, {state, place}, id, hash);
    return fields ? "it was understood" : fields.error().detail;
  }
  JobOptions options_of(const std::string& opts) {
    hash["opts"] = opts;
    return job::decode_opts(std::string(job::read_head(mapped().at("head"))->opts));
  }
};

TEST_F(MigratedJob, APlainOneTakesTwoFields) {
  const auto fields = mapped();
  EXPECT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields.at("head"), "1700000000000:4:send");
  EXPECT_EQ(fields.at("data"), "{\"a\":1}");
}

TEST_F(MigratedJob, WhatItsOptionsLoseIsSaid) {
  const auto said = [this](const std::string& opts) {
    hash["opts"] = opts;
    Changes changes;
    EXPECT_TRUE(map_job(kUnit, {state, place}, id, hash, &changes)) << opts;
    std::string text;
    for (const auto& change : changes) text += change.kind + ": " + change.text + "\n";
    return text;
  };
  EXPECT_EQ(said(R"({"attempts":3,"backoff":{"type":"fixed","delay":5},"removeOnFail":true,)"
                 R"("repeat":{"every":5},"delay":1})"),
            "");
  EXPECT_EQ(
      said(R"({"backoff":{"type":"mine","delay":5}})"),
      "backoff: its backoff is of the type \"mine\", which only v1's workers know: here it is "
      "a fixed delay\n");
  EXPECT_EQ(said(R"({"removeOnComplete":"yes"})"),
            "removeOnComplete: its removeOnComplete is \"yes\", which says nothing here: its "
            "worker's rule holds\n");
  EXPECT_EQ(said(R"({"kl":3,"sizeLimit":10})"),
            "keepLogs: its keepLogs is 3, which is not looked at here: all of its log lines are "
            "kept\nsizeLimit: its sizeLimit is 10, which is not looked at here\n");
  EXPECT_EQ(said(R"({"one":1,"two":2})"), "options: its option one has no effect here\n");
  EXPECT_NE(said(R"({"attempts":"many"})").find("here it has 1 attempts"), std::string::npos);
  EXPECT_NE(said(R"({"de":{"id":""}})").find("it is not deduplicated"), std::string::npos);
}

TEST_F(MigratedJob, OptionsKeepTheirMeaning) {
  const auto options =
      options_of(R"({"attempts":3,"backoff":{"type":"exponential","delay":10,"jitter":0.5},)"
                 R"("removeOnComplete":true,"removeOnFail":{"age":3600,"count":5},)"
                 R"("de":{"id":"z","ttl":500,"extend":true}})");
  EXPECT_EQ(options.attempts, 3U);
  EXPECT_EQ(options.backoff.kind, Backoff::Kind::exponential);
  EXPECT_EQ(options.backoff.delay.count(), 10);
  EXPECT_EQ(options.backoff.jitter, 0.5);
  EXPECT_EQ(options.keep_completed, Keep::none());
  EXPECT_EQ(options.keep_failed, (Keep{5, std::chrono::seconds(3600)}));
  ASSERT_TRUE(options.deduplication);
  EXPECT_EQ(options.deduplication->id, "z");
  EXPECT_TRUE(options.deduplication->extend);
  EXPECT_EQ(mapped().at("deid"), "z");
  EXPECT_FALSE(mapped().contains("v1"));
}

TEST_F(MigratedJob, OlderFormsOfOptions) {
  EXPECT_EQ(options_of(R"({"backoff":250})").backoff.delay.count(), 250);
  EXPECT_EQ(options_of(R"({"removeOnComplete":10})").keep_completed->count, 10);
  EXPECT_EQ(options_of(R"({"removeOnFail":false})").keep_failed, Keep::all());
  EXPECT_EQ(options_of(R"({"removeOnFail":{"age":60}})").keep_failed->count, -1);
  EXPECT_EQ(options_of("").attempts, 1U);
  EXPECT_EQ(options_of("[]").attempts, 1U) << "an empty object as Lua writes it";
}

TEST_F(MigratedJob, WhatHasNoFieldHereIsKept) {
  hash["opts"] = R"({"kl":5,"sizeLimit":100,"backoff":{"type":"mine","delay":7},"jobId":"7"})";
  hash["stacktrace"] = R"(["Error: no"])";
  hash["rjk"] = "nightly";
  id = "a b";
  const auto rest = json::parse(mapped().at("v1"));
  EXPECT_EQ(rest,
            (json{{"id", "a b"},
                  {"opts",
                   {{"kl", 5}, {"sizeLimit", 100}, {"backoff", {{"type", "mine"}, {"delay", 7}}}}},
                  {"stacktrace", R"(["Error: no"])"},
                  {"rjk", "nightly"}}));
  hash["stacktrace"] = "[]";
  EXPECT_FALSE(json::parse(mapped().at("v1")).contains("stacktrace"));
}

TEST_F(MigratedJob, RunsLeaveTheirCounts) {
  hash.insert({{"ats", "3"},
               {"atm", "2"},
               {"stc", "1"},
               {"processedOn", "1700000000500"},
               {"pb", "worker:1"}});
  EXPECT_EQ(mapped().at("run"), "3:2:1:1700000000500:0::worker:1");
  state = JobState::completed;
  hash.insert({{"finishedOn", "1700000000900"}, {"returnvalue", "{\"ok\":true}"}});
  EXPECT_EQ(mapped().at("run"), "3:2:1:1700000000500:1700000000900::worker:1");
  EXPECT_EQ(mapped().at("returnvalue"), "{\"ok\":true}");
}

TEST_F(MigratedJob, OlderCountsAndMissingFields) {
  hash = {{"data", "1"},
          {"attemptsMade", "2"},
          {"stalledCounter", "1"},
          {"delay", "undefined"},
          {"priority", "null"}};
  const auto fields = mapped();
  EXPECT_EQ(fields.at("run"), "2:2:1:0:0::");
  EXPECT_EQ(fields.at("head"), "0:0:");
  EXPECT_EQ(fields.size(), 3U);
}

TEST_F(MigratedJob, ChildrenFindTheirParents) {
  hash.insert({{"parentKey", "bull:mail:p 1"},
               {"parent", R"({"id":"p 1","queueKey":"bull:mail","idof":true})"}});
  const auto fields = mapped();
  EXPECT_EQ(fields.at("edge"), "1:i:post:" + map_id("p 1"));
  const auto head = fields.at("head");
  EXPECT_EQ(job::decode_stored(std::string(job::read_head(head)->opts)).parent,
            "post:" + map_id("p 1"));
  hash.erase("parentKey");
  EXPECT_EQ(mapped().at("edge"), "1:i:post:" + map_id("p 1"));
  hash["parent"] = R"({"id":"2","queueKey":"bull:mail"})";
  EXPECT_EQ(mapped().at("edge"), "1:f:post:2");
}

TEST_F(MigratedJob, OfAnotherUnitOnlyOneThatHasEndedIsMoved) {
  hash["parentKey"] = "bull:elsewhere:1";
  EXPECT_NE(refused().find("not migrated with it"), std::string::npos) << refused();
  state = JobState::completed;
  EXPECT_FALSE(mapped().contains("edge"));
  EXPECT_EQ(json::parse(mapped().at("v1")).at("parentKey"), "bull:elsewhere:1");
}

TEST_F(MigratedJob, PlacesAndDelays) {
  hash.insert({{"priority", "3"}, {"delay", "5000"}});
  place = "12884901889";
  const auto fields = mapped();
  EXPECT_EQ(fields.at("priority"), "3");
  EXPECT_EQ(fields.at("place"), "12884901889");
  EXPECT_EQ(fields.at("delay"), "5000");
  hash = {{"data", "1"}, {"opts", R"({"lifo":true})"}};
  place = "";
  EXPECT_EQ(mapped().at("lifo"), "1");
}

TEST_F(MigratedJob, WhatIsNotUnderstoodIsSaid) {
  hash["priority"] = "2097152";
  EXPECT_NE(refused().find("its priority is 2097152"), std::string::npos) << refused();
  hash["priority"] = "one";
  EXPECT_NE(refused().find("its priority is no number: \"one\""), std::string::npos) << refused();
  hash.erase("priority");
  hash["opts"] = "{";
  EXPECT_NE(refused().find("no JSON object"), std::string::npos) << refused();
  hash["opts"] = "{}";
  hash["defa"] = "child failed";
  EXPECT_NE(refused().find("is to fail"), std::string::npos) << refused();
  hash.erase("defa");
  hash["tm"] = "\xff";
  EXPECT_NE(refused().find("not UTF-8"), std::string::npos) << refused();
  hash.erase("tm");
  id = "meta";
  EXPECT_NE(refused().find("every v1 queue"), std::string::npos) << refused();
}

TEST_F(MigratedJob, FieldsArePackedAsScriptsReadThem) {
  EXPECT_EQ(packed({{"data", "a:b"}, {"x", ""}}), "2:4:3:dataa:b1:0:x");
}

}  // namespace
}  // namespace echomq::inline v2::migrate
