// SPDX-License-Identifier: MIT
// emq probe and emq doctor, as a shell sees them.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

using Probe = EmqTest;

TEST_F(Probe, PrintsALineForEachScenarioAndATotal) {
  // A sanitizer makes minutes of it.
  const auto run = EmqProcess({"probe", "conformance", "--audit"}, how()).wait(5min);
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  const auto listed = emq({"probe", "conformance", "--list", "--json"}).json().at("scenarios");
  std::size_t lines = 0;
  for (const char c : run.out) lines += c == '\n' ? 1 : 0;
  EXPECT_EQ(lines, listed.size() + 1) << run.out;
  EXPECT_NE(run.out.find("\npassed   INV4 INV7  script job/finish: "), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find(" passed, 0 failed, "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("floor 6.2.0\n"), std::string::npos) << run.out;
}

TEST_F(Probe, TellsProgramsByJson) {
  const auto report = emq({"probe", "conformance", "--only", "order: ", "--json"}).json();
  EXPECT_EQ(report.at("passed"), 3);
  EXPECT_EQ(report.at("failed"), 0);
  EXPECT_EQ(report.at("scenarios").at(0).at("verdict"), "passed");
  EXPECT_EQ(report.at("scenarios").at(0).at("proves"), "R 5.1");
  EXPECT_EQ(report.at("needs").at(0).at("since"), report.at("floor"));
}

TEST_F(Probe, ExitCodesTellWhatWentWrong) {
  EXPECT_EQ(emq({"probe", "conformance", "--only", "nothing like that"}).code, 2);
  EXPECT_EQ(emq({"probe", "conformance", "--url", "unix:///nowhere/emq.sock"}).code, 3);
  EXPECT_EQ(emq({"probe"}).code, 2);
  const TestServer lacking({.cluster = false, .extra = {"--rename-command", "XTRIM", ""}});
  EXPECT_EQ(
      emq({"probe", "conformance", "--only", "server: ", "--url", lacking.administrators_url()})
          .code,
      1);
}

// Whatever it was at, it leaves neither queues nor a server that takes no adds.
TEST_F(Probe, InterruptedInTheMiddleItLeavesNoKeysBehind) {
  const TestServer target({.cluster = false});
  auto owner = target.connect();
  EmqProcess probe({"probe", "conformance", "--alone", "--url", target.administrators_url()},
                   how());
  ASSERT_TRUE(eventually([&] { return probe.out().find("script job/") != std::string::npos; }, 30s))
      << probe.out() << probe.err();
  probe.signal(SIGINT);
  const auto run = probe.wait(30s);
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_NE(run.err.find("stopped at \""), std::string::npos) << run.err;
  EXPECT_EQ(run.out.find("\nfailed "), std::string::npos) << run.out;
  EXPECT_EQ(show(owner({"KEYS", "*probe-*"})), "[]");
}

TEST_F(Probe, InterruptedWhileTheServerIsFullItPutsMaxmemoryBack) {
  const TestServer target({.cluster = false});
  auto owner = target.connect();
  owner({"CONFIG", "SET", "maxmemory", "123456789"});
  const auto limit = [&owner] { return owner({"CONFIG", "GET", "maxmemory"}).items.at(1).text; };
  bool seen = false;
  // The scenario takes some milliseconds, which a busy machine may not show on the first try.
  for (int attempt = 0; attempt < 50 && !seen; ++attempt) {
    EmqProcess probe({"probe", "conformance", "--alone", "--only", "full server", "--url",
                      target.administrators_url()},
                     how());
    seen = eventually([&] { return limit() == "1" || !probe.out().empty(); }, 30s) &&
           probe.out().empty();
    if (seen) probe.signal(SIGINT);
    const auto run = probe.wait(30s);
    EXPECT_NE(run.code, -1);
    ASSERT_EQ(limit(), "123456789") << run.out << run.err;
  }
  EXPECT_TRUE(seen);
  EXPECT_EQ(show(owner({"KEYS", "*probe-*"})), "[]");
}

TEST_F(Probe, ShowsADispatch) {
  const auto run = emq({"probe", "dispatch"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("   > EVALSHA "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("   < NOSCRIPT "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("   > EVAL \"-- queue/counts of echomq:2.0.0...\" ("), std::string::npos)
      << run.out;
  EXPECT_EQ(emq({"probe", "dispatch", "--json"}).json().at("exchanges").size(), 3U);
}

}  // namespace
}  // namespace echomq::test
