// SPDX-License-Identifier: MIT
// emq up, and the other verbs on a private server.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "echomq/embedded.h"
#include "support/deadline.h"
#include "support/emq_run.h"
#include "support/wanted.h"

namespace echomq::test {
namespace {

class Up : public EmqTest {
 protected:
  void SetUp() override {
    if (!plain_servers_wanted()) GTEST_SKIP() << kServersOfItsOwn;
  }
  // `emq up --json` in the folder, and what it printed once the server ran.
  nlohmann::json begin(EmqProcess& up) {
    EXPECT_TRUE(eventually([&up] { return up.out().ends_with("\n"); })) << up.err();
    return nlohmann::json::parse(up.out());
  }
  static bool runs(int pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

  const std::vector<std::string> line{"up", "--dir", folder.file("emq"), "--json"};
};

TEST_F(Up, RunsUntilASignal) {
  for (const int signal : {SIGTERM, SIGINT}) {
    EmqProcess up(line, how());
    const auto said = begin(up);
    EXPECT_EQ(said.at("dir"), folder.file("emq"));
    EXPECT_EQ(said.at("url"), Embedded::running_url(folder.file("emq")));
    EXPECT_TRUE(runs(said.at("pid")));
    up.signal(signal);
    const auto run = up.wait();
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_FALSE(runs(said.at("pid")));
    EXPECT_FALSE(Embedded::running_url(folder.file("emq")));
  }
}

TEST_F(Up, SaysHowToReachAndStopIt) {
  EmqProcess up({"up", "--dir", folder.file("emq")}, how());
  ASSERT_TRUE(eventually([&up] { return up.out().find("Ctrl-C") != std::string::npos; }))
      << up.err();
  EXPECT_EQ(up.out(), "unix://" + folder.file("emq") + "/emq.sock\ndata in " + folder.file("emq") +
                          "\nstop with Ctrl-C\n");
  up.signal(SIGTERM);
  EXPECT_EQ(up.wait().code, 0);
}

TEST_F(Up, SecondOwnerIsTurnedAway) {
  EmqProcess up(line, how());
  const auto said = begin(up);
  const auto second = emq(line);
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(second.error().at("code"), "embedded");
  EXPECT_EQ(second.error().at("url"), said.at("url"));
  up.signal(SIGTERM);
  EXPECT_EQ(up.wait().code, 0);
}

TEST_F(Up, ServerThatEndsByItselfIsReported) {
  EmqProcess up(line, how());
  ::kill(begin(up).at("pid").get<int>(), SIGKILL);
  const auto run = up.wait();
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.error().at("code"), "embedded");
  EXPECT_NE(run.error().at("detail").get<std::string>().find("server.log"), std::string::npos);
}

// Each verb by itself starts the server of the folder, and leaves the jobs to the next.
TEST_F(Up, VerbsNeedNoServer) {
  EmqHow embedded;
  embedded.environment = {{"EMQ_URL", "embedded:" + folder.file("emq")}};
  ASSERT_EQ(emq({"add", "mail", "send", "hello", "--id", "one"}, embedded).code, 0);
  EXPECT_FALSE(Embedded::running_url(folder.file("emq")));
  EXPECT_EQ(emq({"status", "--json"}, embedded).json().at("queues").at(0).at("waiting"), 1);
  EXPECT_EQ(emq({"work", "mail", "--exec", "tr a-z A-Z", "--drain"}, embedded).code, 0);
  EXPECT_EQ(emq({"job", "mail", "one", "--json"}, embedded).json().at("result"), "HELLO");
  // Where one runs, it is the one they use. The default folder is found without any url.
  EmqHow unset;
  unset.environment = {{"EMQ_URL", ""}};
  EmqProcess up({"up", "--json", "--fsync", "always"}, how(unset));
  const auto said = begin(up);
  EXPECT_EQ(emq({"add", "mail", "send", "again"}, unset).code, 0);
  EXPECT_EQ(Embedded::running_url(said.at("dir").get<std::string>()), said.at("url"));
  EXPECT_EQ(emq({"status", "mail", "--url", said.at("url")}).code, 0);
  up.signal(SIGTERM);
  EXPECT_EQ(up.wait().code, 0);
}

}  // namespace
}  // namespace echomq::test
