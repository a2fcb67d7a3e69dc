// SPDX-License-Identifier: MIT
// `emq probe fleet`: the runtimes of this tree work each other's jobs (INV6).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/emq_run.h"
#include "support/wanted.h"

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
  // A few scenarios are run on the other servers too, below.
  if (!plain_servers_wanted()) GTEST_SKIP() << "takes long, and is run on a plain server";
  const auto run = fleet({"--json"});
  const auto report = run.json();
  std::map<std::pair<std::string, std::string>, int> passed;
  for (const auto& line : report.at("scenarios")) {
    EXPECT_NE(line.at("verdict"), "failed") << line;
    if (line.at("verdict") == "passed") ++passed[{line.at("adds"), line.at("works")}];
  }
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GE((passed[{"c++", "node"}]), 18);
  EXPECT_GE((passed[{"node", "c++"}]), 16);
  std::set<std::string> names;
  for (const auto& runtime : report.at("runtimes")) {
    names.insert(runtime.at("name"));
    EXPECT_EQ(runtime.at("wire"), "echomq:2.0.0");
    EXPECT_EQ(runtime.at("bundle"), report.at("runtimes").at(0).at("bundle"));
  }
  EXPECT_EQ(names, (std::set<std::string>{"c++", "node"}));
  // What was not run is said, and what was is not among it.
  const auto not_run = report.at("not_run").get<std::set<std::string>>();
  EXPECT_TRUE(not_run.contains("Dragonfly") && not_run.contains("other runtimes"));
  const auto family = report.at("server").get<std::string>();
  EXPECT_FALSE(not_run.contains(family.substr(0, family.find(' ')))) << family;
  // Nothing is left of the scenarios' queues.
  for (const auto& used : client.queues().value())
    EXPECT_FALSE(used.starts_with("probe-fleet-")) << used;
}

TEST_F(FleetVerb, ALineForPeople) {
  const auto run = fleet({"--only", "is"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("passed   c++  -> node  an own id is once: "), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find(" passed, 0 failed, 0 not run\n"), std::string::npos) << run.out;
}

TEST_F(FleetVerb, ANameThatNoScenarioHasIsNoSuccess) {
  const auto run = fleet({"--only", "zzz", "--json"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.error().at("code"), "invalid_argument");
  EXPECT_EQ(run.error().at("value"), "zzz");
}

// What it would not do is not offered.
TEST_F(FleetVerb, OptionsOfTheConnectionThatItCannotPassOnAreRefused) {
  const std::vector<std::vector<std::string>> options{
      {"--allow-eviction"}, {"--v1-prefixes", "bull"}, {"--ca", "x.pem"}};
  for (const auto& option : options) {
    const auto run = fleet(option);
    EXPECT_EQ(run.code, 2) << option.front();
    EXPECT_NE(run.err.find(option.front()), std::string::npos) << run.err;
  }
}

TEST_F(FleetVerb, IdsThatADoubleCannotTellApartAreAddedByBothRuntimes) {
  const auto run = fleet({"--only", "ids are whole"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  for (const auto* const who : {"c++", "node"})
    EXPECT_NE(run.out.find("64 that " + std::string(who) + " minted, 8 up to 2^63-1 of node"),
              std::string::npos)
        << run.out;
}

// A member of the node runtime whose handlers return what they were given as JSON, not as it is.
TEST_F(FleetVerb, AMemberThatChangesBytesIsFound) {
  auto program = content_of(kNode + "/fleet/agent.mjs");
  const auto replace = [&program](const std::string& what, const std::string& by) {
    std::size_t count = 0;
    for (auto at = program.find(what); at != std::string::npos;
         at = program.find(what, at + by.size()), ++count)
      program.replace(at, what.size(), by);
    EXPECT_GE(count, 1U) << what;
  };
  replace("Outcome.done(job.bytes)", "Outcome.done(job.text)");
  replace("'../", "'" + kNode + "/");
  replace("'./", "'" + kNode + "/fleet/");
  for (const auto* const part : {"fleet/agent.mjs", "dist/index.js"}) {
    const std::filesystem::path path = file(part);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << program;
  }
  const auto run = emq({"probe", "fleet", "--json", "--node", file(""), "--only", "bytes"});
  EXPECT_EQ(run.code, 1);
  const auto report = run.json();
  EXPECT_EQ(report.at("failed"), 1);
  EXPECT_EQ(report.at("passed"), 1) << "where C++ works, nothing is changed";
}

TEST_F(FleetVerb, AMemberThatCannotBeStartedIsRefused) {
  const std::vector<std::string> words{"probe", "fleet", "--json", "--node", file("nowhere")};
  const auto run = emq(words);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.error().at("option"), "--node");
}

}  // namespace
}  // namespace echomq::test
