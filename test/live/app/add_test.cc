// SPDX-License-Identifier: MIT
// emq add: what it puts into a queue, and what it refuses without putting anything there.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/dump.h"
#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;
using EmqAdd = EmqTest;

std::string first_line(const EmqRun& run) { return run.out.substr(0, run.out.find('\n')); }

TEST_F(EmqAdd, DataIsBytesAsGiven) {
  for (const std::string data : {"to: you", "", "{}", "[1,2]", "[]", "\"quoted\"", "  blanks ",
                                 "two\nlines", "%s\\n", "\xff\xfe", "status"}) {
    const auto run = emq({"add", name, "n", data});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(info(first_line(run)).data, data);
  }
  const auto dash = emq({"add", name, "n", "--", "--stdin"});
  EXPECT_EQ(info(first_line(dash)).data, "--stdin") << dash.err;
  EXPECT_EQ(info(first_line(emq({"add", name, "n"}))).data, "");
}

TEST_F(EmqAdd, OptionsReachTheJob) {
  const auto run = emq({"add", name, "send", "x", "--delay", "2h", "--attempts", "7", "--backoff",
                        "exponential:3s,0.25", "--id", "daily", "--keep-completed", "10,1h,2MiB",
                        "--expires", "3h", "--keep-failed", "all"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "daily\n");
  const auto job = info("daily");
  EXPECT_EQ(job.name, "send");
  EXPECT_EQ(job.state, JobState::delayed);
  EXPECT_EQ(job.options.delay, 2h);
  EXPECT_EQ(job.options.attempts, 7U);
  EXPECT_EQ(job.options.backoff.kind, Backoff::Kind::exponential);
  EXPECT_EQ(job.options.backoff.delay, 3s);
  EXPECT_EQ(job.options.backoff.jitter, 0.25);
  ASSERT_TRUE(job.options.keep_completed && job.options.keep_failed);
  EXPECT_EQ(job.options.keep_completed->count, 10);
  EXPECT_EQ(job.options.keep_completed->age, 1h);
  EXPECT_EQ(job.options.keep_completed->bytes, 2'097'152);
  EXPECT_EQ(job.options.expires_in, 3h);
  EXPECT_LT(job.options.keep_failed->count, 0);
  EXPECT_EQ(job.options.keep_failed->age, 0s);

  const auto urgent = info(first_line(emq({"add", name, "n", "x", "--priority", "3"})));
  EXPECT_EQ(urgent.state, JobState::prioritized);
  EXPECT_EQ(urgent.options.priority, 3U);
  EXPECT_TRUE(info(first_line(emq({"add", name, "n", "x", "--lifo"}))).options.lifo);
}

TEST_F(EmqAdd, WhatIsNotConfirmedIsToldApartFromWhatIsNotAdded) {
  ASSERT_TRUE(queue.open());
  const auto without_file = emq({"add", name, "n", "x", "--fsync"});
  EXPECT_EQ(without_file.code, 1) << without_file.err;
  EXPECT_NE(without_file.err.find("config: "), std::string::npos) << without_file.err;
  EXPECT_EQ(counts().waiting, 0);
  const auto alone = emq({"add", name, "n", "x", "--replicas", "1", "--confirm-timeout", "50ms"});
  EXPECT_EQ(alone.code, 1) << alone.err;
  EXPECT_NE(alone.err.find("not_durable: "), std::string::npos) << alone.err;
  EXPECT_EQ(counts().waiting, 1);
}

TEST_F(EmqAdd, BadValuesAreNamedAndNothingIsWritten) {
  const std::vector<std::vector<std::string>> options{{"--delay", "-5s"},
                                                      {"--replicas", "0"},
                                                      {"--replicas", "1001"},
                                                      {"--confirm-timeout", "soon"},
                                                      {"--delay", "5 s"},
                                                      {"--delay", "5y"},
                                                      {"--delay", "99999d"},
                                                      {"--delay", ""},
                                                      {"--delay", "99999999999999999999"},
                                                      {"--priority", "-1"},
                                                      {"--priority", "2097152"},
                                                      {"--priority", "high"},
                                                      {"--attempts", "0"},
                                                      {"--attempts", "1000001"},
                                                      {"--backoff", "sometimes"},
                                                      {"--backoff", "fixed:"},
                                                      {"--backoff", "fixed:1s,2"},
                                                      {"--backoff", "fixed:1s,nan"},
                                                      {"--keep-completed", "few"},
                                                      {"--keep-completed", "1h,10"},
                                                      {"--keep-completed", "2MiB,2MiB"},
                                                      {"--keep-completed", "2MB"},
                                                      {"--expires", "0"},
                                                      {"--keep-failed", "5,5"},
                                                      {"--keep-failed", "5,5ms"},
                                                      {"--id", ""}};
  for (const auto& option : options) {
    const auto run = emq({"add", name, "n", "x", option[0], option[1], "--json"});
    EXPECT_EQ(run.code, 2) << option[0] << " " << option[1];
    const auto error = run.error();
    EXPECT_EQ(error.at("code"), "invalid_argument");
    EXPECT_EQ(error.at("option"), option[0]);
    EXPECT_EQ(error.at("value"), option[1]);
    EXPECT_TRUE(error.contains("expected"));
  }
  for (const char* id : {"wait", "123", "a:b", "BAT0KHTOWnGLuC"})
    EXPECT_EQ(emq({"add", name, "n", "x", "--id", id, "--json"}).error().at("code"), "invalid_name")
        << id;
  const auto both = emq({"add", name, "n", "x", "--lifo", "--priority", "2", "--json"});
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(both.error().at("code"), "invalid_argument");
  EXPECT_EQ(emq({"add", name, std::string(256, 'n'), "--json"}).error().at("code"),
            "invalid_argument");
  // A client that connected may have made the queue; there is no job in it.
  const auto written = dump_queue(redis, name);
  EXPECT_TRUE(std::none_of(written.begin(), written.end(), [](const auto& entry) {
    const auto parsed = parse_key(entry.first);
    return parsed && parsed->kind == KeyKind::job;
  }));
}

TEST_F(EmqAdd, SecondAddOfAnIdIsADuplicate) {
  EXPECT_EQ(emq({"add", name, "n", "first", "--id", "once"}).code, 0);
  const auto text = emq({"add", name, "n", "second", "--id", "once"});
  EXPECT_EQ(text.code, 6);
  EXPECT_EQ(text.out, "");
  EXPECT_EQ(text.err.rfind("emq: duplicate: ", 0), 0U) << text.err;
  const auto json = emq({"add", name, "n", "third", "--id", "once", "--json"});
  EXPECT_EQ(json.code, 6);
  EXPECT_EQ(json.json(), (nlohmann::json{{"ids", nlohmann::json::array()},
                                         {"duplicates", {"once"}},
                                         {"deduplicated", nlohmann::json::array()}}));
  EXPECT_EQ(info("once").data, "first");
}

TEST_F(EmqAdd, StdinIsOneJobForEachLine) {
  EmqHow from;
  from.input = "{\"a\": 1}\n\n[2]\r\n  \t\n\"no end of line\"";
  const auto run = emq({"add", name, "n", "--stdin", "--priority", "4", "--json"}, from);
  ASSERT_EQ(run.code, 0) << run.err;
  const auto ids = run.json().at("ids");
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_EQ(info(ids[0]).data, "{\"a\": 1}");
  EXPECT_EQ(info(ids[1]).data, "[2]");
  EXPECT_EQ(info(ids[2]).data, "\"no end of line\"");
  EXPECT_EQ(info(ids[2]).options.priority, 4U);
  EXPECT_EQ(emq({"add", name, "n", "--stdin"}).code, 0);  // no lines, no jobs
  EXPECT_EQ(emq({"add", name, "n", "--stdin", "--quiet"}, from).out, "");
  EXPECT_EQ(counts().prioritized, 3);
  EXPECT_EQ(counts().waiting, 3);
}

TEST_F(EmqAdd, WrongLineOfAFileAddsNothing) {
  EmqHow from;
  for (int i = 1; i <= 12'000; ++i) from.input += std::to_string(i) + "\n";
  from.input += "not json\n";
  const auto run = emq({"add", name, "n", "--stdin", "--json"}, from);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.error().at("code"), "encoding");
  EXPECT_EQ(run.error().at("line"), "12001");
  EXPECT_EQ(run.error().at("added"), "0");
  EXPECT_EQ(run.json().at("ids").size(), 0U);
  EXPECT_EQ(error_of(queue.counts()).code, ErrorCode::not_found);
}

TEST_F(EmqAdd, WrongLineOfAPipeTellsWhatWentBefore) {
  EmqHow from;
  from.input_is = EmqHow::Input::pipe;
  for (int i = 1; i <= 12'000; ++i) from.input += std::to_string(i) + "\n";
  from.input += "not json\n";
  const auto run = emq({"add", name, "n", "--stdin", "--json"}, from);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.error().at("line"), "12001");
  EXPECT_EQ(run.error().at("added"), "10000");
  EXPECT_EQ(run.json().at("ids").size(), 10'000U);
  EXPECT_EQ(counts().waiting, 10'000);
}

TEST_F(EmqAdd, LineWithoutEndIsRefusedBeforeItFillsTheMemory) {
  EmqHow from;
  from.input_is = EmqHow::Input::pipe;
  from.input = "1\n" + std::string(8U << 20, '7');
  const auto run = emq({"add", name, "n", "--stdin", "--json"}, from);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.error().at("code"), "too_large");
  EXPECT_EQ(run.error().at("line"), "2");
}

}  // namespace
}  // namespace echomq::test
