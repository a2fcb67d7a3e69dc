// SPDX-License-Identifier: MIT
// The demo as a whole: what it prints, that it finds what is wrong, and that nothing it started is
// left, however it ends. Its temporary folder is one that only this test knows, so that every
// process it starts carries the folder's name in its command line.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "live/example/program.h"
#include "support/wanted.h"

namespace echomq_test {
namespace {

using namespace std::chrono_literals;

class DemoTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!echomq::test::plain_servers_wanted()) GTEST_SKIP() << echomq::test::kServersOfItsOwn;
    std::filesystem::create_directories(temporary());
    std::filesystem::create_directories(input());
  }

  [[nodiscard]] std::string temporary() const { return folder_.path() + "/tmp"; }
  [[nodiscard]] std::string input() const { return folder_.path() + "/input"; }
  void make_files(int count, std::size_t size) const {
    for (int i = 0; i < count; ++i)
      EXPECT_FALSE(folder_.noise("input/" + std::to_string(i), size).empty());
  }
  [[nodiscard]] Program::Environment environment() const { return {{"TMPDIR", temporary()}}; }
  // True once the work is half done: the server and the workers are well under way.
  [[nodiscard]] bool half_way(const Program& demo) const {
    return eventually([&] { return demo.err().find("SIGKILL") != std::string::npos; });
  }
  // A server (or its guardian) may take a moment to end; its owner's death counts from now.
  [[nodiscard]] bool all_gone(std::chrono::milliseconds deadline) const {
    return eventually([&] { return processes_with(folder_.path()).empty(); }, deadline);
  }

  Folder folder_;
};

TEST_F(DemoTest, JsonTellsThatNothingWasLost) {
  constexpr int kFiles = 300;
  make_files(kFiles, 100'000);
  std::filesystem::create_symlink(input() + "/0", input() + "/link");
  // One worker only, so that the jobs which are active at the kill are the victim's.
  Program demo{folder_.path(),
               "demo",
               {"--json", "--workers", "1", "--concurrency", "8", input()},
               environment()};
  const auto ran = demo.wait();
  ASSERT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(ran.out.find('\n'), ran.out.size() - 1) << "more than one line: " << ran.out;
  const auto json = nlohmann::json::parse(ran.out);
  std::set<std::string> keys;
  for (const auto& item : json.items()) keys.insert(item.key());
  EXPECT_EQ(keys, (std::set<std::string>{"jobs", "seconds", "jobs_per_s", "retried", "recovered",
                                         "lost", "verified"}));
  EXPECT_EQ(json["jobs"], kFiles);
  EXPECT_EQ(json["verified"], kFiles);
  EXPECT_EQ(json["lost"], 0);
  EXPECT_EQ(json["retried"], 0);
  EXPECT_GE(json["recovered"], 1);
  EXPECT_LE(json["recovered"], 300);
  EXPECT_GT(json["seconds"], 0.0);
  EXPECT_GT(json["jobs_per_s"], 0.0);
  EXPECT_NE(ran.err.find("worker-1"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("was killed with SIGKILL"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << "a bar without a terminal";
  EXPECT_TRUE(all_gone(2s));
  EXPECT_TRUE(std::filesystem::is_empty(temporary())) << "the run's folder was left";
}

TEST_F(DemoTest, TableNamesTheLimit) {
  make_files(60, 1'000);
  Program demo{folder_.path(), "demo", {"--limit", "50", input()}, environment()};
  const auto ran = demo.wait();
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto table = "\n" + ran.out;
  for (const std::string row :
       {"jobs", "seconds", "jobs/s", "retried", "recovered", "lost", "verified"})
    EXPECT_NE(table.find("\n  " + row + " "), std::string::npos) << row << table;
  EXPECT_NE(ran.out.find("there are more, see --limit"), std::string::npos) << ran.out;
}

TEST_F(DemoTest, BadInputIsUsage) {
  const std::vector<std::vector<std::string>> calls{
      {input() + "/nowhere"}, {input()}, {"--workers", "0", input()}, {"--bogus"}};
  for (const auto& arguments : calls) {
    Program demo{folder_.path(), "demo", arguments, environment()};
    const auto ran = demo.wait();
    EXPECT_EQ(ran.code, 2) << arguments.front();
    EXPECT_TRUE(ran.out.empty()) << ran.out;
    EXPECT_FALSE(ran.err.empty());
  }
  EXPECT_TRUE(std::filesystem::is_empty(temporary()));
}

TEST_F(DemoTest, NothingIsLeftAfterCtrlC) {
  make_files(300, 400'000);
  Program demo{folder_.path(), "demo", {input()}, environment()};
  ASSERT_TRUE(half_way(demo)) << demo.err();
  EXPECT_GE(processes_with(temporary()).size(), 3U) << "server, workers";
  demo.signal(SIGINT);
  const auto ran = demo.wait(20s);
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_TRUE(ran.out.empty()) << ran.out;
  EXPECT_TRUE(all_gone(2s));
  EXPECT_TRUE(std::filesystem::is_empty(temporary()));
}

TEST_F(DemoTest, NothingRunsAfterKillMinusNine) {
  make_files(300, 400'000);
  Program demo{folder_.path(), "demo", {input()}, environment()};
  ASSERT_TRUE(half_way(demo)) << demo.err();
  EXPECT_GE(processes_with(temporary()).size(), 3U) << "server, workers";
  demo.signal(SIGKILL);
  EXPECT_EQ(demo.wait().code, 128 + SIGKILL);
  // The workers end by SIGTERM, and have to give their server up first: ten seconds after the last
  // handler, which a sanitizer makes slow.
  EXPECT_TRUE(all_gone(40s)) << processes_with(folder_.path()).size() << " processes are left";
}

TEST_F(DemoTest, AWrongDigestIsFound) {
  constexpr int kFiles = 200;
  make_files(kFiles, 400'000);
  Program demo{folder_.path(),
               "demo",
               {"--json", "--workers", "1", "--concurrency", "8", input()},
               environment()};
  // Half of the results are stored by now, and the check cannot begin before the victim's lease
  // ends: every file changes in between.
  ASSERT_TRUE(half_way(demo)) << demo.err();
  make_files(kFiles, 10);
  const auto ran = demo.wait();
  EXPECT_EQ(ran.code, 1) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["jobs"], kFiles);
  EXPECT_EQ(json["lost"], 0);
  EXPECT_LE(json["verified"], kFiles / 2);
  EXPECT_NE(ran.err.find(input() + "/"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("demo: the logs are in " + temporary()), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::is_empty(temporary())) << "the logs were thrown away";
}

}  // namespace
}  // namespace echomq_test
