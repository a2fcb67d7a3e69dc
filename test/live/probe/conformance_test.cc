// SPDX-License-Identifier: MIT
// The conformance probe: it passes on a good server of any kind, leaves nothing behind, and fails
// on a server that is not what it must be.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "echomq/echomq.h"
#include "echomq/probe.h"
#include "echomq_scripts.h"
#include "support/dump.h"
#include "support/sanitizer.h"
#include "support/server.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

void expect_none_failed(const ConformanceReport& report) {
  for (const auto& scenario : report.scenarios)
    EXPECT_NE(scenario.verdict, Verdict::failed) << scenario.name << ": " << scenario.detail;
}

const Scenario& scenario_of(const ConformanceReport& report, const std::string& name) {
  for (const auto& scenario : report.scenarios)
    if (scenario.name == name) return scenario;
  throw std::runtime_error("no scenario is called " + name);
}

// What others run beside a test stretches its time, and not the work that is done for it: the
// processor time of this process and of the server.
class Effort {
 public:
  explicit Effort(RawClient& redis) : redis_(redis) {}
  [[nodiscard]] std::chrono::duration<double> so_far() const { return spent() - begin_; }

 private:
  [[nodiscard]] std::chrono::duration<double> spent() const {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    const auto seconds_of = [](const timeval& time) {
      return std::chrono::duration<double>(static_cast<double>(time.tv_sec) +
                                           static_cast<double>(time.tv_usec) / 1e6);
    };
    const auto info = redis_({"INFO", "cpu"}).text;
    const auto of_server = [&info](const std::string& field) {
      const auto at = info.find(field + ":");
      if (at == std::string::npos) throw std::runtime_error("INFO cpu tells no " + field);
      return std::chrono::duration<double>(std::stod(info.substr(at + field.size() + 1)));
    };
    return seconds_of(own.ru_utime) + seconds_of(own.ru_stime) + of_server("used_cpu_sys") +
           of_server("used_cpu_user");
  }

  RawClient& redis_;
  std::chrono::duration<double> begin_ = spent();
};

TEST(Conformance, INV2_INV4_PassesOnAServerOfItsOwnWithinAMinuteAndLeavesNothing) {
  const TestServer server;
  auto redis = server.connect();
  auto client = connect(server.url()).value();
  Queue<> mine(client, "mine");
  ASSERT_TRUE(mine.add("one"));
  const auto nodes = reserve_key(Reserve::nodes);
  auto before = dump_all(redis);
  const Effort effort(redis);
  const auto report = run_conformance(server.url(), {.audit = true, .alone = true}).value();
  const auto work = effort.so_far();
  auto after = dump_all(redis);
  expect_none_failed(report);
  EXPECT_EQ(report.scenarios.size(), conformance_scenarios().size());
  RecordProperty("took_ms", std::to_string(report.took.count()));
  EXPECT_GT(work.count(), 0.1);
  EXPECT_LT(work.count(), kSanitized ? 300 : 60) << "of " << report.took.count() << " ms";
  EXPECT_EQ(report.lua, "Lua 5.1");
  // It was a client, whose node id it has returned.
  EXPECT_EQ(before.erase(nodes), 1U);
  EXPECT_EQ(after.erase(nodes), 1U);
  EXPECT_EQ(difference(before, after), "");
  if (least_privilege_wanted()) return;  // which denies MONITOR, CONFIG and the like
  for (const auto& scenario : report.scenarios)
    EXPECT_EQ(scenario.verdict, Verdict::passed) << scenario.name << ": " << scenario.detail;
}

TEST(Conformance, OnlyWhatIsNamedRuns) {
  const auto report = run_conformance(shared_server().url(), {.only = "order: "}).value();
  EXPECT_EQ(report.scenarios.size(), 3U);
  expect_none_failed(report);
  const auto none = run_conformance(shared_server().url(), {.only = "no such scenario"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(*none.error().field("value"), "no such scenario");
}

TEST(Conformance, HasAScenarioForEachScriptAndNoNameTwice) {
  std::set<std::string> names;
  for (const auto& name : conformance_scenarios()) EXPECT_TRUE(names.insert(name).second) << name;
  for (const auto* const script : scripts::all())
    EXPECT_TRUE(names.contains("script " + std::string(script->name))) << script->name;
}

// A server that lacks a command is told so by name, and what needs it fails.
TEST(Conformance, WhatTheServerLacksIsReported) {
  const TestServer server({.cluster = false, .extra = {"--rename-command", "XTRIM", ""}});
  const auto url = server.administrators_url();
  const auto told = run_conformance(url, {.only = "server: it knows"}).value();
  EXPECT_FALSE(told.passed());
  EXPECT_EQ(told.scenarios.at(0).detail, "the server has no XTRIM, which queue/trim says");
  const auto used = run_conformance(url, {.only = "script queue/trim"}).value();
  EXPECT_EQ(used.scenarios.at(0).verdict, Verdict::failed);
}

// What only some features need is told, with what is lost, and is no failure.
TEST(Conformance, AFeatureThatTheServerLacksIsNamedWithoutFailing) {
  const auto detail_on = [](const TestServer& server) {
    const auto report =
        run_conformance(server.administrators_url(), {.only = "server: it knows"}).value();
    EXPECT_TRUE(report.passed()) << report.scenarios.at(0).detail;
    return report.scenarios.at(0).detail;
  };
  const TestServer lacking({.cluster = false, .extra = {"--rename-command", "WAIT", ""}});
  const auto told = detail_on(lacking);
  EXPECT_NE(told.find("; it lacks WAIT (3.0.0): no adds confirmed by replicas"), std::string::npos)
      << told;
  const TestServer whole({.cluster = false});
  auto redis = whole.connect();
  const auto all = detail_on(whole);
  EXPECT_EQ(all.find("lacks WAIT ("), std::string::npos) << all;
  const bool has_waitaof = !redis({"COMMAND", "INFO", "WAITAOF"}).items.at(0).items.empty();
  EXPECT_EQ(all.find("lacks WAITAOF (7.2.0): no adds confirmed by the disk") == std::string::npos,
            has_waitaof)
      << all;
}

// What it may not do is no failure of the server.
TEST(Conformance, WhatIsDeniedIsNotRun) {
  const TestServer server({.cluster = false});
  auto redis = server.connect();
  const auto rules = acl_rules(acl_line({.user = "prober"}).value());
  std::vector<std::string> words{"ACL", "SETUSER", "prober", ">secret"};
  words.insert(words.end(), rules.begin(), rules.end());
  ASSERT_EQ(show(redis(words)), "OK");
  const auto report = run_conformance("unix://prober:secret@" + server.socket_path(),
                                      {.audit = true, .only = "audit: "})
                          .value();
  EXPECT_EQ(scenario_of(report, "audit: every key touched in a script was declared").verdict,
            Verdict::not_run);
  EXPECT_NE(scenario_of(report, "audit: an undeclared key is seen").detail.find("'monitor'"),
            std::string::npos);
  EXPECT_EQ(report.count(Verdict::not_run), 2U);
}

// Scripts that the server knows are called by EVALSHA; nothing is proven by those that were
// refused.
TEST(Conformance, WithoutEvalTheImpureScriptsAreNotSaidToBeSeen) {
  const TestServer server({.cluster = false});
  auto redis = server.connect();
  for (const auto* const script : scripts::all())
    ASSERT_EQ(show(redis({"SCRIPT", "LOAD", script->source})), script->sha1);
  ASSERT_EQ(show(redis({"ACL", "SETUSER", "prober", "on", ">secret", "~*", "+@all", "-eval"})),
            "OK");
  const auto url = "unix://prober:secret@" + server.socket_path();
  const auto impure = run_conformance(url, {.only = "purity: an impure script"}).value();
  EXPECT_EQ(impure.scenarios.at(0).verdict, Verdict::not_run) << impure.scenarios.at(0).detail;
  EXPECT_NE(impure.scenarios.at(0).detail.find("NOPERM"), std::string::npos)
      << impure.scenarios.at(0).detail;
  EXPECT_EQ(impure.lua, "Lua unknown");
  const auto lua = run_conformance(url, {.only = "server: its Lua"}).value();
  EXPECT_EQ(lua.scenarios.at(0).verdict, Verdict::not_run) << lua.scenarios.at(0).detail;
  const auto allowed =
      run_conformance(server.administrators_url(), {.only = "purity: an impure script"}).value();
  EXPECT_EQ(allowed.scenarios.at(0).detail, "2 of 2 seen");
}

// A key that does not hold the queue's name is seen only where all keys are compared.
TEST(Conformance, AKeyBesideTheQueueIsSeenAndWithoutAloneNotSaidToBeProven) {
  const TestServer server({.cluster = false});
  const auto url = server.administrators_url();
  const std::string only = "library: a round trip";
  const auto quiet = run_conformance(url, {.alone = true, .only = only}).value().scenarios.at(0);
  EXPECT_EQ(quiet.verdict, Verdict::passed) << quiet.detail;
  EXPECT_NE(quiet.detail.find("no others were made"), std::string::npos) << quiet.detail;
  const std::jthread stranger([&server](const std::stop_token& stop) {
    auto redis = server.connect();
    for (int i = 0; !stop.stop_requested(); ++i) redis({"SET", "strange:" + std::to_string(i), ""});
  });
  const auto seen = run_conformance(url, {.alone = true, .only = only}).value().scenarios.at(0);
  EXPECT_EQ(seen.verdict, Verdict::failed) << seen.detail;
  EXPECT_NE(seen.detail.find("strange:"), std::string::npos) << seen.detail;
  const auto shared = run_conformance(url, {.only = only}).value().scenarios.at(0);
  EXPECT_EQ(shared.verdict, Verdict::passed) << shared.detail;
  EXPECT_NE(shared.detail.find("not proven"), std::string::npos) << shared.detail;
}

TEST(Conformance, WhoeverRunsItMayStopItBetweenAndWithinScenarios) {
  const TestServer server({.cluster = false});
  auto redis = server.connect();
  int asked = 0;
  std::size_t told = 0;
  // The scenario is a loop over two lives of a queue.
  const auto report =
      run_conformance(server.administrators_url(), {.only = "purity: a random life",
                                                    .on_scenario = [&](const auto&) { ++told; },
                                                    .stopped = [&] { return ++asked > 20; }});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::closed);
  EXPECT_EQ(*report.error().field("scenario"), "purity: a random life said again leaves the same");
  EXPECT_EQ(told, 0U);
  EXPECT_LT(asked, 30);
  EXPECT_EQ(show(redis({"KEYS", "*probe-*"})), "[]");
}

TEST(Conformance, AServerThatIsNotThereIsAnError) {
  const auto report = run_conformance("unix:///nowhere/emq.sock");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::unavailable);
}

TEST(Dispatch, TakesTwoCommandsOnceAndOneFromThenOn) {
  const auto shown = show_dispatch(shared_server().url()).value();
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_EQ(shown[0].sent.substr(0, 8), "EVALSHA ");
  EXPECT_EQ(shown[0].answered.substr(0, 9), "NOSCRIPT ");
  EXPECT_EQ(shown[1].sent.substr(0, 5), "EVAL ");
  EXPECT_EQ(shown[2].sent, shown[0].sent);
  EXPECT_EQ(shown[2].answered, shown[1].answered);
}

TEST(ServerNeeds, AreAllKnownAndTheFloorIsBelowWhatTheClientAsksFor) {
  const auto needs = server_needs();
  ASSERT_GT(needs.size(), 40U);
  for (const auto& need : needs) EXPECT_NE(need.since, "unknown") << need.what;
  EXPECT_EQ(needs.front().since.substr(0, 2), "6.");
}

}  // namespace
}  // namespace echomq::test
