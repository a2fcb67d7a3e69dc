// SPDX-License-Identifier: MIT
// `emq probe fleet`: the runtimes of this tree work each other's jobs (INV6).
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/emq_run.h"

namespace echomq::test {
namespace {

using namespace std::chrono_literals;

const std::string kNode = std::string(ECHOMQ_SOURCE_DIR) + "/clients/node";

class FleetVerb : public EmqTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kNode + "/dist/index.js"))
      GTEST_SKIP() << "clients/node is not built: its packages could not be installed";
  }
  EmqRun fleet(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"probe", "fleet", "--node", kNode});
    return EmqProcess(arguments, how()).wait(120s);
  }
};

TEST_F(FleetVerb, Invariant6EachRuntimeWorksTheJobsOfTheOther) {
  const auto run = fleet({"--json"});
  const auto json = run.json();
  std::map<std::pair<std::string, std::string>, int> passed;
  for (const auto& line : json.at("scenarios")) {
    EXPECT_NE(line.at("verdict"), "failed") << line;
    if (line.at("verdict") == "passed") ++passed[{line.at("adds"), line.at("works")}];
  }
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GE((passed[{"c++", "node"}]), 17);
  EXPECT_GE((passed[{"node", "c++"}]), 16);
  std::set<std::string> names;
  for (const auto& runtime : json.at("runtimes")) {
    names.insert(runtime.at("name"));
    EXPECT_EQ(runtime.at("wire"), "echomq:2.0.0");
    EXPECT_EQ(runtime.at("bundle"), json.at("runtimes").at(0).at("bundle"));
  }
  EXPECT_EQ(names, (std::set<std::string>{"c++", "node"}));
  // What was not run is said, and what was is not among it.
  const auto not_run = json.at("not_run").get<std::set<std::string>>();
  EXPECT_TRUE(not_run.contains("Dragonfly") && not_run.contains("other runtimes"));
  const auto family = json.at("server").get<std::string>();
  EXPECT_FALSE(not_run.contains(family.substr(0, family.find(' ')))) << family;
  // Nothing is left of the scenarios' queues.
  for (const auto& used : client.queues().value())
    EXPECT_FALSE(used.starts_with("probe-fleet-")) << used;
}

TEST_F(FleetVerb, ALineForPeopleAndExitCodes) {
  const auto run = fleet({"--only", "own id"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("passed   c++  -> node  an own id is once: "), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("2 passed, 0 failed, 0 not run\n"), std::string::npos) << run.out;
}

TEST_F(FleetVerb, AMemberThatCannotBeStartedIsRefused) {
  const std::vector<std::string> words{"probe", "fleet", "--json", "--node", file("nowhere")};
  const auto run = emq(words);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.error().at("option"), "--node");
}

}  // namespace
}  // namespace echomq::test
