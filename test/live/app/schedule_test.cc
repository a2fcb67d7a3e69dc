// SPDX-License-Identifier: MIT
// emq schedule: what it makes, shows, foretells and refuses.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/emq_run.h"

namespace echomq::test {
namespace {

using ScheduleVerb = EmqTest;

TEST_F(ScheduleVerb, NextNeedsNoServer) {
  EmqHow nowhere;
  nowhere.environment = {{"EMQ_URL", "unix:///nobody/there.sock"}};
  const auto run = emq({"schedule", "next", "30 2 * * *", "--tz", "Europe/Berlin", "--from",
                        "2026-03-28", "--count", "3"},
                       nowhere);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out,
            "2026-03-28T02:30:00+01:00  2026-03-28T01:30:00.000Z\n"
            "2026-03-29T03:00:00+02:00  2026-03-29T01:00:00.000Z\n"
            "2026-03-30T02:30:00+02:00  2026-03-30T00:30:00.000Z\n");
  EXPECT_EQ(
      emq({"schedule", "next", "@monthly", "--from", "2026-01-15T10:00Z", "--count", "2"}, nowhere)
          .out,
      "2026-02-01T00:00:00.000Z\n2026-03-01T00:00:00.000Z\n");
  EXPECT_EQ(emq({"schedule", "next", "--every", "15m", "--offset", "3m", "--from",
                 "2026-05-04T09:10:00Z", "--count", "1"},
                nowhere)
                .out,
            "2026-05-04T09:18:00.000Z\n");
  const auto shown =
      emq({"schedule", "next", "0 9 * * 1-5", "--count", "2", "--from", "1767225600000", "--json"},
          nowhere)
          .json();
  EXPECT_EQ(shown.at("pattern"), "0 9 * * 1-5");
  EXPECT_EQ(shown.at("next").size(), 2U);
  EXPECT_EQ(shown.at("next").at(0).at("utc"), "2026-01-01T09:00:00.000Z");
  EXPECT_EQ(shown.at("next").at(0).at("ms"), 1'767'258'000'000);
  EXPECT_EQ(emq({"schedule", "next", "@daily"}, nowhere).code, 0);
}

TEST_F(ScheduleVerb, ABadPatternNamesTheFieldAndThePosition) {
  const auto run = emq({"schedule", "next", "0 25 * * *"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err,
            "emq: invalid_argument: the cron pattern \"0 25 * * *\" has \"25\" at byte 3 (hour); "
            "expected 0 to 23\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"@daily", "--tz", "Europe/Atlantis"},
                                             {"@daily", "--every", "5m"},
                                             {},
                                             {"--every", "5ms"},
                                             {"--every", "5m", "--offset", "6m"},
                                             {"@daily", "--count", "0"},
                                             {"@daily", "--from", "2026-02-30"},
                                             {"@daily", "--from", "tomorrow"},
                                             {"@daily", "--start", "2026-02-03T4:5Z"},
                                             {"0 0 30 2 *"}}) {
    std::vector<std::string> line{"schedule", "next"};
    line.insert(line.end(), words.begin(), words.end());
    const auto refused = emq(line);
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_EQ(refused.err.rfind("emq: invalid_argument: ", 0), 0U) << refused.err;
  }
}

TEST_F(ScheduleVerb, AddShowListPauseResumeRemove) {
  const std::vector<std::string> add{
      "schedule", "add",     name,          "digest", "send",
      "to: all",  "--cron",  "0 9 * * 1-5", "--tz",   "Europe/Berlin",
      "--missed", "all:3",   "--overlap",   "skip",   "--attempts",
      "4",        "--limit", "9",           "--end",  "2090-01-01"};
  auto run = emq(add);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.rfind("next 20", 0), 0U) << run.out;
  EXPECT_EQ(emq(add).out.rfind("it is so already; next 20", 0), 0U);
  EXPECT_EQ(emq({"schedule", "add", name, "quick", "ping", "--every", "1h", "--immediately"}).code,
            0);
  auto json_add = add;
  json_add.emplace_back("--json");
  const auto added = emq(json_add).json();
  EXPECT_EQ(added.at("changed"), false);

  const auto shown = emq({"schedule", "show", name, "digest", "--json"}).json();
  EXPECT_EQ(shown.at("state"), "on");
  EXPECT_EQ(shown.at("next_ms"), added.at("next_ms"));
  EXPECT_EQ(shown.at("schedule").at("pattern"), "0 9 * * 1-5");
  EXPECT_EQ(shown.at("schedule").at("tz"), "Europe/Berlin");
  EXPECT_EQ(shown.at("schedule").at("missed"), "all:3");
  EXPECT_EQ(shown.at("schedule").at("overlap"), "skip");
  EXPECT_EQ(shown.at("schedule").at("limit"), 9);
  EXPECT_EQ(shown.at("schedule").at("end_ms"), 3'786'912'000'000);
  EXPECT_EQ(shown.at("name"), "send");
  EXPECT_EQ(shown.at("data"), "to: all");
  EXPECT_EQ(shown.at("options").at("attempts"), 4);
  EXPECT_NE(emq({"schedule", "show", name, "digest"}).out.find("0 9 * * 1-5 (Europe/Berlin)"),
            std::string::npos);

  const auto listed = emq({"schedule", "list", name, "--json"}).json().at("schedulers");
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed.at(0).at("id"), "quick") << "what is due first stands in front";
  const auto table = emq({"schedule", "list", name}).out;
  EXPECT_NE(table.find("every 1 h"), std::string::npos) << table;
  const auto status = emq({"status", name, "--json"}).json();
  EXPECT_EQ(status.at("queues").at(0).at("schedulers"), 2);
  EXPECT_NE(emq({"status", name}).out.find("schedulers"), std::string::npos);

  EXPECT_EQ(emq({"schedule", "pause", name, "digest"}).code, 0);
  EXPECT_EQ(emq({"schedule", "show", name, "digest", "--json"}).json().at("state"), "paused");
  EXPECT_EQ(emq({"schedule", "resume", name, "digest", "--json"}).json().at("next_ms"),
            added.at("next_ms"));
  EXPECT_EQ(emq({"schedule", "remove", name, "digest"}).code, 0);
  EXPECT_EQ(emq({"schedule", "show", name, "digest"}).code, 5);
  EXPECT_EQ(emq({"schedule", "list", "never-" + name}).code, 5);
  EXPECT_EQ(emq({"schedule", "add", name, "a:b", "ping", "--every", "1h"}).code, 2);
  EXPECT_EQ(
      emq({"schedule", "add", name, "a", "ping", "--every", "1h", "--missed", "all:101"}).code, 2);
  EXPECT_EQ(emq({"schedule", "add", name, "a", "ping", "--every", "1h", "--overlap", "x"}).code, 2);
  EXPECT_EQ(emq({"schedule", "add", name, "a", "ping"}).code, 2);
}

TEST_F(ScheduleVerb, ShowTellsTheOptionsOfTheTemplate) {
  const auto added = emq({"schedule", "add", name, "digest", "send", "--every", "1h", "--attempts",
                          "4", "--backoff", "fixed:5s", "--priority", "7", "--keep-completed", "10",
                          "--keep-failed", "3", "--expires", "30m"});
  ASSERT_EQ(added.code, 0) << added.err;
  const auto options = emq({"schedule", "show", name, "digest", "--json"}).json().at("options");
  EXPECT_EQ(options.at("attempts"), 4);
  EXPECT_EQ(options.at("backoff").at("type"), "fixed");
  EXPECT_EQ(options.at("backoff").at("delay_ms"), 5'000);
  EXPECT_EQ(options.at("priority"), 7);
  EXPECT_EQ(options.at("keep_completed").at("count"), 10);
  EXPECT_EQ(options.at("keep_failed").at("count"), 3);
  EXPECT_EQ(options.at("expires_in_ms"), 1'800'000);
  const auto text = emq({"schedule", "show", name, "digest"}).out;
  for (const std::string line :
       {"attempts        4\n", "backoff         fixed, 5000 ms\n", "priority        7\n",
        "expires in      30 min\n", "keep completed  10\n", "keep failed     3\n"})
    EXPECT_NE(text.find("\n" + line), std::string::npos) << line << text;
}

}  // namespace
}  // namespace echomq::test
